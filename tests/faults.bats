# The store's disk fails: at each call that an operation makes to it the error comes through, nothing else changes,
# and no sync is claimed that was not done. tests/crash/faulter.py says what is checked.

load lib

setup() {
    [[ $("$EXPFS" version) == *"fault injection"* ]] || skip "the program is built without --enable-fault-injection"
    scratch
}
teardown() { cleanup; }

@test "whichever call to the disk fails, the error comes through and nothing else changes" {
    local each=(--each 3)
    long && each=()
    mkdir "$SCRATCH/faults"
    python3 "$BATS_TEST_DIRNAME/crash/faulter.py" --expfs "$EXPFS" --dir "$SCRATCH/faults" "${each[@]}" 3>&-
}
