# Power cuts at random, under load (tests/crash/cutter.py).

load lib

setup() {
    scratch
    require_loop
    require_command xfs_io mkfs.xfs xxh128sum
}
teardown() { cleanup; }

CUTTER=$BATS_TEST_DIRNAME/crash/cutter.py

@test "the checker of the next test sees every kind of loss, and lets pass what may be lost" {
    mkdir "$SCRATCH/self"
    python3 "$CUTTER" --self-test --dir "$SCRATCH/self"
}

@test "after power cuts at random under load all that was promised is there, and the store is sound" {
    local rounds=10
    long && rounds=120
    mkdir "$SCRATCH/cuts"
    python3 "$CUTTER" --expfs "$EXPFS" --dir "$SCRATCH/cuts" --rounds $rounds ${EXPFS_CRASH_SEED:+--seed "$EXPFS_CRASH_SEED"} 3>&-
}
