# What power.bats, power_synced.bats and power_experiments.bats share: a store on a disk of its own, and its failing.

load lib

set_up() {
    scratch
    require_loop
    require_command xfs_io mkfs.xfs
    loop_disk disk 400
    STORE=$SCRATCH/disk/store
    store_init
    mount_store
    echo settled >"$D/other"
    sync_all
}
setup() { set_up; }
teardown() { cleanup; }

# Everything that was written until now is on the disk.
sync_all() { sync "$D"; }

# The database's log is, but no content: the worst moment for the power to fail.
sync_names() { sync "$D/other"; }

# The disk forgets what was not synced, the daemon and the disk are gone, and both are there again.
power_cut() {
    xfs_io -x -c shutdown "$SCRATCH/disk"
    disk_back
    find "$STORE/objects" -type f -exec sha256sum {} + | cut -c -64 >"$SCRATCH/on_disk"
    mount_store
}

# No mount namespace that was made meanwhile holds the disk of this image, which would be the failed one again.
is_let_go() { [[ -z $(losetup -j "$1") ]]; }

# The daemon is gone, and the disk has what it had when it failed.
disk_back() {
    kill_daemon
    fusermount3 -uz "$MNT"
    wait_until umount "$SCRATCH/disk"
    wait_until is_let_go "$SCRATCH/disk.img"
    mount -o loop "$SCRATCH/disk.img" "$SCRATCH/disk"
}

# came PATH FILE: the disk had the bytes of FILE when the power failed, for the keeper was faster than the test, as on a
# machine that stands still for some seconds: then PATH must have them, and there is nothing more to see.
came() {
    grep -q "$(sha256sum <"$2" | cut -c -64)" "$SCRATCH/on_disk" || return 1
    cmp "$1" "$2"
}

came_bytes() { # PATH SIZE SEED
    bytes "$SCRATCH/new" "$2" "$3"
    came "$1" "$SCRATCH/new"
}

is_bytes() { # PATH SIZE SEED
    bytes "$SCRATCH/wanted" "$2" "$3"
    cmp "$SCRATCH/wanted" "$1"
}

# Runs the Python program that it is given, in D. fail() in it: names are on the disk, contents are not, and the disk
# takes no more.
program() {
    python3 - "$D" "$SCRATCH/disk" <<EOF
import fcntl, os, struct, subprocess, sys, time
os.chdir(sys.argv[1])
def sync(path):
    fd = os.open(path, os.O_RDONLY); os.fsync(fd); os.close(fd)
def fail():
    sync("other")
    fcntl.ioctl(os.open(sys.argv[2], os.O_RDONLY), 0x8004587d, struct.pack("I", 2))
$(cat)
EOF
}

is_only() { # PATH SIZE LETTER
    equal "$(stat -c %s "$1") $(tr -d "$3" <"$1" | wc -c)" "$2 0" "size of $1, and bytes that are not $3"
}
