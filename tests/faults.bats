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

@test "whichever call to the disk fails, the error comes through and nothing else changes" {
    local each=(--each 3)
    long && each=()
    mkdir "$SCRATCH/faults"
    python3 "$BATS_TEST_DIRNAME/crash/faulter.py" --expfs "$EXPFS" --dir "$SCRATCH/faults" "${each[@]}" 3>&-
}
