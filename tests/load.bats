# Many programs at once, for long.

load lib

setup() { scratch; }
teardown() { cleanup; }

@test "64 processes that create, append, rename, map, lock, list and delete find what they wrote, now and after a remount" {
    local seconds=10
    long && seconds=600
    mkdir "$SCRATCH/crowd"
    STORES+=("$SCRATCH/crowd/store")
    python3 "$BATS_TEST_DIRNAME/crash/crowd.py" --expfs "$EXPFS" --dir "$SCRATCH/crowd" --seconds $seconds 3>&-
}
