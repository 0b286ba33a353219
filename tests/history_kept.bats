# What a program, a death or a removal does to a path destroys nothing that the path held.

load history

# --- nothing that a program does destroys one ---

@test "a checkpoint that is overwritten, truncated, torn, replaced or deleted is there byte for byte" {
    save "$R/a.pt" 1
    save "$R/a.pt" 2 # overwritten
    save "$R/b.pt" 3
    truncate -s 100 "$R/b.pt"
    save "$R/c.pt" 4
    checkpoint torn-zip "$R/c.pt" $SIZE 5
    save "$R/d.pt" 6
    save "$R/d.tmp" 7
    mv "$R/d.tmp" "$R/d.pt"
    save "$R/e.pt" 8
    rm "$R/e.pt"
    save "$R/f.pt" 9
    dd if=/dev/zero of="$R/f.pt" bs=1000 count=3 seek=5 conv=notrunc status=none
    save "$R/g.pt" 10
    echo more >>"$R/g.pt"
    remount
    cmp "$H/a.pt/1.pt" "$SCRATCH/1"
    cmp "$H/b.pt/1.pt" "$SCRATCH/3"
    cmp "$H/c.pt/1.pt" "$SCRATCH/4"
    cmp "$H/d.pt/1.pt" "$SCRATCH/6"
    cmp "$H/e.pt/1.pt" "$SCRATCH/8"
    cmp "$H/f.pt/1.pt" "$SCRATCH/9"
    cmp "$H/g.pt/1.pt" "$SCRATCH/10"
    equal "$(answer history "$R/c.pt" '[v["complete"] for v in r["versions"]]')" "[True, False]"
    equal "$(stat -c %s "$H/b.pt/2.pt")" 100
}

@test "a job killed while it overwrites its only checkpoint leaves the one before, which latest leads to" {
    save "$R/last.pt" 1
    killed_in_overwrite
    equal "$(readlink "$MNT/branches/r/latest")" ../../.expfs/history/runs/r/last.pt/1.pt "latest during the save"
    cmp "$MNT/branches/r/latest" "$SCRATCH/1"
    kill -KILL "$BG"
    wait "$BG" || true
    wait_until test -e "$H/last.pt/2.pt"
    cmp "$MNT/branches/r/latest" "$SCRATCH/1"
    cmp "$R/.expfs/latest" "$SCRATCH/1"
    equal "$(answer history "$R/last.pt" '[(v["n"], v["complete"], v["held"]) for v in r["versions"]]')" \
        "[(1, True, False), (2, False, True)]"
    "$EXPFS" restore "$R/last.pt"
    cmp "$R/last.pt" "$SCRATCH/1"
    save "$R/last.pt" 2
    equal "$(readlink -f "$MNT/branches/r/latest")" "$R/last.pt"
    cmp "$MNT/branches/r/latest" "$SCRATCH/2"
}

@test "latest leads to the last complete version, however many torn ones came after it" {
    save "$R/last.pt" 1
    checkpoint torn-zip "$SCRATCH/torn" 2000 2
    local i
    for i in {1..150}; do
        (cat "$SCRATCH/torn"; echo $i) >"$R/last.pt"
    done
    equal "$(readlink "$MNT/branches/r/latest")" ../../.expfs/history/runs/r/last.pt/1.pt
    equal "$(versions last.pt | wc -w)" 151
    refused 1 "$EXPFS" forget "$R/last.pt@1"
    "$EXPFS" restore "$R/last.pt" >/dev/null
    cmp "$R/last.pt" "$SCRATCH/1"
}

@test "a daemon killed while the only checkpoint is overwritten leaves the one before" {
    save "$R/last.pt" 1
    killed_in_overwrite
    kill_daemon
    kill -KILL "$BG"
    wait "$BG" || true
    fusermount3 -uz "$MNT"
    mount_store
    cmp "$H/last.pt/1.pt" "$SCRATCH/1"
    cmp "$MNT/branches/r/latest" "$SCRATCH/1"
    "$EXPFS" restore "$R/last.pt"
    cmp "$R/last.pt" "$SCRATCH/1"
}

@test "a program that saves what it has mapped from the same path destroys no checkpoint" {
    local way
    for way in wb truncate; do
        save "$R/$way.pt" 1
        python3 - "$R/$way.pt" $way <<'PY' || true
import mmap, os, sys
f = open(sys.argv[1], "rb")
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
with open(sys.argv[1], "wb") as out:
    if sys.argv[2] == "truncate":
        out.truncate(len(m))
    os.write(out.fileno(), m)
PY
        cmp "$H/$way.pt/1.pt" "$SCRATCH/1"
        "$EXPFS" restore "$R/$way.pt@1"
        cmp "$R/$way.pt" "$SCRATCH/1"
    done
}

@test "a worse best.pt written over the best, in place or by rename, leaves the best" {
    save "$R/best.pt" 1
    save "$R/best.pt" 2
    save "$R/best.pt.tmp" 3
    mv "$R/best.pt.tmp" "$R/best.pt"
    cmp "$H/best.pt/1.pt" "$SCRATCH/1"
    cmp "$H/best.pt/2.pt" "$SCRATCH/2"
    equal "$(answer history "$R/best.pt" 'len(set(v["digest"] for v in r["versions"]))')" 3
    equal "$(answer history "$R/best.pt" 'r["versions"][2]["digest"]')" "$(xattr "$R/best.pt" user.expfs.digest)"
}

@test "the history of a removed run is there, and goes on under another name when its own is taken again" {
    save "$R/last.pt" 1
    save_dir "$R/checkpoint-5" 2
    test -e "$R/.expfs/latest"
    rm -r "$R"
    local gone=$MNT/.expfs/history/runs/r
    cmp "$gone/last.pt/1.pt" "$SCRATCH/1"
    equal "$(ls "$gone/checkpoint-5/1")" $'model.bin\nsub\ntrainer_state.json'
    mkdir "$R"
    save "$R/last.pt" 3
    equal "$(versions last.pt)" "1.pt "
    cmp "$H/last.pt/1.pt" "$SCRATCH/3"
    cmp "$gone~1/last.pt/1.pt" "$SCRATCH/1"
    "$EXPFS" restore "$MNT/runs/r~1/last.pt" "$SCRATCH/back" >/dev/null
    cmp "$SCRATCH/back" "$SCRATCH/1"
}

@test "a removed run is brought back item by item with the commands that restore prints" {
    mkdir "$R/data"
    save "$R/last.pt" 1
    save_dir "$R/checkpoint-5" 2
    echo x >"$R/data/rows.csv"
    test -e "$R/.expfs/latest"
    cp -r "$R" "$SCRATCH/before"
    rm -r "$R"
    "$EXPFS" restore "$R/last.pt" >/dev/null
    local path
    for path in checkpoint-5 data/rows.csv; do
        refused 1 "$EXPFS" restore "$R/$path"
        [[ $MESSAGE == "expfs: /runs/r/$path: has no version since"*": "*"expfs restore $R~1/$path $R/$path" ]] || fail "$MESSAGE"
        PATH=$(dirname "$EXPFS"):$PATH sh -c "${MESSAGE##*before: }" >/dev/null
    done
    diff -r "$R" "$SCRATCH/before"
    test -e "$R/.expfs/latest"
    rm -r "$R"
    mkdir "$R"
    save "$R/best.pt" 4
    refused 1 "$EXPFS" history "$R/checkpoint-5"
    [[ $MESSAGE == *"made anew is $MNT/runs/r~2/checkpoint-5" ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" forget "$R/checkpoint-5"
    refused 1 "$EXPFS" restore "$R/nothing"
    [[ $MESSAGE == *"/runs/r/nothing: is not there, and has no version: "* ]] || fail "$MESSAGE"
}

@test "expfs restore makes no directory of the name under which history has a removed run" {
    save "$R/last.pt" 1
    rm -r "$R"
    mkdir "$R"
    save "$R/last.pt" 2
    refused 3 "$EXPFS" restore "$R~1/last.pt"
    [[ $MESSAGE == *": expfs restore $R~1/last.pt@1 $R/last.pt" ]] || fail "$MESSAGE"
    not test -e "$R~1"
    equal "$(ls "$MNT/runs")" r
    "$EXPFS" restore "$R~1/last.pt" "$R/old.pt" >/dev/null
    cmp "$R/old.pt" "$SCRATCH/1"
    mkdir "$MNT/runs/mine~1"
    save "$MNT/runs/mine~1/last.pt" 3
    rm "$MNT/runs/mine~1/last.pt"
    "$EXPFS" restore "$MNT/runs/mine~1/last.pt" >/dev/null
    cmp "$MNT/runs/mine~1/last.pt" "$SCRATCH/3"
}

@test "a path in a checkpoint directory is told to be part of that" {
    save_dir "$R/checkpoint-5" 1
    test -e "$H/checkpoint-5/1"
    local c path
    for c in history restore forget; do
        for path in checkpoint-5/model.bin checkpoint-5/sub/optimizer.bin; do
            refused 1 "$EXPFS" $c "$R/$path"
            equal "$MESSAGE" "expfs: /runs/r/$path: is part of the checkpoint $R/checkpoint-5; see the history of that"
        done
    done
}

@test "a renamed run takes its history along" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    save_dir "$R/checkpoint-5" 3
    test -e "$R/.expfs/latest"
    rm -r "$R/checkpoint-5"
    mv "$R" "$MNT/runs/q"
    local h=$MNT/runs/q/.expfs/history
    equal "$(versions last.pt "$h")$(versions checkpoint-5 "$h")" "1.pt 2.pt 1 "
    cmp "$h/last.pt/1.pt" "$SCRATCH/1"
    not test -e "$MNT/.expfs/history/runs/r"
    save "$MNT/runs/q/last.pt" 4
    equal "$(versions last.pt "$h")" "1.pt 2.pt 3.pt "
}

# --- after a death, and of older stores ---

@test "history survives SIGKILL of the daemon" {
    local i
    for i in 1 2 3; do save "$R/last.pt" $i; done
    save_dir "$R/checkpoint-5" 4
    test -e "$H/checkpoint-5/1"
    rm "$R/last.pt"
    save "$R/best.pt" 5
    kill_daemon
    fusermount3 -uz "$MNT"
    mount_store
    for i in 1 2 3; do cmp "$H/last.pt/$i.pt" "$SCRATCH/$i"; done
    diff -r "$H/checkpoint-5/1" "$R/checkpoint-5"
    cmp "$H/best.pt/1.pt" "$SCRATCH/5"
    save "$R/last.pt" 6
    equal "$(versions last.pt)" "1.pt 2.pt 3.pt 4.pt "
}

@test "fsck names the version whose content is damaged, and restore says that it cannot be read" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    save_dir "$R/checkpoint-5" 3
    test -e "$H/checkpoint-5/1"
    local content
    content=$(cd "$STORE" && find objects -type f -exec cmp -s {} "$SCRATCH/1" \; -print)
    rm -r "$R/checkpoint-5"
    umount_store
    mv "$STORE/$content" "$SCRATCH/content"
    "$EXPFS" fsck "$STORE" >"$SCRATCH/out" || true
    grep -q '^damaged: /.expfs/history/runs/r/last.pt/1.pt: content is not there' "$SCRATCH/out"
    mount_store
    refused 3 "$EXPFS" restore "$R/last.pt@1"
    [[ $MESSAGE == *"version 1 cannot be read"* ]] || fail "$MESSAGE"
    cmp "$R/last.pt" "$SCRATCH/2"
    umount_store
    mv "$SCRATCH/content" "$STORE/$content"
    content=$(cd "$STORE" && grep -l '"seed": 3' -r objects)
    mv "$STORE/$content" "$SCRATCH/content"
    "$EXPFS" fsck "$STORE" >"$SCRATCH/out" || true
    grep -q '^damaged: /.expfs/history/runs/r/checkpoint-5/1/trainer_state.json: ' "$SCRATCH/out"
    mv "$SCRATCH/content" "$STORE/$content"
}
