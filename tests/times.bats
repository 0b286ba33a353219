# Times are what was set, or when it happened, to the nanosecond; nothing in the background moves them.

load lib

setup() { scratch; store_init; mount_store; }
teardown() { cleanup; }

@test "every check of the program below is run" { all_checks_run times; }

@test "times are kept to the nanosecond, from 1902 to 2100, and UTIME_OMIT leaves the other alone" { check times exact; }
@test "a time set on an open file stays after its close" { check times kept_over_close; }
@test "each operation on a file moves the times that it moves on a disk" { check times of_files; }
@test "each operation in a directory moves the times that it moves on a disk" { check times of_directories; }
@test "what is made has the time of its making" { check times born; }
@test "a store through a map moves mtime" { check times by_map; }
@test "checkpoint directories are ordered by the time when they were made" { check times order; }

@test "times and their order are the same after a remount and after reading all" {
    check times order
    touch -d '1901-12-31 00:00:00.25' "$D/checkpoint-1000/model"
    touch -d '2099-12-31 00:00:00.75' "$D/checkpoint-2000/model"
    local before
    before=$(find "$D" -printf '%p %T@ %C@\n' | sort)
    remount
    cat "$D"/*/model >/dev/null
    equal "$(find "$D" -printf '%p %T@ %C@\n' | sort)" "$before"
    equal "$(ls -td "$D"/checkpoint-* | xargs -n 1 basename | tr '\n' ' ')" "checkpoint-3000 checkpoint-2000 checkpoint-1000 "
    echo more >"$D/checkpoint-1000/optimizer"
    equal "$(ls -td "$D"/checkpoint-* | head -n 1)" "$D/checkpoint-1000"
}

@test "cp -p and a second rsync find nothing to do" {
    require_command rsync
    mkdir "$D/a"
    for i in 1 2 3; do bytes "$D/a/$i" 10000 "$i"; done
    touch -d '2020-02-02 02:02:02.020202020' "$D/a/2"
    rsync -a "$D/a/" "$D/b/"
    equal "$(rsync -ai "$D/a/" "$D/b/")" ""
    cp -rp "$D/a" "$D/c"
    equal "$(rsync -ai "$D/a/" "$D/c/")" ""
    equal "$(rsync -aic "$D/a/" "$D/c/")" ""
}
