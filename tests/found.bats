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
        timeout 20 ls "$MNT" >/dev/null 2>&1 || (($? != 124))
    done
    mount_store
    echo x >"$D/f"
}

@test "renaming each entry while listing comes to an end" {
    mount_store
    timeout 60 python3 - "$D" <<'PY'
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

@test "a file of a checkpoint that is changed in place and closed is complete again" {
    mount_store
    mkdir -p "$MNT/runs/r/checkpoint-5"
    echo '{}' >"$MNT/runs/r/checkpoint-5/trainer_state.json"
    checkpoint safetensors "$MNT/runs/r/checkpoint-5/model.safetensors" 5000 1
    echo 123456 >"$MNT/runs/r/checkpoint-5/data.bin"
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/checkpoint-5
    python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.write(b"abc"); f.close()' "$MNT/runs/r/checkpoint-5/data.bin"
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

@test "a run 300 directories deep answers, and its deep part is not looked at" {
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
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/step_1.pt
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
    for i in 1 2 3 4 5 6; do sleep 1; done # until it is synced
    echo x >"/sys/fs/ext4/$device/trigger_fs_error"
    equal "$(cat "$D/a")" content
    equal "$(errno_of mkdir "$D/new")" "Read-only file system"
    equal "$(errno_of touch "$D/b")" "Read-only file system"
    timeout 60 "$EXPFS" umount "$MNT" || true
    STORES=()
}
