# MANIFEST files: checkpoints/manifest.yaml and .checkpoint_manager_state.json are never seen half written, and
# status tells of one that lost experiments.

load lib

setup() {
    scratch
    store_init
    mount_store
    P=$MNT/checkpoints/manifest.yaml
    mkdir "$MNT/checkpoints"
}
teardown() { cleanup; }

# program: Python with what these tests need; the file is P
program() {
    (cat <<'PY'; cat) >"$SCRATCH/program.py"
import os, subprocess, sys, time
P = sys.argv[1]
OLD, NEW = b"o" * 9000, b"n" * 12000
def put(data, path=P):
    with open(path, "wb") as f: f.write(data)
def begin(): return os.open(P, os.O_WRONLY | os.O_TRUNC)
def read(fd): return os.pread(fd, 1 << 20, 0)
def same(got, want, what):
    if got != want:
        sys.exit("%s: got %r, expected %r" % (what, got[:60] if isinstance(got, bytes) else got, want[:60] if isinstance(want, bytes) else want))
# what others see, each in its own way
def seen(want, path=P):
    st = os.stat(path)
    same(st.st_size, len(want), "size")
    same(st.st_blocks > 0, len(want) > 0, "blocks")
    listed = [e.stat().st_size for e in os.scandir(os.path.dirname(path)) if e.path == path]
    same(listed, [len(want)], "size in the directory")
    same(open(path, "rb").read(), want, "content")
    other = "import os, sys; sys.stdout.buffer.write(b'%d ' % os.stat(sys.argv[1]).st_size + open(sys.argv[1], 'rb').read())"
    same(subprocess.check_output([sys.executable, "-c", other, path]), b"%d " % len(want) + want, "what another process sees")
PY
    timeout 300 python3 "$SCRATCH/program.py" "$@" 3>&-
}

@test "from the truncation to the close others read what a manifest held, and see its size and blocks" {
    program "$P" <<'PY'
put(OLD); seen(OLD)
mtime = os.stat(P).st_mtime_ns
fd = begin(); seen(OLD)
os.write(fd, NEW[:5000]); seen(OLD)
same(os.stat(P).st_mtime_ns, mtime, "mtime")
os.write(fd, NEW[5000:]); seen(OLD)
os.close(fd); seen(NEW)
PY
    equal "$(cmp "$MNT/.expfs/history/checkpoints/manifest.yaml/1.yaml" <(printf 'o%.0s' $(seq 9000)) && echo same)" same
}

@test "the state file at the top is not seen half written either, nor that of a run" {
    mkdir -p "$MNT/runs/r/checkpoints"
    local f
    for f in "$MNT/.checkpoint_manager_state.json" "$MNT/runs/r/.checkpoint_manager_state.json" "$MNT/runs/r/checkpoints/manifest.yaml"; do
        program "$f" <<'PY'
put(OLD)
fd = begin(); os.write(fd, b"half"); seen(OLD); os.close(fd); seen(b"half")
PY
    done
}

@test "a file without the role is seen as it is while it is written" {
    program "$MNT/manifest.yaml" <<'PY'
put(OLD)
fd = begin(); same(os.stat(P).st_size, 0, "size"); os.write(fd, b"half"); same(open(P, "rb").read(), b"half", "content"); os.close(fd)
PY
}

@test "a manifest that is new is seen as it is, until it was closed once" {
    program "$P" <<'PY'
fd = os.open(P, os.O_WRONLY | os.O_CREAT | os.O_TRUNC); seen(b"")
os.write(fd, b"half"); seen(b"half")
os.write(fd, b"whole"); os.close(fd); seen(b"halfwhole")
fd = begin(); seen(b"halfwhole"); os.close(fd); seen(b"")
PY
}

@test "one that is changed in place without truncation is seen as it was, too" {
    program "$P" <<'PY'
put(OLD)
fd = os.open(P, os.O_RDWR); seen(OLD)
os.pwrite(fd, b"X", 0); seen(OLD)
os.ftruncate(fd, 100); seen(OLD)
same(read(fd), b"X" + OLD[1:100], "what its writer reads")
os.close(fd); seen(b"X" + OLD[1:100])
PY
}

@test "a reader goes on with the version that was complete when it opened the file" {
    program "$P" <<'PY'
put(OLD)
before = os.open(P, os.O_RDONLY)
fd = begin()
same(os.read(before, 10), OLD[:10], "after the truncation")
os.write(fd, NEW)
same(read(before), OLD, "while it is written")
same(os.lseek(before, 0, os.SEEK_END), len(OLD), "end")
during = os.open(P, os.O_RDONLY)
os.close(fd)
same(read(before), OLD, "after the close")
same(read(during), OLD, "opened while it was written")
same(os.lseek(during, 0, os.SEEK_END), len(OLD), "end")
same(os.lseek(during, 0, os.SEEK_HOLE), len(OLD), "hole")
put(b"third")
same(read(before) + read(during), OLD + OLD, "after the next one")
seen(b"third")
PY
}

@test "a reader keeps its version when the manifest is renamed over or removed" {
    program "$P" <<'PY'
put(OLD)
before = os.open(P, os.O_RDONLY)
fd = begin(); os.write(fd, b"half")
put(NEW, P + ".new")
os.rename(P + ".new", P); seen(NEW)
same(read(before), OLD, "renamed over")
os.write(fd, b"more"); os.close(fd); seen(NEW)
same(read(before), OLD, "closed")
before = os.open(P, os.O_RDONLY)
fd = begin(); os.write(fd, b"half"); os.unlink(P)
same(read(before), NEW, "removed")
os.close(fd)
same(read(before), NEW, "removed and closed")
same(os.path.exists(P), False, "exists")
PY
}

@test "both names of a manifest show the same while it is written" {
    program "$P" <<'PY'
put(OLD); other = os.path.dirname(os.path.dirname(P)) + "/kept"
os.link(P, other)
fd = os.open(other, os.O_WRONLY | os.O_TRUNC); os.write(fd, b"half")
seen(OLD); same(open(other, "rb").read(), OLD, "other name")
os.close(fd); seen(b"half"); same(open(other, "rb").read(), b"half", "other name")
PY
}

@test "one that came by rename is as one that was written there" {
    program "$P" <<'PY'
put(OLD, P + ".tmp"); os.rename(P + ".tmp", P); seen(OLD)
fd = begin(); seen(OLD); os.write(fd, b"half"); seen(OLD); os.close(fd); seen(b"half")
PY
}

@test "the close of a forked child's copy does not end the writing" {
    program "$P" <<'PY'
put(OLD)
fd = begin(); os.write(fd, NEW[:100])
child = os.fork()
if child == 0: os.close(fd); os._exit(0)
os.waitpid(child, 0)
seen(OLD)
os.write(fd, NEW[100:]); seen(OLD)
os.close(fd); seen(NEW)
PY
    equal "$(ls "$MNT/.expfs/history/checkpoints/manifest.yaml")" "1.yaml
2.yaml"
}

@test "two writers end it with the last close" {
    program "$P" <<'PY'
put(OLD)
a, b = begin(), os.open(P, os.O_WRONLY)
os.write(a, NEW); os.close(a); seen(OLD)
os.pwrite(b, b"b", 0); seen(OLD)
os.close(b); seen(b"b" + NEW[1:])
PY
}

@test "a truncation by path without a handle is a complete act" {
    program "$P" <<'PY'
put(OLD)
os.truncate(P, 100); seen(OLD[:100])
os.truncate(P, 0); seen(b"")
os.truncate(P, 5); same(open(P, "rb").read(), bytes(5), "content")
os.close(os.open(P, os.O_RDONLY | os.O_TRUNC)); seen(b"")
PY
}

@test "appending goes to the end, though others saw another size meanwhile" {
    program "$P" <<'PY'
put(OLD)
fd = begin(); os.write(fd, NEW[:100]); seen(OLD)
with open(P, "ab") as f: f.write(b"1"); f.flush(); seen(OLD); f.write(b"2")
os.close(fd); seen(NEW[:100] + b"12")
for data in b"3", b"45", b"6":
    fd = os.open(P, os.O_WRONLY | os.O_APPEND); os.stat(P); os.write(fd, data); os.stat(P); os.write(fd, data); os.close(fd)
seen(NEW[:100] + b"12" + b"33" + b"4545" + b"66")
PY
}

@test "programs copy the whole version while it is written" {
    echo old content >"$P"
    exec 7>"$P"
    echo half >&7
    cp "$P" "$SCRATCH/cp"
    cp "$P" "$MNT/checkpoints/cp"
    cat "$P" >"$SCRATCH/cat"
    python3 -c 'import shutil, sys; shutil.copyfile(sys.argv[1], sys.argv[2])' "$P" "$SCRATCH/shutil"
    exec 7>&-
    equal "$(cat "$SCRATCH/cp")/$(cat "$MNT/checkpoints/cp")/$(cat "$SCRATCH/cat")/$(cat "$SCRATCH/shutil")" \
        "old content/old content/old content/old content"
    equal "$(cat "$P")" half
}

@test "a private mapping of a manifest shows the version of its reader" {
    program "$P" <<'PY'
import mmap
put(OLD)
r = os.open(P, os.O_RDONLY)
fd = begin(); os.write(fd, b"half")
os.stat(P)
m = mmap.mmap(r, len(OLD), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
same(m[:], OLD, "mapping")
os.close(fd)
r = os.open(P, os.O_RDONLY)
same(mmap.mmap(r, 4, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)[:], b"half", "mapping after the close")
PY
}

@test "what a killed writer left is what the manifest holds, and history has the one before" {
    echo old content >"$P"
    background python3 -c '
import os, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC); os.write(fd, b"torn"); open(sys.argv[2], "w"); time.sleep(60)' "$P" "$SCRATCH/written"
    wait_until test -e "$SCRATCH/written"
    equal "$(cat "$P")" "old content"
    kill -KILL "$BG"
    wait "$BG" || true
    equal "$(cat "$P")" torn
    equal "$(cat "$MNT/.expfs/history/checkpoints/manifest.yaml/1.yaml")" "old content"
}

@test "after the daemon was killed a manifest has the bytes that had arrived, and history has the one before" {
    echo old content >"$P"
    exec 7>"$P"
    echo torn >&7
    kill_daemon
    exec 7>&- || true
    fusermount3 -uz "$MNT"
    mount_store
    equal "$(cat "$P")" torn
    equal "$(cat "$MNT/.expfs/history/checkpoints/manifest.yaml/1.yaml")" "old content"
    exec 7<>"$P"
    printf X >&7
    equal "$(cat "$P")" torn
    exec 7>&-
    equal "$(cat "$P")" Xorn
    kill_daemon
    fusermount3 -uz "$MNT"
    mount_store
    equal "$(cat "$P")" Xorn
    exec 7>"$P"
    echo new >&7
    equal "$(cat "$P")" Xorn
    exec 7>&-
    equal "$(cat "$P")" new
}

@test "six readers never see anything but a whole manifest while it is rewritten" {
    timeout 300 python3 "$EXPFS_SRCDIR/tests/manifest.py" "$P" "$(long && echo 120 || echo 5)" 3>&-
    timeout 300 python3 "$EXPFS_SRCDIR/tests/manifest.py" "$MNT/.checkpoint_manager_state.json" 2 3>&-
}

# --- manifests that lost experiments ---

# manifest HASH...: the text of one with these experiments, the last one the latest
manifest() {
    local hash
    echo experiments:
    for hash; do printf '  %s:\n    hp_hash: %s\n    latest_weight_step: null\n' "$hash" "${hash:0:8}"; done
    echo "latest_hash: ${!#}"
    echo "last_updated: '2026-11-30T01:02:03'"
}
A=aaaaaaaabbbbbbbbcccccccc B=aaaaaaaabbbbbbbbdddddddd C=01234567e1234567dddddddd

# warned KIND [PATH]: the texts of the warnings of status of this kind, one a line
warned() {
    "$EXPFS" status "${2:-$MNT}" --json 3>&- | python3 -c '
import json, sys
for w in json.load(sys.stdin)["warnings"]:
    if w["kind"] == sys.argv[1]: print(w["path"] + " " + w["text"])' "$1"
}

@test "status tells of a manifest that lost experiments, and which version has them" {
    manifest $A >"$P"
    manifest $A $B >"$P"
    manifest $A $B $C >"$P"
    equal "$(warned manifest-lost)" ""
    manifest $C >"$P"
    equal "$(warned manifest-lost)" "/checkpoints/manifest.yaml lost experiments; it has 1 of the 3 experiments of version 3, which comes back by: expfs restore $MNT/checkpoints/manifest.yaml@3"
    "$EXPFS" status "$MNT" 3>&- | grep "manifest-lost: /checkpoints/manifest.yaml lost experiments"
}

@test "it is told until a version with all of them is there again, by restore or by the program" {
    manifest $A $B >"$P"
    manifest $C >"$P"
    manifest $C $A >"$P"
    [[ $(warned manifest-lost) == *"1 of the 2 experiments of version 1,"* ]]
    remount
    [[ $(warned manifest-lost) == *"1 of the 2 experiments of version 1,"* ]]
    manifest $C $A $B >"$P"
    equal "$(warned manifest-lost)" ""
    manifest $B >"$P"
    "$EXPFS" restore "$P@4" 3>&-
    cmp "$P" <(manifest $C $A $B)
    equal "$(warned manifest-lost)" ""
    remount
    equal "$(warned manifest-lost)" ""
}

@test "a manifest that is empty, does not parse, is cut or has experiments: alone is told of, each in its words" {
    manifest $A $B >"$SCRATCH/good"
    tell() {
        cp "$SCRATCH/good" "$P"
        equal "$(warned manifest-lost)" ""
        cat >"$P"
        warned manifest-lost
    }
    [[ $(tell </dev/null) == "/checkpoints/manifest.yaml is empty; it has 0 of the 2 experiments of version "* ]]
    [[ $(head -c 50 "$SCRATCH/good" | tell) == "/checkpoints/manifest.yaml does not parse: line "*"; it has 0 of the 2 experiments"* ]]
    [[ $(head -n 4 "$SCRATCH/good" | tell) == *" has no latest_hash; it has 1 of the 2 experiments"* ]]
    [[ $(head -n 7 "$SCRATCH/good" | tell) == *" has no latest_hash; it has 2 of the 2 experiments"* ]]
    [[ $(echo experiments: | tell) == *" has no experiments; it has 0 of the 2 experiments"* ]]
}

@test "a manifest that is being written, was removed, or whose better version was forgotten is not told of" {
    manifest $A $B >"$P"
    exec 7>"$P"
    equal "$(warned manifest-lost)" ""
    manifest $A >&7
    equal "$(warned manifest-lost)" ""
    exec 7>&-
    [[ $(warned manifest-lost) == *"1 of the 2 experiments of version 1,"* ]]
    "$EXPFS" forget "$P@1" 3>&-
    equal "$(warned manifest-lost)" ""
    manifest $B >"$P"
    [[ $(warned manifest-lost) == *"0 of the 1 experiment of version 2,"* ]]
    rm "$P"
    equal "$(warned manifest-lost)" ""
}

@test "manifests of runs and of directories in them are told of with their branch" {
    mkdir -p "$MNT/runs/r/deep/checkpoints" "$MNT/runs/other"
    P=$MNT/runs/r/deep/checkpoints/manifest.yaml
    manifest $A $B >"$P"
    manifest $B >"$P"
    echo x >"$MNT/runs/other/config.yaml"
    [[ $(warned manifest-lost "$MNT/runs/r") == "/runs/r/deep/checkpoints/manifest.yaml lost"* ]]
    equal "$(warned manifest-lost "$MNT/runs/other")" ""
    umount_store
    "$EXPFS" status --store "$STORE" 3>&- | grep -F "restore /runs/r/deep/checkpoints/manifest.yaml@1"
}

@test "status tells of a state file whose experiment no manifest of its root lists" {
    state() { echo "{\"current_exp_hash\": \"$1\", \"previous_exp_hash\": null}" >"$MNT/.checkpoint_manager_state.json"; }
    local told="/.checkpoint_manager_state.json names the experiment $C, which checkpoints/manifest.yaml does not list; a training that resumes from it loads nothing"
    manifest $A $B >"$P"
    state $B
    equal "$(warned state-unknown-hash)" ""
    state $C
    equal "$(warned state-unknown-hash)" "$told"
    manifest $A $B $C >"$P"
    equal "$(warned state-unknown-hash)" ""
    : >"$P"
    equal "$(warned state-unknown-hash)" "$told"
    rm "$P"
    equal "$(warned state-unknown-hash)" "${told/checkpoints\/manifest.yaml does not list/no manifest lists}"
    echo '{"current_exp_hash": null}' >"$MNT/.checkpoint_manager_state.json"
    equal "$(warned state-unknown-hash)" ""
    echo '{"current_exp_' >"$MNT/.checkpoint_manager_state.json"
    equal "$(warned state-unknown-hash)" ""
}
