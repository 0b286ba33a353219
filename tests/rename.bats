# Renaming is how programs commit: atomic, over anything, with anything open, and never a copy.

load lib

setup() { scratch; store_init; mount_store; }
teardown() { cleanup; }

@test "every check of the programs below is run" {
    all_checks_run rename
    all_checks_run parallel
}

@test "a directory is renamed onto nothing or an empty one, and every other case has its errno" { check rename directories; }
@test "renaming over a file leaves its open descriptors the old bytes" { check rename over; }
@test "RENAME_NOREPLACE and RENAME_EXCHANGE work on files and directories" { check rename with_flags; }
@test "what moves between directories keeps its inode, and both parents count right" { check rename across; }
@test "a directory that is committed by rename is always under one name with all entries" { check rename committing; }
@test "a name that is replaced is never missing and always whole" { check rename replacing; }
@test "signals lose no rename and leave no temporary" { check rename interrupted; }

@test "sixteen ranks save shards, one commits by rename, and all see the whole step" { check parallel sharded_save; }
@test "eight processes that remove one directory meet nothing but ENOENT" { check parallel rotation; }
@test "twelve processes make one path together" { check parallel same_path; }
@test "a crowd on eight names sees only the errnos of a disk" { check parallel crowd; }

@test "renaming a directory of many files copies nothing" {
    mkdir "$D/step.incomplete"
    for i in $(seq 20); do bytes "$D/step.incomplete/shard-$i" 1000000 "$i"; done
    sync -f "$MNT"
    local pid before after
    pid=$(daemon_pid)
    before=$(awk '/^write_bytes/ { print $2 }' "/proc/$pid/io")
    mv "$D/step.incomplete" "$D/step"
    after=$(awk '/^write_bytes/ { print $2 }' "/proc/$pid/io")
    ((after - before < 1000000)) || fail "the rename wrote $((after - before)) bytes"
    equal "$(find "$D/step" -type f | wc -l)" 20
}

@test "every top directory can be renamed from and to, never with EXDEV" {
    local from to dirs=("$MNT" "$D" "$MNT/runs/r" "$MNT/branches" "$MNT/data" "$MNT/models/0123abcd" "$MNT/checkpoints/models")
    mkdir -p "${dirs[@]}"
    for from in "${dirs[@]}"; do
        for to in "${dirs[@]}"; do
            echo "$from $to" >"$from/travels"
            mv -T "$from/travels" "$to/arrived"
            equal "$(cat "$to/arrived")" "$from $to"
            ln "$to/arrived" "$from/linked"
            equal "$(stat -c %h "$from/linked")" 2
            rm "$from/linked" "$to/arrived"
        done
    done
}
