# What a person sees at a terminal, and programs in a pipe do not.

load lib

setup() { mount_run; }
teardown() { cleanup; }

# on_terminal COMMAND...: runs it with a terminal as standard output and error, and prints what came there
on_terminal() {
    TERM=${TERM_IS-xterm} python3 -c '
import os, pty, sys
os._exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 65536), lambda fd: b"")))' "$@" </dev/null
}

ESC=$'\033'

@test "on a terminal names, answers and warnings have colours" {
    checkpoint zip "$R/step_1.pt" 1000 1
    checkpoint torn-zip "$R/step_2.pt" 1000 2
    echo 'lr: 1' >"$R/config.yaml"
    "$EXPFS" commit r --store "$STORE"
    out=$(on_terminal "$EXPFS" status "$MNT")
    [[ $out == *"${ESC}[1mr${ESC}[0m: "* ]] || fail "$out"
    [[ $out == *"${ESC}[33mtorn${ESC}[0m: "* ]] || fail "$out"
    out=$(on_terminal "$EXPFS" log "$R")
    [[ $out == *"${ESC}[1mexperiment "* ]] || fail "$out"
    out=$(on_terminal "$EXPFS" verify "$R/step_1.pt" || true)
    [[ $out == "${ESC}[33mHOLD "* ]] || fail "$out"
}

@test "there are no colours in a pipe, in JSON, with NO_COLOR, or on a terminal that only prints lines" {
    checkpoint torn-zip "$R/step_2.pt" 1000 2
    local plain out
    plain=$("$EXPFS" status "$MNT")
    [[ $plain == *torn* && $plain != *"$ESC"* ]] || fail "$plain"
    equal "$(NO_COLOR=1 on_terminal "$EXPFS" status "$MNT" | tr -d '\r')" "$plain"
    equal "$(TERM_IS=dumb on_terminal "$EXPFS" status "$MNT" | tr -d '\r')" "$plain"
    equal "$(TERM_IS= on_terminal "$EXPFS" status "$MNT" | tr -d '\r')" "$plain"
    out=$(on_terminal "$EXPFS" status "$MNT" --json)
    [[ $out == *torn* && $out != *"$ESC"* ]] || fail "$out"
    out=$(NO_COLOR= on_terminal "$EXPFS" status "$MNT") # empty: not set
    [[ $out == *"$ESC"* ]] || fail "$out"
}

@test "who waits for the daemon on a terminal sees for how long, in a pipe not" {
    local pid out
    pid=$(daemon_pid)
    kill -STOP "$pid"
    out=$(on_terminal timeout 2.5 "$EXPFS" status --store "$STORE" || true)
    kill -CONT "$pid"
    [[ $out == *$'\r'"expfs: status: waiting for the daemon: 1 s${ESC}[K"* ]] || fail "$out"
    out=$("$EXPFS" status --store "$STORE" 2>&1)
    [[ $out != *waiting* ]] || fail "$out"
}

@test "a command that reads weights of a store that is not mounted shows on a terminal that it is at work" {
    local out
    require_command strace
    checkpoint zip "$R/step_1.pt" 1000000 1
    umount_store
    out=$(ASAN_OPTIONS=detect_leaks=0 on_terminal strace -f -o /dev/null -e trace=pread64 \
        -e inject=pread64:delay_exit=20000 "$EXPFS" verify runs/r/step_1.pt@1 --store "$STORE" || true)
    [[ $out == *$'\r'"expfs: verify: at work: "[0-9]*" s${ESC}[K"* ]] || fail "$out"
}

# mounted KEY: of the mount on MNT, as `expfs mount --json` has it
mounted() {
    "$EXPFS" mount --json | python3 -c 'import json, sys
print([m.get(sys.argv[2]) for m in json.load(sys.stdin)["mounts"] if m["mount"] == sys.argv[1]][0])' "$MNT" "$1"
}

@test "mount without arguments shows what is mounted, by whom, since when and how" {
    equal "$(mounted store) $(mounted state) $(mounted pid)" "$STORE healthy $(daemon_pid)"
    [[ $(mounted options) == rw,* && $(mounted options) != *user_id* ]] || fail "$(mounted options)"
    local age=$(($(date +%s) - $(date -d "$(mounted since)" +%s)))
    ((age >= -2 && age < 600)) || fail "the daemon began $age seconds ago"
    "$EXPFS" mount >"$SCRATCH/out"
    grep -Fxq "$MNT: healthy" "$SCRATCH/out"
    grep -Fxq "  store    $STORE" "$SCRATCH/out"
    grep -Eq "^  since    [0-9: -]{19}, process $(daemon_pid)$" "$SCRATCH/out"
    remount -o ro
    [[ $(mounted options) == ro,* ]] || fail "$(mounted options)"
}

@test "mount shows a mount whose daemon died, and one whose daemon does not answer, and does not wait for it" {
    local pid
    pid=$(daemon_pid)
    kill -STOP "$pid"
    equal "$(timeout 60 "$EXPFS" mount --json | python3 -c 'import json, sys; print([m["state"] for m in json.load(sys.stdin)["mounts"] if m["mount"] == sys.argv[1]])' "$MNT")" "['hangs']"
    kill -CONT "$pid"
    kill_daemon
    equal "$(mounted state) $(mounted pid) $(mounted since)" "dead None None"
    "$EXPFS" mount | grep -Fxq "$MNT: dead; clear it away: expfs umount $MNT"
    umount_store
}

@test "mount does not say of a mount at which it could not look that its daemon does not answer" {
    require_user
    as_nobody bash -c 'ulimit -u 1 && exec "$0" mount' "$EXPFS" 3>&- >"$SCRATCH/out"
    grep -A9 -Fx "$MNT: not known, for no process could be started that looks" "$SCRATCH/out" | grep -q "^  store    $STORE$"
    as_nobody bash -c 'ulimit -u 1 && exec "$0" mount --json' "$EXPFS" 3>&- | grep -q '"state": "unknown"'
}

@test "where nothing is mounted, mount says how to and exits with 1" {
    require_root
    umount_store
    local none='awk "\$9 == \"fuse.expfs\" || \$8 == \"fuse.expfs\" { print \$5 }" /proc/self/mountinfo | xargs -r -n 1 umount -l; exec "$@"'
    refused 1 unshare -m sh -c "$none" sh "$EXPFS" mount
    equal "$MESSAGE" "expfs: mount: no store is mounted; mount one: expfs mount STORE MNT"
    equal "$(unshare -m sh -c "$none" sh "$EXPFS" mount --json | tr -d ' \n')" '{"mounts":[]}'
    refused 2 "$EXPFS" mount "$STORE"
    refused 2 "$EXPFS" mount "$STORE" "$MNT" --json
}
