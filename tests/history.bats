# .expfs/history/ and the commands history, restore and forget: what a path with a role held is never lost
# by what a program does to the path.

load lib

setup() {
    scratch
    store_init
    mount_store
    R=$MNT/runs/r
    H=$R/.expfs/history
    mkdir "$R"
}
teardown() { cleanup; }

SIZE=200000

# save PATH SEED: a whole zip checkpoint, also kept outside the mount as SCRATCH/SEED
save() {
    checkpoint zip "$1" $SIZE "$2"
    [[ -e $SCRATCH/$2 ]] || checkpoint zip "$SCRATCH/$2" $SIZE "$2"
}

# save_dir DIR SEED: a directory checkpoint with a marker and a file in a directory of its own
save_dir() {
    mkdir -p "$1/sub"
    bytes "$1/model.bin" 50000 "$2"
    bytes "$1/sub/optimizer.bin" 50000 "$2$2"
    echo "{\"seed\": $2}" >"$1/trainer_state.json"
}

# versions PATH: the names below it in history, of a run or another directory's history
versions() { ls -v "${2:-$H}/$1" 2>/dev/null | tr '\n' ' '; }

# answer COMMAND ARGUMENT... EXPRESSION: of the JSON r of a command
answer() {
    local expression=${*: -1}
    "$EXPFS" "${@:1:$#-1}" --json 3>&- | python3 -c 'import json, sys; r = json.load(sys.stdin); print(eval(sys.argv[1]))' "$expression"
}

# exchange A B: two names in one step
exchange() {
    python3 - "$1" "$2" <<'PY'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.renameat2(-100, os.fsencode(sys.argv[1]), -100, os.fsencode(sys.argv[2]), 2) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
PY
}

# --- what is a version ---

@test "each close of a path with a role is a version, and the oldest is 1" {
    echo one >"$R/config.yaml"
    echo two >"$R/config.yaml"
    echo three >>"$R/config.yaml"
    equal "$(versions config.yaml)" "1.yaml 2.yaml 3.yaml "
    equal "$(cat "$H/config.yaml/1.yaml")/$(cat "$H/config.yaml/2.yaml")/$(cat "$H/config.yaml/3.yaml")" "one/two/two
three"
    equal "$(versions runs/r/config.yaml "$MNT/.expfs/history")" "1.yaml 2.yaml 3.yaml "
    cmp "$MNT/.expfs/history/runs/r/config.yaml/2.yaml" "$MNT/runs/.expfs/history/r/config.yaml/2.yaml"
}

@test "every role has a history, and what has none has none" {
    mkdir -p "$R/data" "$R/checkpoints"
    local f
    for f in config.yaml architecture.txt data/rows.csv metrics.jsonl last.pt checkpoints/manifest.yaml; do
        echo "$f" >"$R/$f"
        equal "$(versions "$f" | wc -w)" 1 "versions of $f"
    done
    for f in notes.txt run.log x.db last.pt.tmp; do
        echo "$f" >"$R/$f"
        not test -e "$H/$f"
    done
    equal "$(find "$H" -type f | wc -l)" 6
}

@test "the extension of a version is that of the path, and a name without one has none" {
    echo '[1]' >"$R/checkpoints.npz"
    mkdir "$R/data"
    echo x >"$R/data/README"
    echo y >"$R/data/.hidden"
    equal "$(versions checkpoints.npz)$(versions data/README)$(versions data/.hidden)" "1.npz 1 1 "
}

@test "a rename onto a path is a version of it" {
    save "$R/last.pt" 1
    save "$R/last.pt.tmp" 2
    mv "$R/last.pt.tmp" "$R/last.pt"
    equal "$(versions last.pt)" "1.pt 2.pt "
    cmp "$H/last.pt/1.pt" "$SCRATCH/1"
    cmp "$H/last.pt/2.pt" "$SCRATCH/2"
    mv "$R/last.pt" "$R/best.pt"
    equal "$(versions best.pt)" "1.pt "
    equal "$(versions last.pt)" "1.pt 2.pt " "versions of the name that is gone"
    save "$R/last.pt" 3
    exchange "$R/last.pt" "$R/best.pt"
    equal "$(versions last.pt)$(versions best.pt)" "1.pt 2.pt 3.pt 4.pt 1.pt 2.pt "
    cmp "$H/last.pt/4.pt" "$SCRATCH/2"
    cmp "$H/best.pt/2.pt" "$SCRATCH/3"
}

@test "equal content closed again makes no version" {
    save "$R/last.pt" 1
    save "$R/last.pt" 1
    cp "$SCRATCH/1" "$R/last.pt"
    cp "$SCRATCH/1" "$R/x.tmp"
    touch "$R/last.pt"
    chmod 600 "$R/last.pt"
    equal "$(versions last.pt)" "1.pt "
    save "$R/last.pt" 2
    save "$R/last.pt" 1
    equal "$(versions last.pt)" "1.pt 2.pt 3.pt "
}

@test "a redirection of the shell makes one version, however many commands write into it" {
    echo x >"$R/config.yaml"
    equal "$(versions config.yaml)" "1.yaml "
    (echo a; sleep 0.2; echo b) >"$R/config.yaml"
    { echo c; cat /etc/hostname; echo d; } >"$R/config.yaml"
    equal "$(versions config.yaml)" "1.yaml 2.yaml 3.yaml "
    equal "$(cat "$H/config.yaml/2.yaml")" $'a\nb'
}

@test "the close of a forked child makes no version of a file that its parent goes on writing" {
    python3 - "$R/last.pt" <<'PY'
import os, sys
f = open(sys.argv[1], "wb")
for i in range(5):
    f.write(bytes([i]) * 100000)
    f.flush()
    if os.fork() == 0:
        f.close()
        os._exit(0)
    os.wait()
f.close()
PY
    equal "$(versions last.pt)" "1.pt "
    cmp "$H/last.pt/1.pt" "$R/last.pt"
    equal "$(stat -c %s "$R/last.pt")" 500000
}

@test "two names of one file have a history each" {
    save "$R/last.pt" 1
    ln "$R/last.pt" "$R/best.pt"
    equal "$(versions last.pt)$(versions best.pt)" "1.pt 1.pt "
    save "$R/last.pt" 2
    equal "$(versions last.pt)$(versions best.pt)" "1.pt 2.pt 1.pt 2.pt "
    rm "$R/last.pt"
    save "$R/best.pt" 3
    equal "$(versions last.pt)$(versions best.pt)" "1.pt 2.pt 1.pt 2.pt 3.pt "
    cmp "$H/last.pt/2.pt" "$SCRATCH/2"
    cmp "$H/best.pt/3.pt" "$SCRATCH/3"
}

@test "metrics, which grow line by line, have their last version only" {
    local i
    for i in 1 2 3 4 5; do
        echo "{\"step\": $i}" >>"$R/metrics.jsonl"
    done
    equal "$(versions metrics.jsonl)" "1.jsonl "
    cmp "$H/metrics.jsonl/1.jsonl" "$R/metrics.jsonl"
    equal "$(answer history "$R/metrics.jsonl" 'r["versions"][0]["size"]')" "$(stat -c %s "$R/metrics.jsonl")"
}

@test "an empty file is a version" {
    echo x >"$R/config.yaml"
    : >"$R/config.yaml"
    wait_until test -e "$H/config.yaml/2.yaml"
    equal "$(stat -c %s "$H/config.yaml/2.yaml")" 0
    cmp "$H/config.yaml/2.yaml" /dev/null
    "$EXPFS" restore "$R/config.yaml" >/dev/null
    equal "$(cat "$R/config.yaml")" x
}

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

# killed_in_overwrite: a writer that truncated last.pt and wrote a part of it is killed
killed_in_overwrite() {
    background python3 -c '
import sys, time
f = open(sys.argv[1], "wb", buffering=0)
for i in range(8):
    f.write(bytes([i]) * (1 << 18))
open(sys.argv[2], "w").close()
time.sleep(300)' "$R/last.pt" "$SCRATCH/half"
    wait_until test -e "$SCRATCH/half"
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
    [[ $MESSAGE == *"made anew is /runs/r~2/checkpoint-5" ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" forget "$R/checkpoint-5"
    refused 1 "$EXPFS" restore "$R/nothing"
    [[ $MESSAGE == *"/runs/r/nothing: has no version, and had none" ]] || fail "$MESSAGE"
}

@test "expfs restore makes no directory of the name under which history has a removed run" {
    save "$R/last.pt" 1
    rm -r "$R"
    mkdir "$R"
    save "$R/last.pt" 2
    refused 3 "$EXPFS" restore "$R~1/last.pt"
    [[ $MESSAGE == *": expfs restore $R~1/last.pt $R/last.pt" ]] || fail "$MESSAGE"
    not test -e "$R~1"
    equal "$(ls "$MNT/branches")" r
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
            equal "$MESSAGE" "expfs: /runs/r/$path: is part of the checkpoint /runs/r/checkpoint-5; see the history of that"
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

# --- directories ---

@test "a directory checkpoint is a version with its files each time that it is complete again" {
    save_dir "$R/checkpoint-5" 1
    cp -r "$R/checkpoint-5" "$SCRATCH/one"
    equal "$(versions checkpoint-5)" "1 "
    diff -r "$H/checkpoint-5/1" "$SCRATCH/one"
    save_dir "$R/checkpoint-5" 7
    equal "$(versions checkpoint-5)" "1 2 "
    : >"$R/checkpoint-5/model.bin" # not complete any more
    equal "$(versions checkpoint-5)" "1 2 "
    save_dir "$R/checkpoint-5" 8
    equal "$(versions checkpoint-5)" "1 2 3 "
    diff -r "$H/checkpoint-5/1" "$SCRATCH/one"
    diff -r "$H/checkpoint-5/3" "$R/checkpoint-5"
    rm -r "$R/checkpoint-5"
    equal "$(versions checkpoint-5)" "1 2 3 "
    diff -r "$H/checkpoint-5/1" "$SCRATCH/one"
    save_dir "$R/checkpoint-5" 9
    equal "$(versions checkpoint-5)" "1 2 3 4 "
    not test -e "$H/checkpoint-5/model.bin"
}

@test "a directory that is being removed makes no version of what is left" {
    save_dir "$R/checkpoint-5" 1
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/checkpoint-5
    rm "$R/checkpoint-5/model.bin"
    equal "$(readlink "$MNT/branches/r/latest")" ../../.expfs/history/runs/r/checkpoint-5/1
    rm -r "$R/checkpoint-5/sub"
    not test -e "$H/checkpoint-5/2"
    rm -r "$R/checkpoint-5"
    equal "$(versions checkpoint-5)" "1 "
    "$EXPFS" restore "$R/checkpoint-5"
    equal "$(find "$R/checkpoint-5" -type f | wc -l)" 3
}

@test "a directory that is saved under another name and renamed is a version of the path it gets" {
    local i
    for i in 1 2 3; do
        save_dir "$R/staging" $i
        rm -rf "$R/checkpoint-5"
        mv "$R/staging" "$R/checkpoint-5"
        grep -q "\"seed\": $i" "$MNT/branches/r/latest/trainer_state.json"
    done
    save_dir "$R/staging" 4
    exchange "$R/staging" "$R/checkpoint-5"
    grep -q '"seed": 4' "$MNT/branches/r/latest/trainer_state.json"
    save_dir "$R/other" 5
    exchange "$R/checkpoint-5" "$R/other"
    for i in 1 2 3 4 5; do
        grep -q "\"seed\": $i" "$H/checkpoint-5/$i/trainer_state.json"
    done
    mv "$R/checkpoint-5" "$R/checkpoint-6"
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/checkpoint-6
    test -e "$H/checkpoint-5/5/model.bin"
    cmp "$H/checkpoint-6/1/model.bin" "$R/checkpoint-6/model.bin"
}

# --- looking at it ---

@test "history files are read-only: every change answers EROFS" {
    save "$R/last.pt" 1
    save_dir "$R/checkpoint-5" 2
    local c v=$H/last.pt/1.pt d=$H/checkpoint-5/1
    for c in "touch $v" "rm $v" "mv $v $R/x" "mv $v $H/last.pt/2.pt" "ln $v $R/x" "ln $R/last.pt $H/last.pt/9.pt" "chmod 777 $v" \
        "truncate -s 0 $v" "rm $d/model.bin" "mkdir $d/new" "touch $d/new" "rmdir $H/last.pt" "chmod 777 $d" "ln -s x $H/x" \
        "touch -d 2020-01-01 $v" "mkfifo $H/p" "cp $SCRATCH/1 $v" "setfattr -n user.x -v 1 $v"; do
        # shellcheck disable=SC2086 # a command and its words
        equal "$(errno_of $c)" "Read-only file system" "$c"
    done
    not rm -rf "$H/last.pt"
    cmp "$v" "$SCRATCH/1"
    equal "$(stat -c %a "$v" "$d" "$d/model.bin" "$d/sub" | tr '\n' ' ')" "444 555 444 555 "
}

@test "cp -r, tar, rsync, cmp and find work over history" {
    require_command rsync
    local i
    for i in 1 2 3; do save "$R/last.pt" $i; done
    save_dir "$R/checkpoint-5" 4
    equal "$(find "$H" -type f | sed "s|$H/||" | sort | tr '\n' ' ')" \
        "checkpoint-5/1/model.bin checkpoint-5/1/sub/optimizer.bin checkpoint-5/1/trainer_state.json last.pt/1.pt last.pt/2.pt last.pt/3.pt "
    cp -r "$H" "$SCRATCH/cp"
    diff -r "$H" "$SCRATCH/cp"
    tar -C "$H" -cf - . | (mkdir "$SCRATCH/tar" && tar -C "$SCRATCH/tar" -xf -)
    diff -r "$H" "$SCRATCH/tar"
    rsync -a "$H/" "$SCRATCH/rsync/"
    rsync -a --dry-run --itemize-changes "$H/" "$SCRATCH/rsync/" >"$SCRATCH/out"
    equal "$(cat "$SCRATCH/out")" "" "what a second rsync would do"
    diff -r "$H" "$SCRATCH/rsync"
    for i in 1 2 3; do cmp "$H/last.pt/$i.pt" "$SCRATCH/$i"; done
    equal "$(stat -c %Y "$H/last.pt/3.pt")" "$(stat -c %Y "$R/last.pt")"
    equal "$(du -sb --apparent-size "$H/last.pt" | cut -f 1)" "$(du -cb "$SCRATCH/1" "$SCRATCH/2" "$SCRATCH/3" | tail -n 1 | cut -f 1)"
}

@test "history is not listed, and a glob or rm -rf beside it does not meet it" {
    save "$R/last.pt" 1
    equal "$(ls -A "$R")" last.pt
    equal "$(find "$MNT" -name history | wc -l)" 0
    equal "$(ls "$R/.expfs" | tr '\n' ' ')" "history latest status.json step "
    not test -e "$H/nothing"
    not test -e "$H/last.pt/2.pt"
    not test -e "$H/last.pt/1"
    not test -e "$H/last.pt/01.pt"
    not test -e "$H/last.pt/0.pt"
}

@test "a file of history can be mapped" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    python3 - "$H/last.pt/1.pt" "$SCRATCH/1" <<'PY'
import mmap, sys, zipfile
with open(sys.argv[1], "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
    assert bytes(m) == open(sys.argv[2], "rb").read()
assert zipfile.ZipFile(sys.argv[1]).testzip() is None
PY
}

@test "a history file that is open stays readable when its version is forgotten" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    exec 8<"$H/last.pt/1.pt"
    head -c 1000 <&8 >"$SCRATCH/head"
    "$EXPFS" forget "$R/last.pt@1" 8<&- >/dev/null
    not test -e "$H/last.pt/1.pt"
    sync "$R/last.pt"
    cat <&8 >>"$SCRATCH/head"
    exec 8<&-
    cmp "$SCRATCH/head" "$SCRATCH/1"
}

@test "names of any bytes have a history" {
    local name=$R/$'w\xff \x01\n@3.pt'
    save "$name" 1
    save "$name" 2
    cmp "$H/$(basename "$name")/1.pt" "$SCRATCH/1"
    "$EXPFS" restore "$name@1" >/dev/null
    cmp "$name" "$SCRATCH/1"
    "$EXPFS" forget "$name@2" >/dev/null
    equal "$(ls "$H/$(basename "$name")" | tr '\n' ' ')" "1.pt 3.pt "
}

@test "a directory checkpoint with many files in many directories is listed and read right" {
    python3 - "$R/checkpoint-7" <<'PY'
import os, sys
for d in range(30):
    os.makedirs("%s/d%02d/e" % (sys.argv[1], d))
    for f in range(20):
        open("%s/d%02d/e/f%02d.bin" % (sys.argv[1], d, f), "w").write("%d %d" % (d, f))
    open("%s/d%02d.bin" % (sys.argv[1], d), "w").write("file beside a directory")
open("%s/trainer_state.json" % sys.argv[1], "w").write("{}")
PY
    diff -r "$H/checkpoint-7/1" "$R/checkpoint-7"
    rm -r "$R/checkpoint-7"
    "$EXPFS" restore "$R/checkpoint-7" >/dev/null
    diff -r "$H/checkpoint-7/1" "$R/checkpoint-7"
    rm -r "$R/checkpoint-7"
    "$EXPFS" forget "$R/checkpoint-7" >/dev/null
    umount_store
    equal "$(find "$STORE/objects" -type f | wc -l)" 0 "contents left"
}

# --- users ---

@test "another user reads no version of a file that he may not read, nor names where he may not look" {
    require_user
    remount -o allow_other
    chmod 777 "$R"
    echo public >"$R/config.yaml"
    as_nobody cat "$H/config.yaml/1.yaml" >/dev/null
    echo secret >"$R/config.yaml"
    chmod 600 "$R/config.yaml"
    equal "$(errno_of "${AS_NOBODY[@]}" cat "$H/config.yaml/2.yaml")" "Permission denied"
    equal "$(errno_of "${AS_NOBODY[@]}" cat "$H/config.yaml/1.yaml")" "Permission denied" "an older version"
    rm "$R/config.yaml"
    equal "$(errno_of "${AS_NOBODY[@]}" cat "$H/config.yaml/1.yaml")" "Permission denied" "a version of what is gone"

    mkdir -m 700 "$R/private"
    save "$R/private/last.pt" 1
    save_dir "$R/private/checkpoint-5" 2
    test -e "$H/private/checkpoint-5/1"
    local when
    for when in there gone; do
        equal "$(errno_of "${AS_NOBODY[@]}" ls "$H/private")" "Permission denied" "names, $when"
        equal "$(errno_of "${AS_NOBODY[@]}" cat "$H/private/last.pt/1.pt")" "Permission denied" "a version, $when"
        equal "$(errno_of "${AS_NOBODY[@]}" cat "$H/private/checkpoint-5/1/model.bin")" "Permission denied" "a file, $when"
        equal "$(errno_of "${AS_NOBODY[@]}" ls "$MNT/.expfs/history/runs/r/private/last.pt")" "Permission denied" "from the top, $when"
        rm -rf "$R/private"
    done
    as_nobody mkdir "$R/private"
    as_nobody sh -c "echo mine >'$R/private/last.pt'"
    equal "$(as_nobody cat "$H/private/last.pt/1.pt")" mine "his own, under the name that is free"
    test -e "$H/private~1/last.pt/1.pt"
    equal "$(errno_of "${AS_NOBODY[@]}" ls "$H/private~1")" "Permission denied"

    save_dir "$R/checkpoint-8" 3
    as_nobody cat "$H/checkpoint-8/1/model.bin" >/dev/null
    chmod 600 "$R/checkpoint-8/model.bin"
    equal "$(errno_of "${AS_NOBODY[@]}" cat "$H/checkpoint-8/1/model.bin")" "Permission denied"
    rm -r "$R/checkpoint-8"
    equal "$(errno_of "${AS_NOBODY[@]}" cat "$H/checkpoint-8/1/model.bin")" "Permission denied"
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

# old_store N: of that format, mounted
old_store() {
    umount_store
    rm -rf "$STORE"
    tar -xzf "$EXPFS_SRCDIR/tests/data/store-$1.tar.gz" -C "$SCRATCH" --transform "s/^store$1/store/"
    D=$MNT
    mount_store
}

@test "a store of the first format opens with its files as version 1, and latest is right" {
    old_store 1
    equal "$(cat "$MNT/runs/a/.expfs/history/config.yaml/1.yaml")" "lr: 0.1"
    equal "$(cat "$MNT/runs/a/.expfs/history/checkpoint-1/1/model.bin")" weights
    equal "$(readlink "$MNT/branches/a/latest")" ../../runs/a/checkpoint-1
    echo "lr: 0.2" >"$MNT/runs/a/config.yaml"
    equal "$(versions config.yaml "$MNT/runs/a/.expfs/history")" "1.yaml 2.yaml "
}

@test "a store of the second format opens with its files as version 1, and latest is right" {
    old_store 2
    local h=$MNT/runs/a/.expfs/history
    equal "$(readlink "$MNT/branches/a/latest")" ../../runs/a/step_20.pt
    equal "$(readlink "$MNT/branches/a/step/10")" ../../../runs/a/checkpoint-10
    equal "$(versions config.yaml "$h")$(versions step_20.pt "$h")$(versions step_30.pt "$h")$(versions checkpoint-10 "$h")" \
        "1.yaml 1.pt 1.pt 1 "
    diff -r "$h/checkpoint-10/1" "$MNT/runs/a/checkpoint-10"
    cmp "$h/step_20.pt/1.pt" "$MNT/runs/a/step_20.pt"
    cmp "$MNT/runs/b/.expfs/history/best.pt/1.pt" "$MNT/runs/b/last.pt"
    equal "$(answer history "$MNT/runs/a/step_30.pt" '[v["complete"] for v in r["versions"]]')" "[False]"
    equal "$(tail -n 1 "$STORE/format")" "format 3"
    rm "$MNT/runs/a/step_20.pt"
    equal "$(readlink "$MNT/branches/a/latest")" ../../runs/a/checkpoint-10
    remount
    test -e "$h/step_20.pt/1.pt"
    umount_store
    "$EXPFS" fsck "$STORE"
}

# --- expfs history ---

@test "expfs history tells number, time, size, completeness, step, digest and place of each version" {
    save "$R/step_7.pt" 1
    checkpoint torn-zip "$R/step_7.pt" $SIZE 2
    equal "$(answer history "$R/step_7.pt" 'r["path"], r["role"], r["there"], [(v["n"], v["complete"], v["held"], v["step"]) for v in r["versions"]]')" \
        "('/runs/r/step_7.pt', 'WEIGHTS', True, [(1, True, False, 7), (2, False, True, 7)])"
    equal "$(answer history "$R/step_7.pt" 'r["versions"][0]["size"], r["versions"][1]["digest"]')" \
        "($(stat -c %s "$SCRATCH/1"), '$(xattr "$R/step_7.pt" user.expfs.digest)')"
    local found
    found=$(answer history "$R/step_7.pt" 'r["versions"][0]["found"]')
    cmp "$MNT$found" "$SCRATCH/1"
    equal "$(answer history "$R/step_7.pt" 'r["versions"][1]["mtime"]')" "$(TZ=UTC date -r "$R/step_7.pt" +%Y-%m-%dT%H:%M:%S.%NZ)"
    "$EXPFS" history "$R/step_7.pt" >"$SCRATCH/out"
    grep -q '^ *1 .* complete .* 7 .*/.expfs/history/runs/r/step_7.pt/1.pt$' "$SCRATCH/out"
    grep -q '^\* *2 .* incomplete ' "$SCRATCH/out"
    equal "$(sed 's|/.expfs.*||; s|found at||' "$SCRATCH/out" | awk '{ print length }' | sort -u | wc -l)" 1 "widths of lines"
}

@test "expfs history knows what is gone, a link to it, a place in a mount and one in a store that is not mounted" {
    save "$R/step_7.pt" 1
    save_dir "$R/checkpoint-9" 2
    equal "$(answer history "$MNT/branches/r/latest" 'r["path"]')" /runs/r/checkpoint-9
    rm -r "$R"
    equal "$(answer history "$R/step_7.pt" 'r["there"], len(r["versions"])')" "(False, 1)"
    equal "$(cd "$MNT/runs" && answer history ./r//checkpoint-9/ 'r["path"], r["versions"][0]["directory"], r["versions"][0]["digest"]')" \
        "('/runs/r/checkpoint-9', True, None)"
    equal "$(answer history /runs/r/step_7.pt --store "$STORE" 'r["path"]')" /runs/r/step_7.pt
    umount_store
    equal "$(answer history runs/r/step_7.pt --store "$STORE" 'r["versions"][0]["complete"]')" True
    EXPFS_STORE=$STORE "$EXPFS" history /runs/r/step_7.pt | grep -q complete
}

@test "expfs history, restore and forget say what they do not know" {
    save "$R/last.pt" 1
    echo x >"$R/notes.txt"
    refused 1 "$EXPFS" history "$R/nothing.pt"
    [[ $MESSAGE == *"/runs/r/nothing.pt: has no version"* ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" history "$R/notes.txt"
    refused 1 "$EXPFS" history "$R"
    [[ $MESSAGE == *"is a directory that is no checkpoint"* ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" restore "$R/last.pt@2"
    [[ $MESSAGE == *"has no version 2; see: expfs history" ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" forget "$R/last.pt@2"
    refused 1 "$EXPFS" restore "$R/nothing.pt"
    refused 1 "$EXPFS" forget "$R/nothing.pt"
    refused 2 "$EXPFS" history
    refused 2 "$EXPFS" forget
    refused 2 "$EXPFS" restore
    refused 2 "$EXPFS" restore a b c
    refused 2 "$EXPFS" history "$R/last.pt" --nonsense
    refused 3 "$EXPFS" history "$SCRATCH/1"
    refused 3 "$EXPFS" restore "$SCRATCH/1"
    [[ $MESSAGE == *"is in no expfs mount; mount the store first: expfs mount STORE MNT" ]] || fail "$MESSAGE"
    refused 2 "$EXPFS" history "$R/last.pt@1"
    equal "$MESSAGE" "expfs: /runs/r/last.pt@1: history takes no @N; see: expfs help history"
    umount_store
    EXPFS_STORE=$STORE refused 3 "$EXPFS" restore "$R/last.pt"
    [[ $MESSAGE == *"mount the store first"* ]] || fail "$MESSAGE"
}

@test "an @ without a number behind it never means all versions" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    local c text
    for c in forget restore; do
        refused 2 "$EXPFS" $c "$R/last.pt@"
        equal "$MESSAGE" "expfs: $R/last.pt@: a version is wanted after @; see: expfs help $c"
        for text in x 1,2 0 -1 1x 1234567890123456789; do
            refused 2 "$EXPFS" $c "$R/last.pt@$text"
            equal "$MESSAGE" "expfs: /runs/r/last.pt@$text: $text is no version number; see: expfs help $c"
        done
        refused 1 "$EXPFS" $c "$R/nothing@x"
        [[ $MESSAGE == *"/runs/r/nothing@x: has no version"* ]] || fail "$MESSAGE"
    done
    refused 2 "$EXPFS" forget /runs/r/last.pt@ --store "$STORE"
    cmp "$R/last.pt" "$SCRATCH/2"
    equal "$(versions last.pt)" "1.pt 2.pt "
}

@test "a path that ends in @, with digits or without, is written with one more @" {
    mkdir "$R/data"
    local name
    for name in rows@2 rows@ rows@x rows@0; do
        echo one >"$R/data/$name"
        echo two >"$R/data/$name"
    done
    "$EXPFS" restore "$R/data/rows@2@1" >/dev/null
    equal "$(cat "$R/data/rows@2")" one
    "$EXPFS" restore "$R/data/rows@2@" >/dev/null
    equal "$(cat "$R/data/rows@2")" two
    refused 1 "$EXPFS" forget "$R/data/rows@2"
    equal "$(answer forget "$R/data/rows@2@" 'r["path"], r["forgotten"]')" "('/runs/r/data/rows@2', [1, 2, 3])"
    equal "$(answer forget "$R/data/rows@@" 'r["path"], r["forgotten"]')" "('/runs/r/data/rows@', [1])"
    equal "$(answer forget "$R/data/rows@x" 'r["path"], r["forgotten"]')" "('/runs/r/data/rows@x', [1])"
    equal "$(answer forget "$R/data/rows@0@1" 'r["path"], r["forgotten"]')" "('/runs/r/data/rows@0', [1])"
    equal "$(answer history "$R/data/rows@2" 'r["path"]')" /runs/r/data/rows@2
}

# --- expfs restore ---

@test "expfs restore brings the newest complete checkpoint back, and leaves one that is whole as it is" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    checkpoint torn-zip "$R/last.pt" $SIZE 3
    chmod 640 "$R/last.pt"
    "$EXPFS" restore "$R/last.pt" >"$SCRATCH/out"
    grep -q '/runs/r/last.pt: version 2 restored' "$SCRATCH/out"
    cmp "$R/last.pt" "$SCRATCH/2"
    equal "$(versions last.pt)" "1.pt 2.pt 3.pt 4.pt "
    equal "$(readlink -f "$MNT/branches/r/latest")" "$R/last.pt"
    "$EXPFS" restore "$R/last.pt" | grep -q 'holds version 4 already'
    equal "$(versions last.pt)" "1.pt 2.pt 3.pt 4.pt "
    rm "$R/last.pt"
    "$EXPFS" restore "$R/last.pt" >/dev/null
    cmp "$R/last.pt" "$SCRATCH/2"
    "$EXPFS" restore "$R/last.pt@1" >/dev/null
    cmp "$R/last.pt" "$SCRATCH/1"
    equal "$(ls -A "$R")" last.pt "what is left in the directory"
}

@test "expfs restore without a number brings of another file the newest version that differs, and takes no space" {
    head -c 3000000 /dev/urandom >"$R/config.yaml"
    cp "$R/config.yaml" "$SCRATCH/before"
    echo "lr: 2" >"$R/config.yaml"
    local stored
    stored=$(space stored)
    "$EXPFS" restore "$R/config.yaml" >/dev/null
    cmp "$R/config.yaml" "$SCRATCH/before"
    equal "$(space stored)" "$stored" "bytes stored"
    "$EXPFS" restore "$R/config.yaml" >/dev/null
    equal "$(cat "$R/config.yaml")" "lr: 2"
}

@test "expfs restore to another place keeps mode and time outside the mount, and makes a version of now in it" {
    save "$R/last.pt" 1
    chmod 640 "$R/last.pt"
    touch -d '2024-05-06 07:08:09.123456789' "$R/last.pt"
    local of
    of=$(stat -c '%a %y' "$R/last.pt")
    save "$R/last.pt" 2
    "$EXPFS" restore "$R/last.pt@1" "$SCRATCH/copy.pt" >/dev/null
    equal "$(stat -c '%a %y' "$SCRATCH/copy.pt")" "$of"
    cmp "$SCRATCH/copy.pt" "$SCRATCH/1"
    mkdir "$SCRATCH/there"
    "$EXPFS" restore "$R/last.pt@1" "$SCRATCH/there" >/dev/null
    cmp "$SCRATCH/there/last.pt" "$SCRATCH/1"
    "$EXPFS" restore "$R/last.pt@1" "$R/old.pt" >/dev/null
    equal "$(readlink -f "$MNT/branches/r/latest")" "$R/old.pt"
    equal "$(stat -c %a "$R/old.pt")" 640
    equal "$(ls -A "$SCRATCH/there" "$R" | grep -c restore)" 0 "what is left beside"
}

@test "expfs restore brings a directory back, whole, and leaves beside it what history does not have" {
    save_dir "$R/checkpoint-5" 1
    cp -r "$R/checkpoint-5" "$SCRATCH/one"
    test -e "$H/checkpoint-5/1"
    save_dir "$R/checkpoint-5" 2
    test -e "$H/checkpoint-5/2"
    "$EXPFS" restore "$R/checkpoint-5@1" >/dev/null
    diff -r "$R/checkpoint-5" "$SCRATCH/one"
    equal "$(ls -A "$R")" checkpoint-5
    equal "$(versions checkpoint-5)" "1 2 3 "
    : >"$R/checkpoint-5/model.bin"
    equal "$(answer restore "$R/checkpoint-5" 'r["n"], r["restored"], ".checkpoint-5.restore-" in r["left"]')" "(3, True, True)"
    diff -r "$R/checkpoint-5" "$SCRATCH/one"
    equal "$(find "$R" -maxdepth 1 -name '.checkpoint-5.restore-*.tmp' | wc -l)" 1
    equal "$(readlink -f "$MNT/branches/r/latest")" "$R/checkpoint-5"
    rm -r "$R"
    "$EXPFS" restore "$R/checkpoint-5" "$SCRATCH/two" >/dev/null
    diff -r "$SCRATCH/two" "$SCRATCH/one"
    equal "$(stat -c %a "$SCRATCH/two" "$SCRATCH/two/sub" "$SCRATCH/two/model.bin" | tr '\n' ' ')" \
        "$(stat -c %a "$SCRATCH/one" "$SCRATCH/one/sub" "$SCRATCH/one/model.bin" | tr '\n' ' ')"
    mkdir -p "$SCRATCH/three/checkpoint-5"
    refused 3 "$EXPFS" restore "$R/checkpoint-5" "$SCRATCH/three"
    [[ $MESSAGE == *"is there already"* ]] || fail "$MESSAGE"
    equal "$(ls -A "$SCRATCH/three")" checkpoint-5
}

@test "expfs restore to another place replaces nothing that is there" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    mkdir "$SCRATCH/there"
    echo mine | tee "$SCRATCH/file" "$SCRATCH/there/last.pt" "$R/notes.txt" >/dev/null
    ln -s nowhere "$SCRATCH/link"
    local dest
    for dest in "$SCRATCH/file" "$SCRATCH/there" "$SCRATCH/link" "$R/notes.txt"; do
        refused 3 "$EXPFS" restore "$R/last.pt@1" "$dest"
        [[ ! -d $dest ]] || dest=$dest/last.pt
        equal "$MESSAGE" "expfs: $dest: is there already; remove it first, or name another"
    done
    equal "$(cat "$SCRATCH/file" "$SCRATCH/there/last.pt" "$R/notes.txt")" $'mine\nmine\nmine'
    equal "$(readlink "$SCRATCH/link")" nowhere
    equal "$(ls -A "$SCRATCH" "$SCRATCH/there" "$R" | grep -c restore)" 0 "what is left beside"
    refused 3 "$EXPFS" restore "$R/last.pt@1" /dev/null/x
    equal "$MESSAGE" "expfs: /dev/null/x: the directory above it is none; name another place"
}

@test "expfs restore that fails leaves nothing, and says what it was about" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    refused 3 "$EXPFS" restore "$R/last.pt@1" "$SCRATCH/absent/dir"
    [[ $MESSAGE == *"$SCRATCH/absent/dir: No such file or directory"* ]] || fail "$MESSAGE"
    refused 3 "$EXPFS" restore "$R/last.pt@1" "$H/last.pt/9.pt"
    [[ $MESSAGE == *"is read-only"* ]] || fail "$MESSAGE"
    rm "$R/last.pt"
    mkdir "$R/last.pt"
    refused 3 "$EXPFS" restore "$R/last.pt@1"
    [[ $MESSAGE == *"/runs/r/last.pt: is a directory"* ]] || fail "$MESSAGE"
    equal "$(ls -A "$R" "$R/last.pt" | grep -c restore)" 0
    require_loop
    loop_disk small 4
    head -c 8000000 /dev/urandom >"$R/config.yaml"
    refused 3 "$EXPFS" restore "$R/config.yaml@1" "$SCRATCH/small/x"
    [[ $MESSAGE == *"No space left on device" ]] || fail "$MESSAGE"
    equal "$(ls -A "$SCRATCH/small")" lost+found
}

@test "a directory without a marker that is restored is complete at once" {
    mkdir "$R/checkpoint-1" "$R/checkpoint-2"
    local i
    for i in 1 2; do
        checkpoint zip "$R/checkpoint-$i/model.npz" $SIZE $i
        checkpoint zip "$R/checkpoint-$i/optimizer.npz" $SIZE 1$i
    done
    wait_until test -e "$H/checkpoint-1/1"
    wait_until test -e "$H/checkpoint-2/1"
    rm -r "$R"/checkpoint-?
    not test -e "$MNT/branches/r/latest"
    "$EXPFS" restore "$R/checkpoint-1" >/dev/null
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/checkpoint-1
}

@test "expfs restore works in a bind mount of a part of the tree" {
    require_root
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    mkdir "$SCRATCH/bind"
    mount --bind "$MNT/runs" "$SCRATCH/bind"
    "$EXPFS" restore "$SCRATCH/bind/r/last.pt@1" >/dev/null || { umount "$SCRATCH/bind"; return 1; }
    umount "$SCRATCH/bind"
    cmp "$R/last.pt" "$SCRATCH/1"
}

# --- expfs forget ---

@test "expfs forget lets a version go and frees what nothing else has" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    save "$R/last.pt" 3
    sync "$R/last.pt" # until then what was before is needed for a power cut
    cp "$SCRATCH/1" "$R/keep.tmp"
    local stored
    stored=$(space stored)
    equal "$(answer forget "$R/last.pt@1" 'r["forgotten"], r["kept"], r["freed"]')" "([1], [], 0)"
    equal "$(answer forget "$R/last.pt@2" 'r["freed"]')" "$(stat -c %s "$SCRATCH/2")"
    equal "$(versions last.pt)" "3.pt "
    (($(space stored) < stored)) || fail "stored: $(space stored), before: $stored"
    cmp "$R/keep.tmp" "$SCRATCH/1"
    save "$R/last.pt" 4
    equal "$(versions last.pt)" "3.pt 4.pt " "numbers are not used again"
}

@test "expfs forget refuses what the path holds and what latest needs, and says so" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    refused 1 "$EXPFS" forget "$R/last.pt@2"
    [[ $MESSAGE == *"version 2 is needed: it is what the path holds" ]] || fail "$MESSAGE"
    checkpoint torn-zip "$R/last.pt" $SIZE 3
    refused 1 "$EXPFS" forget "$R/last.pt@2"
    [[ $MESSAGE == *"version 2 is needed: it is the last complete one"* ]] || fail "$MESSAGE"
    equal "$(answer forget "$R/last.pt" 'r["forgotten"], [k["n"] for k in r["kept"]]')" "([1], [2, 3])"
    cmp "$MNT/branches/r/latest" "$SCRATCH/2"
    equal "$(answer forget "$R/last.pt" 'r["forgotten"]')" "[]"
    save_dir "$R/checkpoint-5" 4
    test -e "$H/checkpoint-5/1"
    : >"$R/checkpoint-5/model.bin"
    refused 1 "$EXPFS" forget "$R/checkpoint-5@1"
    grep -q '"seed": 4' "$R/.expfs/step/5/trainer_state.json"
}

@test "expfs forget of a checkpoint that is being written keeps the one before" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    killed_in_overwrite
    refused 1 "$EXPFS" forget "$R/last.pt@2"
    equal "$(answer forget "$R/last.pt" 'r["forgotten"]')" "[1]"
    cmp "$MNT/branches/r/latest" "$SCRATCH/2"
}

@test "expfs forget of what is gone takes all of it, and the paths that have nothing left" {
    mkdir -p "$R/a/b"
    save "$R/a/b/last.pt" 1
    save "$R/a/best.pt" 2
    save_dir "$R/checkpoint-5" 3
    test -e "$H/checkpoint-5/1"
    echo x >"$R/config.yaml"
    rm -r "$R/a" "$R/checkpoint-5"
    "$EXPFS" forget "$R/a/b/last.pt" | grep -q '1 version forgotten'
    not test -e "$H/a/b"
    test -e "$H/a/best.pt/1.pt"
    "$EXPFS" forget "$R/a/best.pt@1" >/dev/null
    not test -e "$H/a"
    "$EXPFS" forget "$R/checkpoint-5" >/dev/null
    equal "$(ls "$H")" config.yaml
    refused 1 "$EXPFS" history "$R/checkpoint-5"
    rm -r "$R"
    umount_store
    "$EXPFS" forget /runs/r/config.yaml --store "$STORE" >/dev/null
    equal "$(find "$STORE/objects" -type f | wc -l)" 0 "contents left"
}
