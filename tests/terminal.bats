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
