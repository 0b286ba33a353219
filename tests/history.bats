# .expfs/history/: what is a version, how it looks, and to whom.

load history

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

@test "what a path held stays when a program writes the same again, closes a copy of its descriptor and goes on to write" {
    local n=0 how f
    mkdir -p "$MNT/exp/checkpoints/models/b5a79a78"
    for f in "$R/last.pt" "$R/config.yaml" "$MNT/exp/checkpoints/models/b5a79a78/11111111b5a79a78bb73166f_step_000005.pt"; do
        for how in "os.pwrite(d, was, 0)" "os.pwrite(d, was[9:20], 9)" "os.ftruncate(d, 0); os.pwrite(d, was, 0)"; do
            rm -f "$f"
            save "$SCRATCH/$((++n))" $n
            cp "$SCRATCH/$n" "$f"
            ((n % 2)) || "$EXPFS" status "$MNT" >/dev/null # what was judged, and what was not
            python3 - "$f" "$how" <<'PY'
import os, sys
was = open(sys.argv[1], "rb").read()
d = os.open(sys.argv[1], os.O_RDWR)
exec(sys.argv[2])
os.close(os.dup(d))
for i in range(2):
    os.pwrite(d, bytes([i]) * 50, 300)
    os.close(os.dup(d))
os.close(d)
PY
            "$EXPFS" status "$MNT" >/dev/null
            cmp -s "$SCRATCH/$n" "$f" && fail "was not written over"
            found=$(find "$MNT/.expfs/history${f#"$MNT"}" -type f -exec cmp -s {} "$SCRATCH/$n" \; -print | wc -l)
            ((found > 0)) || fail "$f, $how: what it held is lost"
        done
    done
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

# --- directories ---

@test "what is being written while its run is renamed is a version of the renamed run" {
    checkpoint zip "$SCRATCH/1" $SIZE 1
    python3 - "$SCRATCH/1" "$R" "$MNT/runs/new" <<'PY'
import os, sys
data = open(sys.argv[1], "rb").read()
with open(sys.argv[2] + "/last.pt", "wb") as f:
    f.write(data[:1000])
    f.flush()
    os.rename(*sys.argv[2:])
    f.write(data[1000:])
PY
    cmp "$MNT/runs/new/.expfs/history/last.pt/1.pt" "$SCRATCH/1"
    equal "$(readlink "$MNT/branches/new/latest")" "../../runs/new/last.pt"
    refused 1 "$EXPFS" history "$R/last.pt"
}

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

@test "a directory checkpoint that is removed as soon as it is complete is a version" {
    save_dir "$SCRATCH/five" 1
    python3 - "$SCRATCH/five" "$R/checkpoint-5" <<'PY'
import os, shutil, sys
shutil.copytree(*sys.argv[1:])
shutil.rmtree(sys.argv[2])
PY
    equal "$(versions checkpoint-5)" "1 "
    diff -r "$H/checkpoint-5/1" "$SCRATCH/five"
    python3 - "$SCRATCH/five" "$R/checkpoint-6" "$D/elsewhere" <<'PY'
import os, shutil, sys
shutil.copytree(*sys.argv[1:3])
os.rename(sys.argv[2] + "/model.bin", sys.argv[3])
PY
    equal "$(versions checkpoint-6)" "1 "
}

@test "a marker that is removed for a new one to be put in its place is no end of a checkpoint" {
    mkdir "$R/5"
    python3 - "$R/5" <<'PY'
import os, sys
os.chdir(sys.argv[1])
for save in "12":
    for name in "__0_0.distcp", ".metadata.tmp":
        with open(name, "w") as f:
            f.write("save " + save)
    if os.path.exists(".metadata"):
        os.remove(".metadata")
    os.rename(".metadata.tmp", ".metadata")
PY
    equal "$(readlink "$MNT/branches/r/latest")" "../../runs/r/5"
    equal "$(versions 5)" "1 2 "
    equal "$(cat "$H/5/1/"* "$H/5/1/.metadata")" "save 1save 1"
    diff -r "$H/5/2" "$R/5"
}

@test "a directory checkpoint that gets another name, or loses a file to one, as soon as it is complete is a version" {
    local n
    save_dir "$SCRATCH/five" 1
    python3 - "$SCRATCH/five" "$R" 3>&- <<'PY'
import ctypes, os, shutil, sys
source, run = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
os.chdir(run)
os.makedirs("kept/notes")
for name in "kept/other.bin", "kept/new.bin":
    open(name, "w").close()

def save(name):
    shutil.copytree(source, name)

def exchange(a, b):
    assert libc.renameat2(-100, a.encode(), -100, b.encode(), 2) == 0

save("checkpoint-1")
os.rename("checkpoint-1", "renamed")
save("checkpoint-2")
os.rename("checkpoint-2", "kept/moved")
os.mkdir("plain")
save("checkpoint-3")
exchange("plain", "checkpoint-3")
save("checkpoint-4")
exchange("kept/notes", "checkpoint-4")
save("checkpoint-5")
exchange("kept/other.bin", "checkpoint-5/model.bin")
save("checkpoint-6")
os.rename("kept/new.bin", "checkpoint-6/model.bin")
PY
    for n in {1..6}; do
        diff -r "$H/checkpoint-$n/1" "$SCRATCH/five"
    done
}

@test "a file that is made and removed beside those of a new directory checkpoint makes no version" {
    save_dir "$SCRATCH/five" 1
    python3 - "$SCRATCH/five" "$R/checkpoint-5" <<'PY'
import os, shutil, sys
shutil.copytree(*sys.argv[1:])
os.chdir(sys.argv[2])
for i in range(5):
    for name, text in ("lock", ""), ("x.tmp", "text"):
        with open(name, "w") as f:
            f.write(text)
        os.unlink(name)
shutil.rmtree(sys.argv[2])
PY
    equal "$(versions checkpoint-5)" "1 "
    diff -r "$H/checkpoint-5/1" "$SCRATCH/five"
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
