# expfs export --watch: pass after pass.

load export

# watch [OPTION…]: begins one, whose output is in watch.out and messages in watch.err; WATCH is its process
watch() {
    background "$EXPFS" export "$R" "$X" --watch --json "$@" >"$SCRATCH/watch.out" 2>"$SCRATCH/watch.err"
    WATCH=$BG
}

# ends WANTED: the watch ends so
ends() {
    local status=0
    wait_until no_process "$WATCH"
    wait "$WATCH" || status=$?
    equal "$status" "$1" "exit status of the watch ($(cat "$SCRATCH/watch.err"))"
}

passes() { equal "$(wc -l <"$SCRATCH/watch.out")" "$1" "passes" 2>/dev/null; }
is_exported() { cmp -s "$X/$1" "$R/$2"; }

@test "a watch follows the run, one pass a change" {
    two
    watch --every 1s
    wait_until is_exported latest.pt step_2.pt
    wait_until passes 1
    save step_3.pt 3
    wait_until is_exported latest.pt step_3.pt
    sleep 2.5
    passes 2 || fail "$(cat "$SCRATCH/watch.out")"
    kill "$WATCH"
    ends 0
    passes 2
}

@test "a watch tells of each pass when it was, and of which step" {
    local at='[0-2][0-9]:[0-5][0-9]:[0-5][0-9]'
    two
    background "$EXPFS" export "$R" "$X" --watch >"$SCRATCH/text"
    wait_until grep -q " written to " "$SCRATCH/text"
    kill "$BG"
    wait_until no_process "$BG"
    equal "$(grep -cE "^$at (latest.pt step 2|best.pt step 1): written, |^$at .* written to " "$SCRATCH/text")" 3
    rm -r "$X"
    watch
    wait_until passes 1
    kill "$WATCH"
    ends 0
    python3 -c 'import datetime, json, sys
answer = json.loads(sys.argv[1])
datetime.datetime.fromisoformat(answer["time"][:19])
assert answer["latest"]["step"] == 2' "$(cat "$SCRATCH/watch.out")"
}

@test "steps between are skipped with --every-steps" {
    save step_10.pt 10
    watch --every-steps 20
    wait_until is_exported latest.pt step_10.pt
    save step_20.pt 20
    sleep 1.5
    is_exported latest.pt step_10.pt
    save step_31.pt 31
    wait_until is_exported latest.pt step_31.pt
    kill -INT "$WATCH"
    ends 0
    passes 2
}

@test "a signal makes a last pass where something is new" {
    two
    watch
    wait_until is_exported latest.pt step_2.pt
    save step_3.pt 3
    kill -TERM "$WATCH"
    ends 0
    is_exported latest.pt step_3.pt
}

@test "a watch that finds nothing yet waits for the first checkpoint" {
    echo text >"$R/config.yaml"
    watch --every 1s
    wait_until grep -q "r: waiting for its first checkpoint" "$SCRATCH/watch.err"
    sleep 1
    equal "$(wc -l <"$SCRATCH/watch.err")" 1
    save step_1.pt 1
    wait_until is_exported latest.pt step_1.pt
    kill "$WATCH"
    ends 0
}

@test "a watch with more files takes these along as they grow, and tells only of what it did" {
    save step_1.pt 1
    echo one >"$R/train.log"
    watch --every 1s --files log
    wait_until is_exported train.log train.log
    sleep 2
    passes 1 || fail "$(cat "$SCRATCH/watch.out")"
    echo two >>"$R/train.log"
    wait_until is_exported train.log train.log
    kill "$WATCH"
    ends 0
}

@test "a watch tells once of what is in the folder and not ours, and ends with the status of that" {
    save step_1.pt 1
    echo one >"$R/train.log"
    mkdir "$X"
    echo theirs >"$X/best.pt"
    watch --every 1s --files log
    wait_until is_exported latest.pt step_1.pt
    sleep 2.5
    passes 1 || fail "$(cat "$SCRATCH/watch.out")"
    equal "$(wc -l <"$SCRATCH/watch.err")" 1
    kill "$WATCH"
    ends 3
}

@test "a watch ends, and says so, when its run is removed" {
    two
    cp "$R/step_2.pt" "$SCRATCH/two"
    watch --every 1s
    wait_until is_exported latest.pt step_2.pt
    rm -r "$R"
    ends 0
    cmp "$X/latest.pt" "$SCRATCH/two"
    [[ $(cat "$SCRATCH/watch.err") == *"r: its run was removed"* ]] || fail "$(cat "$SCRATCH/watch.err")"
}

@test "a watch does not keep the mount busy, and ends when it is gone" {
    two
    watch
    wait_until is_exported latest.pt step_2.pt
    umount_store
    ends 3
    [[ $(cat "$SCRATCH/watch.err") == *"is mounted no more"* ]] || fail "$(cat "$SCRATCH/watch.err")"
    refused 3 "$EXPFS" export r "$X" --store "$STORE" --watch
}

@test "a full folder is tried again, told once, and the training goes on" {
    require_root
    mkdir "$X"
    mount -t tmpfs -o size=1m none "$X"
    LOOPS+=("$X")
    save step_1.pt 1 200000
    watch --every 1s
    wait_until is_exported latest.pt step_1.pt
    save step_2.pt 2 1500000
    wait_until grep -q 'tried again' "$SCRATCH/watch.err"
    sleep 3
    is_exported latest.pt step_1.pt
    equal "$(wc -l <"$SCRATCH/watch.err")" 2
    mount -o remount,size=8m "$X"
    wait_until is_exported latest.pt step_2.pt
    wait_until grep -q 'takes files again' "$SCRATCH/watch.err"
    kill "$WATCH"
    ends 0
    equal "$(wc -l <"$SCRATCH/watch.err")" 3
    holds latest.pt
}

@test "a watched tree is exported before it has a checkpoint, and stays when its run is removed" {
    echo text >"$R/config.yaml"
    watch --every 1s --layout plain
    wait_until is_exported config.yaml config.yaml
    rm -r "$R"
    ends 0
    holds config.yaml
    equal "$(wc -l <"$SCRATCH/watch.err")" 1
}

@test "where there are no steps a watch by steps does not pass over all again and again" {
    save model.pt 1
    echo one >"$R/config.yaml"
    watch --every-steps 10 --files config
    wait_until is_exported config.yaml config.yaml
    echo two >"$R/config.yaml"
    sleep 2.5
    not is_exported config.yaml config.yaml
    kill "$WATCH"
    wait_until no_process "$WATCH"
    is_exported config.yaml config.yaml
}

@test "a time between passes that no clock reaches is refused" {
    refused 2 "$EXPFS" export "$R" "$X" --watch --every 9999999h
}

@test "a watch waits for a folder that is gone, or a file for a moment, and goes on in the one at its path" {
    save step_1.pt 1
    watch --every 1s
    wait_until is_exported latest.pt step_1.pt
    mv "$X" "$X.away"
    save step_2.pt 2
    wait_until grep -q 'tried again' "$SCRATCH/watch.err"
    cmp "$X.away/latest.pt" "$R/step_1.pt"
    echo file >"$X"
    sleep 2.5
    kill -0 "$WATCH"
    rm "$X"
    mkdir "$X"
    wait_until is_exported latest.pt step_2.pt
    kill "$WATCH"
    ends 0
    cmp "$X.away/latest.pt" "$R/step_1.pt"
    equal "$(wc -l <"$SCRATCH/watch.err")" 3
}

@test "a watch waits while the folder is read-only" {
    require_root
    mkdir "$X"
    mount -t tmpfs none "$X"
    LOOPS+=("$X")
    save step_1.pt 1
    watch --every 1s
    wait_until is_exported latest.pt step_1.pt
    mount -o remount,ro "$X"
    save step_2.pt 2
    wait_until grep -q 'tried again' "$SCRATCH/watch.err"
    mount -o remount,rw "$X"
    wait_until is_exported latest.pt step_2.pt
    kill "$WATCH"
    ends 0
}

@test "a watch writes nothing below a drive that is not mounted any more" {
    require_root
    mkdir "$X"
    mount -t tmpfs none "$X"
    LOOPS+=("$X")
    save step_1.pt 1
    watch --every 1s
    wait_until is_exported latest.pt step_1.pt
    umount -l "$X"
    save step_2.pt 2
    wait_until grep -q 'another file system is there' "$SCRATCH/watch.err"
    holds
    mount -t tmpfs none "$X"
    wait_until is_exported latest.pt step_2.pt
    kill "$WATCH"
    ends 0
}
