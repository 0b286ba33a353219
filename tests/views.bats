# branches/<name>/ and .expfs/ of each directory: read-only, never listed where programs look; step/.

load views

# --- the tree ---

@test "a branch of each run is shown once it holds a file with a role" {
    not test -e "$V"
    echo text >"$R/notes.txt"
    not test -e "$V"
    save "$R/step_1.pt" 1
    equal "$(ls "$V" | tr '\n' ' ')" "HEAD latest log manifest.yaml pending run step "
    grep -qx r <(ls "$MNT/branches")
    equal "$(readlink "$V/run")" ../../runs/r
    [[ $V/run/step_1.pt -ef $R/step_1.pt ]]
}

@test "the top of the mount is the branch main" {
    save "$MNT/step_3.pt" 1
    equal "$(readlink -f "$MNT/branches/main/latest")" "$MNT/step_3.pt"
    [[ $MNT/branches/main/run -ef $MNT ]]
    equal "$(readlink -f "$MNT/.expfs/latest")" "$MNT/step_3.pt"
    save "$R/step_9.pt" 2
    equal "$(readlink -f "$MNT/branches/main/latest")" "$MNT/step_3.pt" "a run's file belongs to the run"
    latest_is "$R/step_9.pt"
}

@test "a renamed run renames its branch" {
    save "$R/step_1.pt" 1
    mv "$R" "$MNT/runs/renamed"
    equal "$(readlink -f "$MNT/branches/renamed/latest")" "$MNT/runs/renamed/step_1.pt"
    not test -e "$V/latest"
}

@test "a directory with a leading dot is no run" {
    mkdir "$MNT/runs/.hidden"
    save "$MNT/runs/.hidden/step_1.pt" 1
    not test -e "$MNT/branches/.hidden"
    equal "$(ls -A "$MNT/branches")" main
}

@test "links in views are relative and resolve when the mount is somewhere else" {
    save "$R/step_1.pt" 1
    mkdir "$R/checkpoint-5"
    echo '{}' >"$R/checkpoint-5/trainer_state.json"
    save "$R/checkpoint-5/model.pt" 2
    local link
    for link in "$V/latest" "$V/run" "$V/step/1" "$R/.expfs/latest" "$R/.expfs/step/5"; do
        [[ -L $link && $(readlink "$link") != /* ]] || fail "$link -> $(readlink "$link")"
        equal "$(stat -c %s "$link")" "$(readlink -n "$link" | wc -c)" "size of $link"
    done
    umount_store
    mkdir "$SCRATCH/elsewhere"
    MNT=$SCRATCH/elsewhere
    D=$MNT/d
    mount_store
    equal "$(readlink -f "$MNT/branches/r/latest")" "$MNT/runs/r/checkpoint-5"
    equal "$(readlink -f "$MNT/runs/r/.expfs/step/1")" "$MNT/runs/r/step_1.pt"
}

@test "latest works as a link, a file, a directory and a real path" {
    save "$R/step_1.pt" 1
    python3 - "$V/latest" "$R/step_1.pt" <<'PY'
import os, sys, zipfile
view, real = sys.argv[1:]
assert os.path.islink(view) and os.path.isfile(view) and os.path.realpath(view) == real
assert zipfile.ZipFile(view).testzip() is None
PY
    mkdir "$R/checkpoint-2"
    save "$R/checkpoint-2/model.pt" 2
    echo '{}' >"$R/checkpoint-2/trainer_state.json"
    python3 - "$V/latest" "$R/checkpoint-2" <<'PY'
import os, sys
view, real = sys.argv[1:]
assert os.path.isdir(view) and os.path.realpath(view) == real
assert sorted(os.listdir(view)) == ["model.pt", "trainer_state.json"]
assert os.path.exists(os.path.realpath(os.path.join(view, "model.pt")))
PY
}

# --- read-only, unlisted ---

@test "views answer EROFS to every change and rm -rf removes nothing" {
    save "$R/step_1.pt" 1
    local c before
    before=$(find "$MNT" | sort)
    for c in "touch $V/new" "mkdir $V/new" "rm $V/latest" "rmdir $V/step" "ln -s x $V/new" "mv $V/latest $V/other" \
        "rm $V/step/1" "touch $V/step/new" "rmdir $V" "mv $R/step_1.pt $V/new" "ln $R/step_1.pt $V/new" \
        "chmod 777 $V" "touch -d 2020-01-01 $V/step" "rm $R/.expfs/latest" "touch $R/.expfs/new" "mkdir $MNT/.expfs/new"; do
        # shellcheck disable=SC2086 # a command and its words
        equal "$(errno_of $c)" "Read-only file system" "$c"
    done
    run rm -rf "$V"
    ((status != 0)) || fail "rm -rf of a view succeeded"
    run rm -rf "$V/step"
    ((status != 0)) || fail "rm -rf of step/ succeeded"
    equal "$(find "$MNT" | sort)" "$before"
    latest_is "$R/step_1.pt"
}

@test "rm -rf of a run goes through although it has views" {
    save "$R/step_1.pt" 1
    ls "$R/.expfs" >/dev/null
    rm -rf "$R"
    [[ ! -e $R ]]
}

@test ".expfs exists everywhere, is listed nowhere, and can be neither made, renamed nor removed" {
    local dir c
    mkdir -p "$D/a"
    for dir in "$MNT" "$MNT/runs" "$R" "$D" "$D/a"; do
        [[ -d $dir/.expfs ]] || fail "no $dir/.expfs"
        not grep -qx .expfs <(ls -a "$dir")
    done
    for c in "mkdir $D/.expfs" "mkdir $D/a/.expfs"; do
        # shellcheck disable=SC2086 # a command and its words
        equal "$(errno_of $c)" "File exists" "$c"
    done
    for c in "rmdir $D/.expfs" "mv $D/.expfs $D/x" "mv -T $D/a $D/.expfs" "ln -sT x $D/.expfs"; do
        # shellcheck disable=SC2086 # a command and its words
        run errno_of $c
        equal "$status" 0 "$c fails"
    done
    [[ -d $D/.expfs && -d $D/a ]]
    rm -r "$D/a"
    rm -r "$D"
    mkdir "$D"
}

@test "a directory with nothing in it but .expfs can be removed" {
    mkdir "$D/empty"
    ls "$D/empty/.expfs" >/dev/null
    rmdir "$D/empty"
    [[ ! -e $D/empty/.expfs ]]
}

@test "what a program makes in branches/ stands in front of a view of that name" {
    mkdir "$MNT/branches/r"
    echo own >"$MNT/branches/r/latest"
    save "$R/step_1.pt" 1
    equal "$(cat "$MNT/branches/r/latest")" own
    equal "$(ls "$MNT/branches" | grep -cx r)" 1
    rm -r "$MNT/branches/r"
    latest_is "$R/step_1.pt"
}

@test "a walk of the whole mount ends, follows no cycle, and shows few more entries than there are" {
    local i
    for i in $(seq 30); do save "$R/step_$i.pt" "$i"; done
    local all real
    real=$(find "$MNT/runs" | wc -l)
    all=$(find "$MNT" | wc -l)
    ((all < real * 3 + 50)) || fail "$all entries for $real real ones"
    timeout 300 find -L "$MNT/branches" -type f 2>/dev/null | wc -l >/dev/null || true
    timeout 300 du -a "$MNT" >/dev/null
    timeout 300 grep -rq nothing-has-this "$MNT" || true
    timeout 300 ls -lR "$MNT" >/dev/null
    timeout 300 tar -C "$MNT" -cf - . | tar -tf - >/dev/null
}

# --- steps ---

@test "step/ lists the steps in the order of numbers" {
    local n
    for n in 100 9 10 99 1000000; do save "$R/step_$n.pt" $n; done
    equal "$(ls -U "$V/step" | tr '\n' ' ')" "9 10 99 100 1000000 "
    equal "$(ls -U "$R/.expfs/step" | tr '\n' ' ')" "9 10 99 100 1000000 "
}

@test "step/<n> is the nearest checkpoint, ties go to the higher, and padding does not matter" {
    local n
    for n in 10 20 100; do save "$R/step_$n.pt" $n; done
    local asked wanted
    while read -r asked wanted; do
        equal "$(readlink -f "$V/step/$asked")" "$R/step_$wanted.pt" "step/$asked of the branch"
        equal "$(readlink -f "$R/.expfs/step/$asked")" "$R/step_$wanted.pt" "step/$asked of the directory"
    done <<'EOT'
0 10
10 10
14 10
15 20
59 20
60 100
61 100
999999999999 100
99999999999999999999999 100
-1 10
-99999999999999999999999 10
EOT
    for asked in x - --1 1x 1.5 +1; do
        not test -e "$V/step/$asked"
    done
}

@test "step/<n> is the whole version when its checkpoint is torn, and the next nearest when it is deleted" {
    save "$R/step_10.pt" 1
    save "$R/step_20.pt" 2
    equal "$(readlink -f "$V/step/20")" "$R/step_20.pt"
    cp "$R/step_20.pt" "$SCRATCH/whole"
    checkpoint torn-zip "$R/step_20.pt" $SIZE 2
    equal "$(readlink -f "$V/step/20")" "$MNT/.expfs/history/runs/r/step_20.pt/1.pt"
    cmp "$V/step/20" "$SCRATCH/whole"
    rm "$R/step_20.pt"
    equal "$(readlink -f "$V/step/20")" "$R/step_10.pt"
    equal "$(ls "$V/step")" 10
    rm "$R/step_10.pt"
    not test -e "$V/step/20"
}

@test "a step with zeros before it is that number, and the width does not matter" {
    save "$R/0011223344556677889900aa_step_999900.pt" 1
    save "$R/0011223344556677889900aa_step_1000000.pt" 2
    latest_is "$R/0011223344556677889900aa_step_1000000.pt"
    equal "$(ls -U "$V/step" | tr '\n' ' ')" "999900 1000000 "
    local n
    for n in 100000 0900000; do
        mkdir -p "$D/dirs/$n"
        bytes "$D/dirs/$n/array" 1000 "$n"
        echo '{}' >"$D/dirs/$n/.metadata"
    done
    equal "$(ls -U "$D/dirs/.expfs/step" | tr '\n' ' ')" "100000 900000 "
    equal "$(readlink -f "$D/dirs/.expfs/step/900000")" "$D/dirs/0900000"
    equal "$(readlink -f "$D/dirs/.expfs/latest")" "$D/dirs/0900000"
}

@test "a step after an epoch is the step" {
    save "$R/epoch=2-step=700.ckpt" 1
    save "$R/epoch=10-step=3.ckpt" 2
    save "$R/iter-120000.pt" 3
    save "$R/iter-1080000.pt" 4
    equal "$(ls -U "$V/step" | tr '\n' ' ')" "3 700 120000 1080000 "
    latest_is "$R/iter-1080000.pt"
}

@test "WeightsLab's layout has its views below the top" {
    local dir=$MNT/checkpoints/models/b5a79a78 h=3dfd9bbfb5a79a78bb73166f
    mkdir -p "$dir"
    save "$dir/${h}_step_000010.pt" 1
    save "$dir/${h}_step_000020.pt" 2
    equal "$(readlink -f "$dir/.expfs/latest")" "$dir/${h}_step_000020.pt"
    equal "$(ls -U "$dir/.expfs/step" | tr '\n' ' ')" "10 20 "
    equal "$(readlink -f "$dir/.expfs/step/12")" "$dir/${h}_step_000010.pt"
}
