# What power.bats and power_experiments.bats share: a store on a disk of its own, and its failing.

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

# The daemon is gone, and the disk has what it had when it failed.
disk_back() {
    kill_daemon
    fusermount3 -uz "$MNT"
    wait_until umount "$SCRATCH/disk"
    mount -o loop "$SCRATCH/disk.img" "$SCRATCH/disk"
}
