# The store's disk fails: at each call that an operation makes to it the error comes through, nothing else changes,
# and no sync is claimed that was not done. tests/crash/faulter.py says what is checked.

load lib

setup() {
    [[ $("$EXPFS" version) == *"fault injection"* ]] || skip "the program is built without --enable-fault-injection"
    scratch
}
teardown() { cleanup; }

@test "a checkpoint that cannot be judged for want of memory or descriptors is judged when there are some" {
    local seed
    head -c 128 /dev/zero >"$SCRATCH/plan"
    store_init
    EXPFS_FAULTS=$SCRATCH/plan mount_store
    for seed in 12 23 24; do checkpoint zip "$SCRATCH/$seed" 100000 $seed; done
    python3 - "$SCRATCH" "$D" 3>&- <<'PY'
import errno, os, struct, sys
plan = os.open(sys.argv[1] + "/plan", os.O_RDWR)
def latest():
    try:
        return os.path.basename(os.readlink(sys.argv[2] + "/.expfs/latest"))
    except OSError as e:
        return e.errno
for e in errno.ENOMEM, errno.ENFILE, errno.EMFILE:
    name = f"step_{e}.pt"
    data = open(f"{sys.argv[1]}/{e}", "rb").read()
    with open(f"{sys.argv[2]}/{name}", "wb") as f:
        f.write(data)
    os.pwrite(plan, struct.pack("6i", 1, e, 1, 1, 0, 0), 0)
    assert latest() != name, (name, latest())
    assert struct.unpack("6i", os.pread(plan, 24, 0))[4] > 0, "no fault was met"
    os.pwrite(plan, struct.pack("6i", 0, 0, 0, 0, 0, 0), 0)
    assert latest() == name, (name, latest())
PY
}

@test "a version whose object is replaced between its look-up and its opening is read" {
    head -c 128 /dev/zero >"$SCRATCH/plan"
    store_init
    EXPFS_FAULTS=$SCRATCH/plan mount_store
    checkpoint zip "$D/last.pt" 100000 1
    cp "$D/last.pt" "$SCRATCH/1"
    checkpoint zip "$D/last.pt" 100000 2
    test -e "$D/.expfs/history/last.pt/1.pt"
    umount_store
    EXPFS_FAULTS=$SCRATCH/plan mount_store # no object is open
    python3 - "$SCRATCH" "$D/.expfs/history/last.pt/1.pt" 3>&- <<'PY'
import errno, os, struct, sys
plan = os.open(sys.argv[1] + "/plan", os.O_RDWR)
os.stat(sys.argv[2])
os.pwrite(plan, struct.pack("6i", 1, errno.ENOENT, 0, 1, 0, 0), 0)  # the next one is not there
assert open(sys.argv[2], "rb").read() == open(sys.argv[1] + "/1", "rb").read()
where = os.pread(plan, 128, 0)[24:].rstrip(b"\0").decode()
assert where.startswith("store/object.c") and where.endswith(" openat"), where
PY
}

@test "a selection whose record cannot be synced turns the mount read-only, which then takes no other, and no decision" {
    head -c 128 /dev/zero >"$SCRATCH/plan"
    arm() { python3 -c 'import struct, sys; open(sys.argv[1], "r+b").write(struct.pack("6i", *map(int, sys.argv[2:]), 1, 1, 0, 0))' "$SCRATCH/plan" "$@"; }
    store_init
    EXPFS_FAULTS=$SCRATCH/plan mount_store
    checkpoint zip "$D/step_1.pt" 100000 1
    "$EXPFS" select "$D/step_1.pt" --name first >/dev/null
    arm 4 5 # syncs, EIO
    refused 3 "$EXPFS" select "$D/step_1.pt" --name second
    [[ $MESSAGE == *"Input/output error"* ]] || fail "$MESSAGE"
    arm 0 0
    "$EXPFS" status "$MNT" --json | grep -q '"read_only": true'
    refused 3 "$EXPFS" select "$D/step_1.pt" --name third
    [[ $MESSAGE == *"is read-only"*"expfs status" ]] || fail "$MESSAGE"
    refused 3 "$EXPFS" decide first ACCEPT --by me --store "$STORE"
    [[ $MESSAGE == *"is read-only"*"expfs status" ]] || fail "$MESSAGE"
}

@test "whichever call to the disk fails, the error comes through and nothing else changes" {
    local each=(--each 3)
    long && each=()
    mkdir "$SCRATCH/faults"
    python3 "$BATS_TEST_DIRNAME/crash/faulter.py" --expfs "$EXPFS" --dir "$SCRATCH/faults" "${each[@]}" 3>&-
}
