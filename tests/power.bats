# The power fails: the store's disk loses what was not synced. Any file is one of its own states, whole. What was synced:
# power_synced.bats.

load power

@test "a checkpoint that was renamed over another without fsync is the other one after a power cut" {
    bytes "$D/latest.pt" 3000000 1
    sync_all
    bytes "$D/latest.pt.tmp" 3000000 2
    mv "$D/latest.pt.tmp" "$D/latest.pt"
    sync_names
    power_cut
    not test -e "$D/latest.pt.tmp"
    came_bytes "$D/latest.pt" 3000000 2 && return 0
    is_bytes "$D/latest.pt" 3000000 1
    "$EXPFS" status "$MNT" 3>&- | grep 'power cut 1 have their content from before, 0 that were new are gone'
    grep '^.*/d/latest.pt: was not whole on the disk after a power cut' "$STORE/log"
}

@test "a checkpoint that gets its content back belongs to its experiment, though another one had equal bytes before" {
    local b
    mkdir -p "$MNT/runs/r"
    cd "$MNT/runs/r"
    echo "lr: 1" >config.yaml
    checkpoint zip a.pt 1000 1
    [[ -n $(cat "$MNT/branches/r/HEAD") ]]
    echo "lr: 2" >config.yaml
    checkpoint zip b.pt 1000 1
    b=$(cat "$MNT/branches/r/HEAD")
    not equal "$(xattr a.pt user.expfs.hash)" "$b"
    sync .
    checkpoint zip b.pt 1000 2
    sync_names
    cd /
    power_cut
    checkpoint zip "$SCRATCH/new" 1000 2
    came "$MNT/runs/r/b.pt" "$SCRATCH/new" && return 0
    cmp "$MNT/runs/r/a.pt" "$MNT/runs/r/b.pt"
    equal "$(xattr "$MNT/runs/r/b.pt" user.expfs.hash)" "$b"
}

@test "a checkpoint that was truncated and written again without fsync is the one from before" {
    bytes "$D/last.ckpt" 3000000 1
    sync_all
    bytes "$D/last.ckpt" 3000000 2
    bytes "$D/last.ckpt" 2000000 3
    sync_names
    power_cut
    came_bytes "$D/last.ckpt" 2000000 3 && return 0
    is_bytes "$D/last.ckpt" 3000000 1 || came_bytes "$D/last.ckpt" 3000000 2
}

@test "a checkpoint that latest led to, and that the disk lost, leaves a sound store, and latest leads to the one before" {
    checkpoint zip "$D/last.pt" 3000000 1
    sync_all
    checkpoint zip "$D/last.pt" 3000000 2
    checkpoint zip "$D/step_5.pt" 3000000 3
    equal "$(readlink "$D/.expfs/latest")" ../step_5.pt
    sync_names
    power_cut
    umount_store
    "$EXPFS" fsck "$STORE"
    mount_store
    checkpoint zip "$SCRATCH/new" 3000000 3
    came "$D/step_5.pt" "$SCRATCH/new" && return 0
    equal "$(readlink "$D/.expfs/latest")" ../last.pt
    checkpoint zip "$SCRATCH/new" 3000000 2
    came "$D/last.pt" "$SCRATCH/new" && return 0
    checkpoint zip "$SCRATCH/wanted" 3000000 1
    cmp "$D/last.pt" "$SCRATCH/wanted"
}

@test "a checkpoint that is being written over an old one when the power fails is the old one" {
    bytes "$D/last.ckpt" 3000000 1
    sync_all
    exec 7>"$D/last.ckpt"
    bytes "$SCRATCH/new" 3000000 2
    cat "$SCRATCH/new" >&7
    sync_names
    xfs_io -x -c shutdown "$SCRATCH/disk"
    exec 7>&-
    power_cut
    is_bytes "$D/last.ckpt" 3000000 1
}

@test "a new file that was not synced is not there, rather than empty" {
    bytes "$D/step_1.pt" 3000000 1
    bytes "$D/a" 3000000 2
    mv "$D/a" "$D/b"
    sync_names
    power_cut
    not test -e "$D/a"
    came_bytes "$D/step_1.pt" 3000000 1 || not test -e "$D/step_1.pt"
    came_bytes "$D/b" 3000000 2 || not test -e "$D/b"
}

@test "what was closed is on the disk some seconds later" {
    bytes "$D/step_1.pt" 3000000 1
    bytes "$D/tmp" 3000000 2
    mv "$D/tmp" "$D/step_1.pt"
    wait_until is_synced
    sleep 3 # and the names
    power_cut
    is_bytes "$D/step_1.pt" 3000000 2
}

@test "a file that is rewritten and renamed is the new one under the new name" {
    bytes "$D/a" 300000 1
    sync_all
    bytes "$D/a" 300000 2
    mv "$D/a" "$D/c"
    sync_names
    power_cut
    is_bytes "$D/c" 300000 2
    not test -e "$D/a"
}

@test "a save in the midst of which its directory was synced, and that was renamed over another, is the other one" {
    program <<'PY'
open("latest.pt", "wb").write(b"A" * 3000000); sync(".")
f = open("latest.pt.tmp", "wb", buffering=0)
f.write(b"B" * 1000000)
sync(".")
f.write(b"B" * 2000000); f.close()
os.rename("latest.pt.tmp", "latest.pt")
PY
    sync_names
    power_cut
    not test -e "$D/latest.pt.tmp"
    head -c 3000000 /dev/zero | tr '\0' B >"$SCRATCH/new"
    came "$D/latest.pt" "$SCRATCH/new" && return 0
    is_only "$D/latest.pt" 3000000 A
}

@test "a save that is renamed over another before it is closed is the other one until then, synced as its directory may be" {
    program <<'PY'
open("latest.pt", "wb").write(b"A" * 3000000)
open("last.pt", "wb").write(b"A" * 3000000)
open("last.pt.tmp", "wb").write(b"C" * 100000)  # left from before
sync(".")
def save(name):
    f = open(name + ".tmp", "wb", buffering=0)
    f.write(b"B" * 1000000); sync(".")
    os.rename(name + ".tmp", name); sync(".")
    f.write(b"B" * 1000000); sync(".")
    return f
files = save("latest.pt"), save("last.pt")
fail()
PY
    power_cut
    is_only "$D/latest.pt" 3000000 A
    is_only "$D/last.pt" 3000000 A
}

@test "a file that was changed in place, closed and renamed over another is as it was closed, or the other one" {
    program <<'PY'
open("latest", "wb").write(b"A" * 3000000)
open("copy", "wb").write(b"B" * 3000000); sync(".")
f = open("copy", "r+b", buffering=0); f.write(b"C" * 3000000); f.close()
os.rename("copy", "latest")
PY
    sync_names
    power_cut
    is_only "$D/latest" 3000000 C
}

@test "a save in the midst of which a process was spawned goes back to the one before" {
    program <<'PY'
open("latest.pt", "wb").write(b"A" * 3000000); sync(".")
f = open("latest.pt", "wb", buffering=0); f.write(b"B" * 1000000)
g = open("step_1.pt", "wb", buffering=0); g.write(b"C" * 1000000)
subprocess.run(["true"], close_fds=True)
for i in range(20): open("small%d" % i, "w").write("x%d" % i)  # these are synced with all of the file system
time.sleep(5)
fail()
PY
    power_cut
    is_only "$D/latest.pt" 3000000 A
    not test -e "$D/step_1.pt"
}

@test "a save whose writer waits is not taken for one that is done, whatever the times of the file say" {
    program <<'PY'
open("latest.pt", "wb").write(b"A" * 3000000); sync(".")
f = open("latest.pt", "wb", buffering=0); f.write(b"B" * 1000000)
os.utime("latest.pt", (1, 1))
time.sleep(5)
fail()
PY
    power_cut
    is_only "$D/latest.pt" 3000000 A
}

@test "what was closed is on the disk some seconds later, though the next one had opened it before" {
    program <<'PY'
for name in "a", "b": open(name, "wb").write(b"A" * 300000)  # one content for both
sync(".")
f = open("a", "r+b", buffering=0); f.write(b"B" * 300000)
g = open("a", "r+b", buffering=0)
f.close()
time.sleep(5)
fail()
PY
    power_cut
    is_only "$D/a" 300000 B
}

@test "a database that is closed is on the disk some seconds later, and so is one that is not written" {
    program <<'PY'
for name in "a", "b": open(name, "wb").write(b"A" * 300000)  # one content for both
sync(".")
f = open("a", "r+b", buffering=0); f.write(b"B" * 300000); f.close()
f = open("a", "r+b")
time.sleep(5)
fail()
PY
    power_cut
    is_only "$D/a" 300000 B
    is_only "$D/b" 300000 A
}

@test "what was written by redirection of a shell is there as a whole, or not" {
    bytes "$SCRATCH/new" 300000 1
    cat "$SCRATCH/new" >"$D/new.pt"
    echo "lr: 0.1" | tee "$SCRATCH/config" >"$D/config.yaml"
    : >"$D/done"
    sync_names
    power_cut
    test -e "$D/done"
    came "$D/new.pt" "$SCRATCH/new" || not test -e "$D/new.pt"
    came "$D/config.yaml" "$SCRATCH/config" || not test -e "$D/config.yaml"
}

@test "a log that is open when it is replaced, and the power fails, is there again, and the store is sound at once" {
    program <<'PY'
log = open("log", "wb", buffering=0); log.write(b"line\n"); os.fsync(log.fileno())
open("new", "wb").write(b"n" * 3000000)
os.rename("new", "log"); log.write(b"more\n")
fail()
PY
    disk_back
    "$EXPFS" fsck "$STORE"
    mount_store
    equal "$(head -n 1 "$D/log")" line
}

@test "a content that was changed in place is what its file gets back, though who had it is open" {
    program <<'PY'
def put(data):
    with open("metrics.jsonl", "wb", buffering=0) as f: f.write(data); os.fsync(f.fileno())
put(b"0" * 1000)
new = open("new", "wb", buffering=0)
put(b"1" * 300000)
with open("metrics.jsonl", "ab", buffering=0) as f: f.write(b"2" * 300000)
hold = open("metrics.jsonl", "rb")
new.write(b"n" * 3000000); new.close()
os.rename("new", "metrics.jsonl")
fail()
PY
    power_cut
    equal "$(head -c 300000 "$D/metrics.jsonl" | tr -d 1 | wc -c)" 0
    umount_store
    "$EXPFS" fsck "$STORE"
}

@test "a kernel that numbers mounts anew tells nothing: the death of a daemon counts as a power cut" {
    require_command cc
    grep -qa __asan_init "$EXPFS" && skip "a sanitizer does not let a library come before it"
    cc -shared -fPIC -o "$SCRATCH/old.so" -x c - <<'C'
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
int statx(int fd, const char *path, int flags, unsigned mask, struct statx *st)
{
	return syscall(SYS_statx, fd, path, flags, mask & ~0x4000u, st);
}
C
    umount_store
    LD_PRELOAD=$SCRATCH/old.so mount_store
    exec 7>"$D/other"
    kill_daemon
    exec 7>&- || true
    fusermount3 -uz "$MNT"
    LD_PRELOAD=$SCRATCH/old.so mount_store
    equal "$(cat "$D/other")" settled
}

@test "old contents are removed while files are made faster than a disk syncs" {
    require_command cc
    grep -qa __asan_init "$EXPFS" && skip "a sanitizer does not let a library come before it"
    cc -shared -fPIC -o "$SCRATCH/slow.so" -x c - <<'C'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
int syncfs(int fd)
{
	usleep(1500000);
	return syscall(SYS_syncfs, fd);
}
C
    umount_store
    LD_PRELOAD=$SCRATCH/slow.so mount_store
    bytes "$D/content" 3000000 1
    sync "$D/content"
    background python3 - "$D" <<'PY'
import os, sys
for i in range(100000):
    with open("%s/%d" % (sys.argv[1], i), "w") as f: f.write("%d" % i)
    if i >= 1000: os.unlink("%s/%d" % (sys.argv[1], i - 1000))
PY
    wait_until test -e "$D/500"
    bytes "$D/content.tmp" 3000000 2
    mv "$D/content.tmp" "$D/content"
    wait_until has_large_objects 1
    kill -0 "$BG"
}
has_large_objects() { (($(find "$STORE/objects" -size +2M | wc -l) == $1)); }

@test "a checkpoint directory of which a file is lost leaves nothing of the others behind" {
    program <<'PY'
os.mkdir("checkpoint-5")
def save(name, data, synced):
    with open("checkpoint-5/" + name, "wb") as f:
        f.write(data)
        f.flush()
        if synced: os.fsync(f.fileno())
save("a.bin", b"a" * 50000, True); save("b.bin", b"b" * 50000, False); save("trainer_state.json", b"{}", True)
assert os.readlink(".expfs/latest").endswith("checkpoint-5")
for name in os.listdir("checkpoint-5"): os.unlink("checkpoint-5/" + name)
os.rmdir("checkpoint-5")
PY
    sync_names
    power_cut
    umount_store
    "$EXPFS" fsck "$STORE"
}

@test "a log that is open for more than a minute is there after a power cut, a save is whole or not there" {
    local pid i
    program >"$SCRATCH/saved" 2>&1 3>&- <<'PY' &
os.mkdir("saves"); os.chdir("saves")
open("latest.pt", "wb").write(b"A" * 3000000); sync(".")
f = open("latest.pt.tmp", "wb", buffering=0)
for i in range(64): f.write(b"B" * 10000); time.sleep(1)
f.write(b"B" * 2000000); f.close()
os.rename("latest.pt.tmp", "latest.pt")
PY
    pid=$!
    exec 7>"$D/train.log" 8>"$D/step_1.pt" # each echo closes a copy of the descriptor
    for i in $(seq 68); do echo "line $i" >&7; echo "bytes $i" >&8; sleep 1; done
    wait $pid || fail "$(cat "$SCRATCH/saved")"
    sync_names
    xfs_io -x -c shutdown "$SCRATCH/disk"
    exec 7>&- 8>&-
    power_cut
    grep -q '^line 30$' "$D/train.log"
    not test -e "$D/step_1.pt"
    is_only "$D/saves/latest.pt" 3000000 A || is_only "$D/saves/latest.pt" 2640000 B
}
