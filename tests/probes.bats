# The small probes that are kept beside the project; skipped where they are not.

load lib

setup() {
    scratch
    PROBES=$EXPFS_SHARED/probes
    [[ -d $PROBES ]] || skip "no probes: EXPFS_SHARED is no directory that has them"
    store_init
    mount_store
}
teardown() { cleanup; }

@test "baseline_check.py passes all its probes" {
    run python3 "$PROBES/baseline_check.py" "$D" 3>&-
    echo "$output"
    [[ ${lines[-1]} == "38 passed, 0 failed" ]]
}

@test "race.py sees only whole files and links" {
    run python3 "$PROBES/race.py" "$D" 6 3>&-
    echo "$output"
    [[ $output =~ ^[0-9]+\ swaps\ \{[^}]*\}$ ]]
    equal "$(grep -Eo "'[^']+'" <<<"$output" | sort | tr '\n' ' ')" "'file ok' 'sym ok' "
}

@test "flockrace.py is never refused while six writers load the mount" {
    local i
    for i in 1 2 3 4 5 6; do
        background python3 -c '
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
while True:
    for n in range(100): os.pwrite(fd, bytes(65536), n * 65536)' "$D/load-$i"
    done
    run python3 "$PROBES/flockrace.py" "$D" 3>&-
    echo "$output"
    equal "$output" "close-then-flock refused 0 of 3000"
}

@test "lockwait.py with 64 waiters hangs nowhere" {
    run python3 "$PROBES/lockwait.py" "$D" 64 3>&-
    echo "$output"
    equal "$status" 0
    [[ $output != *HANG* ]]
    equal "$(grep -c 'rc 0' <<<"$output")" 2
    equal "${lines[-1]}" "64 waiters: still blocked 0"
}

@test "selfsave.py gives what a local disk gives" {
    mkdir "$SCRATCH/disk"
    python3 "$PROBES/selfsave.py" "$SCRATCH/disk" >"$SCRATCH/of-disk" 2>/dev/null
    python3 "$PROBES/selfsave.py" "$D" >"$SCRATCH/of-mount" 2>/dev/null
    diff "$SCRATCH/of-disk" "$SCRATCH/of-mount"
}

@test "excl_sig loses and doubles nothing under signals, restarted or not" {
    require_command gcc
    gcc -O2 -w -o "$SCRATCH/excl_sig" "$PROBES/excl_sig.c"
    local restart
    for restart in 0 1; do
        run timeout 300 "$SCRATCH/excl_sig" "$D" $restart 3>&-
        echo "$output"
        equal "$status" 0
        [[ $output == *" EEXIST 0 EINTR 0 other 0 | rename fail 0 EINTR 0 | short write 0 | unlink fail 0" ]]
    done
    equal "$(ls -A "$D")" ""
}
