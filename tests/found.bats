# Faults that were found once, each by its kind.

load lib

setup() {
    scratch
    store_init
}
teardown() { cleanup; }

@test "a daemon that is killed while it mounts leaves nothing that hangs" {
    local i pid
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        "$EXPFS" mount "$STORE" "$MNT" </dev/null >/dev/null 2>&1 3>&- &
        pid=$!
        sleep "0.00$i"
        for p in $(daemon_pids "$STORE"); do kill -KILL "$p" 2>/dev/null || true; done
        wait "$pid" || true
        for p in $(daemon_pids "$STORE"); do kill -KILL "$p" 2>/dev/null || true; done # it was too early
        wait_until no_daemon "$STORE"
        timeout 300 ls "$MNT" >/dev/null 2>&1 || (($? != 124))
    done
    mount_store
    echo x >"$D/f"
}

@test "renaming each entry while listing comes to an end" {
    mount_store
    timeout 300 python3 - "$D" <<'PY'
import os, sys
d = sys.argv[1]
for i in range(3000): open("%s/%d" % (d, i), "w").close()
n = 0
for e in os.scandir(d):
    os.rename(e.path, e.path + ".o")
    n += 1
    assert n <= 3000, "an entry came again"
assert len(os.listdir(d)) == 3000
PY
}

@test "a checkpoint of which a file is changed in place is complete again when its marker is written" {
    mount_store
    mkdir -p "$MNT/runs/r/checkpoint-5"
    echo '{}' >"$MNT/runs/r/checkpoint-5/trainer_state.json"
    checkpoint safetensors "$MNT/runs/r/checkpoint-5/model.safetensors" 5000 1
    echo 123456 >"$MNT/runs/r/checkpoint-5/data.bin"
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/checkpoint-5
    python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.write(b"abc"); f.close()' "$MNT/runs/r/checkpoint-5/data.bin"
    equal "$(readlink "$MNT/branches/r/latest")" ../../.expfs/history/runs/r/checkpoint-5/1
    echo '{}' >"$MNT/runs/r/checkpoint-5/trainer_state.json"
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/checkpoint-5
}

@test "a checkpoint that lost a file in a subdirectory is not complete" {
    mount_store
    local n
    for n in 1 2; do
        mkdir -p "$MNT/runs/r/global_step$n/sub"
        checkpoint zip "$MNT/runs/r/global_step$n/a.pt" 5000 1$n
        checkpoint zip "$MNT/runs/r/global_step$n/sub/b.pt" 5000 2$n
        printf global_step$n >"$MNT/runs/r/latest"
        equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/global_step$n
    done
    rm "$MNT/runs/r/latest" "$MNT/runs/r/global_step2/sub/b.pt"
    [[ $(readlink "$MNT/branches/r/latest") != ../../runs/r/global_step2 ]]
}

@test "times beyond what the store can hold stop at its end and do not wrap" {
    mount_store
    touch "$D/late" "$D/early" # a file that is open to write has its times on the store's disk, which can hold less
    sync "$D"
    touch -d '2500-01-01 UTC' "$D/late"
    touch -d '1500-01-01 UTC' "$D/early"
    (($(stat -c %Y "$D/late") > 9000000000))
    (($(stat -c %Y "$D/early") < -9000000000))
}

@test "what is deleted cannot be opened by an old handle" {
    require_root
    mount_store
    python3 - "$D" <<'PY'
import ctypes, errno, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
d = sys.argv[1]
mount = os.open(d, os.O_RDONLY)
path = d + "/f"
open(path, "w").write("x")
handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
mount_id = ctypes.c_int()
assert libc.name_to_handle_at(-100, path.encode(), handle, ctypes.byref(mount_id), 0) == 0, os.strerror(ctypes.get_errno())
fd = libc.open_by_handle_at(mount, handle, os.O_RDONLY)
assert fd >= 0 and os.read(fd, 9) == b"x", os.strerror(ctypes.get_errno())
os.close(fd)
os.unlink(path)
assert libc.open_by_handle_at(mount, handle, os.O_RDONLY) < 0 and ctypes.get_errno() == errno.ESTALE
PY
}

@test "an xattr must have a name behind its namespace" {
    mount_store
    touch "$D/f"
    python3 - "$D/f" <<'PY'
import errno, os, sys
try: os.setxattr(sys.argv[1], "user.", b"1")
except OSError as e: assert e.errno == errno.EINVAL, e
else: raise SystemExit("user. was taken")
PY
}

@test "the name of a branch does not change when another run comes or goes" {
    mount_store
    mkdir "$MNT/runs/main" "$MNT/runs/runs.main"
    echo 1 >"$MNT/runs/main/step_1.pt"
    equal "$(readlink "$MNT/branches/runs.main/run")" ../../runs/main
    echo 2 >"$MNT/runs/runs.main/step_2.pt"
    equal "$(readlink "$MNT/branches/runs.main/run")" ../../runs/main
}

@test "a view shows no more than the mode of its directory does" {
    require_user
    mount_store -o allow_other
    mkdir -m 700 "$MNT/runs/secret"
    echo x >"$MNT/runs/secret/step_5.pt"
    equal "$(readlink "$MNT/branches/secret/latest")" ../../runs/secret/step_5.pt
    equal "$(errno_of "${AS_NOBODY[@]}" ls "$MNT/branches/secret")" "Permission denied"
    equal "$(errno_of "${AS_NOBODY[@]}" cat "$MNT/branches/secret/latest")" "Permission denied"
}

@test "a run 300 directories deep has its views" {
    mount_store
    mkdir "$MNT/runs/r"
    echo x >"$MNT/runs/r/step_1.pt"
    python3 - "$MNT/runs/r" <<'PY'
import os, sys
os.chdir(sys.argv[1])
for i in range(300):
    os.mkdir("d")
    os.chdir("d")
open("step_9.pt", "w").write("x")
PY
    [[ $(readlink "$MNT/branches/r/latest") == ../../runs/r/d/d/*/step_9.pt ]]
    equal "$(cat "$MNT/branches/r/latest")" x
    rm -r "$MNT/runs/r"
}

@test "files can be read after the store's disk has turned read-only" {
    require_loop
    loop_disk disk 64
    local device
    device=$(basename "$(findmnt -n -o SOURCE "$SCRATCH/disk")")
    mount -o remount,errors=remount-ro "$SCRATCH/disk"
    [[ -w /sys/fs/ext4/$device/trigger_fs_error ]] || skip "the kernel cannot be told to fail a file system"
    STORE=$SCRATCH/disk/store
    store_init
    mount_store
    echo content >"$D/a"
    wait_until is_synced
    sleep 3 # and the names
    echo x >"/sys/fs/ext4/$device/trigger_fs_error"
    equal "$(cat "$D/a")" content
    equal "$(errno_of mkdir "$D/new")" "Read-only file system"
    equal "$(errno_of touch "$D/b")" "Read-only file system"
    timeout 300 "$EXPFS" umount "$MNT" || true
    STORES=()
}

@test "an fsync for which a file of the store cannot be opened fails, and the next one is as good as ever" {
    mount_store
    echo before >"$D/before"
    sync "$D/before" "$D"
    echo content >"$D/a"
    local file
    file=$(find "$STORE/objects" -type f -newer "$D/before" -size 8c)
    [[ $(cat "$file") == content ]]
    mv "$file" "$file.away"
    mkdir "$file"
    equal "$(errno_of sync "$D")" "Is a directory"
    equal "$(errno_of sync "$D")" "Is a directory"
    echo more >"$D/b" # the keeper, too, may have tried meanwhile
    sync "$D/b"
    "$EXPFS" status "$MNT" --json | grep -q '"read_only": false'
    rmdir "$file"
    mv "$file.away" "$file"
    sync "$D"
    equal "$(cat "$D/a" "$D/b" | tr '\n' ' ')" "content more "
}

@test "a name that is replaced by rename over and over is in every listing" {
    mount_store
    timeout 300 python3 - "$D" <<'PY'
import os, sys, threading
d = sys.argv[1]
for i in range(500): open("%s/%03d" % (d, i), "w").close()
open(d + "/latest.pt", "w").write("0")
stop = False
def replace():
    n = 0
    while not stop:
        n += 1
        open(d + "/tmp", "w").write(str(n))
        os.rename(d + "/tmp", d + "/latest.pt")
t = threading.Thread(target=replace); t.start()
try:
    missing = sum("latest.pt" not in os.listdir(d) for _ in range(500))
finally:
    stop = True; t.join()
assert missing == 0, "missing in %d of 500 listings" % missing
PY
}

@test "names that are made longer on a full disk leave what deleting needs" {
    require_loop
    loop_disk small 60
    STORE=$SCRATCH/small/store
    store_init
    mount_store
    python3 - "$D" <<'PY'
import errno, os, sys
d = sys.argv[1]
for i in range(3000): open("%s/%04d" % (d, i), "w").close()
try:
    with open(d + "/filler", "wb") as f:
        while True: f.write(b"x" * 65536)
except OSError as e: assert e.errno == errno.ENOSPC, e
for k in range(40):
    for i in range(3000):
        try: os.rename("%s/%04d" % (d, i), "%s/%04d%s" % (d, i, "y" * 240)); os.rename("%s/%04d%s" % (d, i, "y" * 240), "%s/%04d" % (d, i))
        except OSError as e:
            assert e.errno == errno.ENOSPC, e
for name in os.listdir(d)[:300]: os.unlink(d + "/" + name)
PY
}

@test "the checkpoint whose close ended last is latest, not the one whose close began last" {
    mount_store
    mkdir -p "$MNT/runs/r"
    python3 - "$MNT/runs/r" <<'PY'
import os, sys, threading, time
d = sys.argv[1]
block = os.urandom(1 << 20)
def fill(path, n, end=b""):
    f = open(path, "wb")
    for _ in range(n): f.write(block)
    f.write(end)
    return f
fill(d + "/other.bin", 1500).close()
big, small = fill(d + "/step_3.bin", 1500), fill(d + "/step_2.bin", 1)
ended = {}
def close(name, f): f.close(); ended[name] = time.monotonic()
t = threading.Thread(target=close, args=("step_3.bin", big)); t.start()
time.sleep(0.02)
close("step_2.bin", small); t.join()
last = max(ended, key=ended.get)
got = os.path.basename(os.readlink(d + "/.expfs/latest"))
assert got == last, (got, ended)
PY
}

@test "a checkpoint of one run is not judged by the files of another" {
    mount_store
    mkdir -p "$MNT/runs/a/checkpoint-1" "$MNT/runs/b/checkpoint-5"
    checkpoint zip "$MNT/runs/a/checkpoint-1/model.pt" 5000 1
    checkpoint zip "$MNT/runs/a/checkpoint-1/optimizer.pt" 5000 2
    checkpoint zip "$MNT/runs/b/checkpoint-5/model.pt" 5000 3
    sleep 10.5
    equal "$(readlink "$MNT/.expfs/latest")" ../runs/b/checkpoint-5
    equal "$(readlink "$MNT/branches/b/latest")" ../../runs/b/checkpoint-5
}

@test "a file that was appended to and then renamed to a checkpoint's name is complete at once" {
    mount_store
    mkdir -p "$MNT/runs/r"
    checkpoint zip "$SCRATCH/whole" 50000 1
    head -c 30000 "$SCRATCH/whole" >"$MNT/runs/r/w.tmp"
    tail -c +30001 "$SCRATCH/whole" >>"$MNT/runs/r/w.tmp"
    mv "$MNT/runs/r/w.tmp" "$MNT/runs/r/step_2.pt"
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/step_2.pt
}

@test "a checkpoint with gigabytes of holes is complete when it is closed, and while it is written it is not" {
    mount_store
    mkdir -p "$MNT/runs/r"
    exec 7>"$MNT/runs/r/step_1.bin"
    truncate -s 5G "$MNT/runs/r/step_1.bin"
    echo begin >&7
    not test -e "$MNT/branches/r/latest"
    exec 7>&-
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/step_1.bin
    background python3 -c 'import os, sys, time; fd = os.open(sys.argv[1], os.O_RDWR); os.write(fd, b"again"); open(sys.argv[2], "w"); time.sleep(60)' \
        "$MNT/runs/r/step_1.bin" "$SCRATCH/written"
    wait_until test -e "$SCRATCH/written"
    kill_daemon
    kill "$BG"
    mount_store
    not test -e "$MNT/branches/r/latest"
}

@test "a checkpoint whose save the disk refused is not complete, and one that it took later is" {
    require_loop
    loop_disk small 60
    STORE=$SCRATCH/small/store
    store_init
    mount_store
    mkdir -p "$MNT/runs/r"
    bytes "$MNT/filler" 20000000 1
    python3 - "$MNT" <<'PY'
import errno, os, sys
m = sys.argv[1]
def save(name, again):
    fd = os.open(m + "/runs/r/" + name, os.O_CREAT | os.O_WRONLY)
    data, done = os.urandom(35000000), 0
    while done < len(data):
        try: done += os.write(fd, data[done:done + 1000000])
        except OSError as e:
            assert e.errno == errno.ENOSPC, e
            if not again: break
            os.unlink(m + "/filler"); os.unlink(m + "/runs/r/step_1.bin"); again = False
    os.close(fd)
save("step_1.bin", False)
assert not os.path.lexists(m + "/branches/r/latest")
save("step_2.bin", True)
assert not os.path.exists(m + "/runs/r/step_1.bin")
assert os.path.basename(os.readlink(m + "/branches/r/latest")) == "step_2.bin"
PY
}

@test "two runs that give one name make one branch, of the one that has something to show" {
    printf 'runs: ["/runs/*", "/exp/*"]\n' >"$STORE/config.yaml"
    mount_store
    mkdir -p "$MNT/runs/exp.x" "$MNT/exp/x"
    bytes "$MNT/exp/x/step_1.bin" 100 1
    equal "$(ls "$MNT/branches")" exp.x
    equal "$(readlink "$MNT/branches/exp.x/latest")" ../../exp/x/step_1.bin
    bytes "$MNT/runs/exp.x/step_7.bin" 100 2
    equal "$(ls "$MNT/branches")" exp.x
    equal "$(readlink "$MNT/branches/exp.x/latest")" ../../runs/exp.x/step_7.bin
}

@test "runs that save faster than every ten seconds have a latest after the second save" {
    mount_store
    local n
    for n in 1 2 3; do
        mkdir -p "$MNT/runs/r/checkpoint-$n"
        checkpoint zip "$MNT/runs/r/checkpoint-$n/model.pt" 5000 1$n
        checkpoint zip "$MNT/runs/r/checkpoint-$n/optimizer.pt" 5000 2$n
        ((n == 1)) || equal "$(readlink "$MNT/branches/r/latest")" "../../runs/r/checkpoint-$n"
        ((n > 1)) || "$EXPFS" status "$MNT" 3>&- | grep '/runs/r/checkpoint-1 is not complete: may not have all its files yet'
    done
}

@test "a mount that is refused says why, and a store that is no store what it is" {
    mount_store
    umount_store
    touch "$SCRATCH/file"
    refused 3 "$EXPFS" mount "$SCRATCH/file" "$MNT"
    [[ $MESSAGE == *"/file: is not a directory"* ]]
    mv "$STORE/expfs.db" "$SCRATCH/db"
    refused 3 "$EXPFS" mount "$STORE" "$MNT"
    [[ $MESSAGE == *"/store: the store is damaged; run: expfs fsck"* ]]
    mv "$SCRATCH/db" "$STORE/expfs.db"
}

@test "status names the torn file of a checkpoint and what its format says, each time" {
    mount_store
    mkdir -p "$MNT/runs/r/checkpoint-1"
    checkpoint zip "$MNT/runs/r/checkpoint-1/a.pt" 5000 1
    checkpoint torn-zip "$MNT/runs/r/checkpoint-1/b.pt" 5000 2
    local i
    for i in 1 2; do
        "$EXPFS" status "$MNT" 3>&- | grep 'torn: /runs/r/checkpoint-1 is not complete: b.pt: no zip end record'
    done
}
