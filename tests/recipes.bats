# What doc/recipes says of mounts in containers and over NFS, without these.

load lib

setup() {
    require_root
    scratch
    mkdir "$SCRATCH/host"
    mount --bind "$SCRATCH/host" "$SCRATCH/host"
    LOOPS+=("$SCRATCH/host")
    mount --make-shared "$SCRATCH/host"
    MNT=$SCRATCH/host/mnt
    D=$MNT/d
    mkdir "$MNT" "$SCRATCH/in"
    store_init
}

teardown() { cleanup; }

# container SOURCE PROPAGATION: a process that has SOURCE on SCRATCH/in, as a container has a volume; its pid is in BG
container() {
    background unshare -m --propagation slave sh -c 'mount --rbind "$1" "$2" && mount --make-"$3" "$2" && exec sleep 600' \
        sh "$1" "$SCRATCH/in" "$2"
    wait_until is_sleeping "$BG"
}

is_sleeping() { [[ $(cat "/proc/$1/comm") == sleep ]]; }

inside() { nsenter -t "$1" -m "${@:2}"; }

dead() { inside "$@" 2>&1 | grep -q "Transport endpoint is not connected"; }

@test "a container with the directory above the mount point as a slave sees later mounts, another an empty directory" {
    container "$SCRATCH/host" rslave
    local slave=$BG
    container "$SCRATCH/host" rprivate
    mount_store
    inside "$slave" ls "$SCRATCH/in/mnt/branches"
    [[ -z $(inside "$BG" ls -A "$SCRATCH/in/mnt") ]]
    umount_store
    [[ -z $(inside "$slave" ls -A "$SCRATCH/in/mnt") ]]
}

@test "after the daemon was killed and the store mounted again it sees the new mount, and one with the mount itself a dead one" {
    mount_store
    container "$SCRATCH/host" rslave
    local slave=$BG
    container "$MNT" rslave
    inside "$BG" ls "$SCRATCH/in/branches"
    kill_daemon
    mount_store
    inside "$slave" ls "$SCRATCH/in/mnt/branches"
    dead "$BG" ls "$SCRATCH/in"
}

@test "what a container mounts in a shared volume is there on the host and in other containers" {
    container "$SCRATCH/host" rslave
    unshare -m --propagation unchanged "$EXPFS" mount "$STORE" "$MNT" 3>&-
    ls "$MNT/branches"
    inside "$BG" ls "$SCRATCH/in/mnt/branches"
}

@test "below a mount point that chattr guards nobody writes, and a store can be mounted on it" {
    chattr +i "$MNT" 2>/dev/null || skip "the file system knows no chattr +i"
    not touch "$MNT/file"
    mount_store
    touch "$MNT/file"
    umount_store
    chattr -i "$MNT"
}

# handles DIR FILE COMMAND: of FILE, the directory of a view and the file behind a link there, as a server of NFS has them;
# prints what of each they open, now and after the command
handles() {
    python3 - "$@" 3>&- <<'PY'
import ctypes, errno, os, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, AT_SYMLINK_FOLLOW = -100, 0x400

class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint), ("type", ctypes.c_int), ("content", ctypes.c_ubyte * 128)]

def of(path):
    handle, mount = Handle(128), ctypes.c_int()
    if libc.name_to_handle_at(AT_FDCWD, path.encode(), ctypes.byref(handle), ctypes.byref(mount), AT_SYMLINK_FOLLOW):
        raise OSError(ctypes.get_errno(), path)
    return handle

def opened(top, handle):
    fd = libc.open_by_handle_at(top, ctypes.byref(handle), os.O_RDONLY)
    if fd < 0:
        return errno.errorcode[ctypes.get_errno()]
    ino = os.fstat(fd).st_ino
    os.close(fd)
    return ino

top, file, command = sys.argv[1:]
paths = [f"{top}/{path}" for path in (file, "branches/r", "branches/r/latest")]
inos = [os.stat(path).st_ino for path in paths]
handles = [of(path) for path in paths]
for again in False, True:
    if again:
        subprocess.run(command, shell=True, check=True)
    fd = os.open(top, os.O_RDONLY)
    print(*("same" if (found := opened(fd, handle)) == ino else found for handle, ino in zip(handles, inos)))
    os.close(fd)
PY
}

@test "handles of files hold over a remount, as servers of NFS need it, and those of a view's directory are stale then" {
    mount_store
    mkdir "$MNT/runs/r"
    printf x >"$MNT/runs/r/step_1.bin"
    printf x >"$MNT/runs/r/step_2.bin"
    run handles "$MNT" runs/r/step_1.bin "$EXPFS umount $MNT && $EXPFS mount $STORE $MNT"
    equal "$status" 0
    equal "${lines[0]}" "same same same"
    equal "${lines[1]}" "same ESTALE same"
}

# file_of PAGE NAME: what the page prints as the file of that name
file_of() { sed -n "/^\`\`\`[a-z]* $2\$/,/^\`\`\`\$/p" "$EXPFS_SRCDIR/doc/recipes/$1.md" | sed '1d;$d'; }

served() {
    python3 -c 'import sys, urllib.request as u; print(u.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics").read().decode())' \
        "$1" >"$SCRATCH/served" 2>/dev/null
}

@test "metrics are written for node_exporter, and served, as the recipe for Prometheus prints it" {
    local port
    mount_store
    file_of prometheus export-metrics >"$SCRATCH/export-metrics"
    file_of prometheus serve-metrics.py >"$SCRATCH/serve-metrics.py"
    sh "$SCRATCH/export-metrics" "$MNT" "$SCRATCH/expfs.prom"
    grep -q '^# TYPE expfs_' "$SCRATCH/expfs.prom"
    [[ ! -e $SCRATCH/expfs.prom.new ]]
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    background python3 "$SCRATCH/serve-metrics.py" "$MNT" "$port" 2>/dev/null
    wait_until served "$port"
    equal "$(grep '^# TYPE' "$SCRATCH/served")" "$(grep '^# TYPE' "$SCRATCH/expfs.prom")"
}
