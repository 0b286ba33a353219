# best by selection on the branches of WeightsLab's roots.

load best

E1=11111111b5a79a78bb73166f
E2=22222222b5a79a78bb73166f
E4=11111111941b7d6dbb73166f
wl() { python3 "$EXPFS_SRCDIR/tests/weightslab.py" "$@"; }
weights() { echo "$1/checkpoints/models/${2:8:8}/${2}_step_$(printf %06d "$3").pt"; }

@test "each branch of a WeightsLab root has its own selection" {
    local root name
    for root in "$MNT/exp" "$MNT"; do
        name=$([[ $root == "$MNT" ]] && echo main || echo exp)
        wl "$root" dump $E1 0 5 10 + pending $E2 + flush + save $E2 15 + load $E1 + dump $E4 5 10
        select_best "$(weights "$root" $E1 5)"
        select_best "$(weights "$root" $E4 5)"
        equal "$(readlink -f "$MNT/branches/$name/best")" "$(weights "$root" $E1 5)"
        equal "$(readlink -f "$MNT/branches/$name.2/best")" "$(weights "$root" $E4 5)"
        equal "$(readlink -f "$root/.expfs/best")" "$(weights "$root" $E4 5)"
        needed "$(weights "$root" $E1 5)@1" "$name:best"
        needed "$(weights "$root" $E4 5)@1" "$name.2:best"
        equal "$(status_of $name.2 'b["best"]["step"]')" 5
    done
}

@test "selections are on the branches of a root that they were on when fsck has these found out again" {
    local before table
    wl "$MNT/exp" dump $E1 0 5 10 + pending $E2 + flush + save $E2 15 + load $E1 + dump $E4 5 10
    select_best "$(weights "$MNT/exp" $E1 5)"
    select_best "$(weights "$MNT/exp" $E4 5)"
    select_best "$(weights "$MNT/exp" $E4 10)"
    rm "$(weights "$MNT/exp" $E4 5)"
    "$EXPFS" forget "$(weights "$MNT/exp" $E4 5)" >/dev/null # of a selection that does not count the record is left
    for table in experiment line; do
        umount_store
        python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("DROP TABLE " + sys.argv[2])' "$STORE/expfs.db" $table
        "$EXPFS" fsck --repair "$STORE" >/dev/null || true
        mount_store
        equal "$(readlink -f "$MNT/branches/exp/best")" "$(weights "$MNT/exp" $E1 5)" "$table"
        equal "$(readlink -f "$MNT/branches/exp.2/best")" "$(weights "$MNT/exp" $E4 10)" "$table"
    done
}

@test "a root in a run's directory and the run, which are two branches, have a selection each" {
    local other=$R/checkpoints/models/b5a79a78/${E1}_step_000005.pt
    wl "$R" dump $E1 0 5
    steps 1
    select_best "$R/step_1.pt"
    select_best "$other"
    equal "$(readlink -f "$MNT/branches/r/best")" "$R/step_1.pt"
    equal "$(readlink -f "$MNT/branches/runs.r/best")" "$other"
    needed "$R/step_1.pt@1" r:best
    needed "$other@1" runs.r:best
    mv "$R" "$MNT/else"
    equal "$(readlink -f "$MNT/branches/else/best")" "${other/runs\/r/else}"
    needed "$MNT/else/step_1.pt@1" else:best
}

@test "a root and a run that are one branch have one selection of a name" {
    wl "$MNT" dump $E1 0 5
    save "$MNT/step_7.pt" 7
    select_best "$(weights "$MNT" $E1 5)"
    equal "$(readlink -f "$MNT/branches/main/best")" "$(weights "$MNT" $E1 5)"
    select_best "$MNT/step_7.pt"
    equal "$(readlink -f "$MNT/branches/main/best")" "$MNT/step_7.pt"
    needed "$MNT/step_7.pt@1" main:best
    rm "$(weights "$MNT" $E1 5)"
    "$EXPFS" forget "$(weights "$MNT" $E1 5)@1" >/dev/null
}

@test "the selections of a root that comes to the top, or leaves it, go along" {
    wl "$MNT/exp" dump $E1 0 5 10
    save "$MNT/step_7.pt" 7
    select_best "$MNT/step_7.pt" --name other
    select_best "$(weights "$MNT/exp" $E1 5)"
    mv "$MNT/exp/checkpoints" "$MNT"
    equal "$(readlink -f "$MNT/branches/main/best")" "$(weights "$MNT" $E1 5)"
    select_best "$(weights "$MNT" $E1 10)"
    needed "$(weights "$MNT" $E1 10)@1" main:best
    mv "$MNT/checkpoints" "$MNT/exp"
    equal "$(readlink -f "$MNT/branches/exp/best")" "$(weights "$MNT/exp" $E1 10)"
    needed "$(weights "$MNT/exp" $E1 10)@1" exp:best
    needed "$MNT/step_7.pt@1" main:other
    not test -L "$MNT/branches/main/best"
}

@test "a selection that was superseded, and its version let go, does not count again when a root's branches are told apart" {
    local from=$SCRATCH/exp
    wl "$MNT/exp" dump $E1 0 5 10 + pending $E2 + flush + save $E2 15 + load $E1 + dump $E4 5 10
    cp -r "$MNT/exp" "$from"
    rm -r "$MNT/exp"
    mkdir -p "$MNT/c/checkpoints"
    cp -r "$from/checkpoints/models" "$MNT/c/checkpoints" # a copy in which the manifest comes last
    select_best "$(weights "$MNT/c" $E1 5)"
    select_best "$(weights "$MNT/c" $E4 10)"
    needed "$(weights "$MNT/c" $E4 10)@1" c:best
    rm "$(weights "$MNT/c" $E1 5)"
    "$EXPFS" forget "$(weights "$MNT/c" $E1 5)" >/dev/null
    cp -r "$from/checkpoints/HP" "$from/checkpoints/data" "$MNT/c/checkpoints"
    cp "$from/checkpoints/manifest.yaml" "$MNT/c/checkpoints"
    cp "$from"/.checkpoint* "$MNT/c"
    equal "$(readlink -f "$MNT/branches/c.2/best")" "$(weights "$MNT/c" $E4 10)"
    not test -L "$MNT/branches/c/best"
    not grep -q "is lost" <("$EXPFS" status "$MNT")
}
