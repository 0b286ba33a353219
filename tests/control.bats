# The control socket of a mounted store: what it answers, and what it does not let happen.

load lib

setup() {
    scratch
    store_init
    require_command python3
}
teardown() { cleanup; }

# ask REQUEST: sends it, \n at its end included if wanted, and prints the answer
ask() {
    python3 - "$STORE" "$1" <<'PY'
import os, socket, sys
os.chdir(sys.argv[1])
s = socket.socket(socket.AF_UNIX)
s.settimeout(300)
s.connect("control")
try:
    s.sendall(sys.argv[2].encode("latin-1").decode("unicode_escape").encode("latin-1"))
    s.shutdown(socket.SHUT_WR)
    print(b"".join(iter(lambda: s.recv(65536), b"")).decode(), end="")
except (BrokenPipeError, ConnectionResetError):
    pass
PY
}

# exit_of REQUEST: the exit status in the answer, nothing if there is no answer
exit_of() {
    ask "$1" | python3 -c '
import json, sys
line = sys.stdin.read()
if line:
    answer = json.loads(line)
    assert line.count("\n") == 1 and sorted(answer) == ["exit", "result"], line
    print(answer["exit"])'
}

@test "a request is a line of JSON and so is the answer" {
    mount_store
    equal "$(exit_of '{"op": "status", "args": {}}\n')" 0
    equal "$(exit_of '{"op": "status"}\n')" 0
    equal "$(exit_of '{"op": "fsck", "args": {"repair": false}}\n')" 0
    equal "$(exit_of '{"op": "fsck", "args": {"repair": true}}\n')" 3
    equal "$(exit_of '{"op": "nonsense"}\n')" 2
}

@test "what is no request is refused or dropped, and the mount goes on" {
    mount_store
    local request long
    for request in '{}\n' '[]\n' '""\n' '{"op": 1}\n' '{"op": "a\\u0000b"}\n' '{"op": "status", "op": "status"}\n' \
        '{"op": "status"' '\n' '\0\n' '\xff\xfe\n' '{"op": "status"}x\n'; do
        [[ $(exit_of "$request") =~ ^(2|)$ ]] || fail "answered: $request"
    done
    long=$(printf '[%.0s' {1..60000})
    [[ $(exit_of "$long\n") =~ ^(2|)$ ]]
    equal "$(exit_of "$long$long\n")" ""
    equal "$(exit_of "")" ""
    for request in '{"op": "status", "args": []}\n' '{"op": "status", "args": {"path": 5}}\n' '{"op": "fsck", "args": {"repair": 1}}\n'; do
        exit_of "$request" >/dev/null
    done
    equal "$(exit_of '{"op": "status"}\n')" 0
    echo x >"$D/f"
}

@test "clients that stay silent or do not read hold up neither others nor the end" {
    mount_store
    background python3 - "$STORE" <<'PY'
import os, socket, sys, time
os.chdir(sys.argv[1])
idle = []
for i in range(12):
    s = socket.socket(socket.AF_UNIX)
    s.connect("control")
    s.sendall(b'{"op": "status"}\n' if i % 2 else b'{"op"')
    idle.append(s)
open("../idle", "w")
time.sleep(600)
PY
    wait_until test -e "$SCRATCH/idle"
    equal "$(exit_of '{"op": "status"}\n')" 0
    umount_store
}

@test "the socket is its owner's alone, by its mode and by who connects" {
    require_user
    require_command /usr/bin/python3
    mount_store
    equal "$(stat -c %a "$STORE/control")" 600
    chmod 755 "$STORE"
    chmod 666 "$STORE/control"
    equal "$(as_nobody /usr/bin/python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
try:
    s.sendall(b"{\"op\": \"status\"}\n")
    print(s.recv(100))
except OSError:
    print(b"")' "$STORE/control")" "b''"
}

@test "a socket that a dead daemon left is replaced, and none is left by one that ended" {
    mount_store
    kill_daemon
    [[ -S $STORE/control ]]
    mount_store
    equal "$(exit_of '{"op": "status"}\n')" 0
    umount_store
    [[ ! -e $STORE/control ]]
}

@test "a store whose path is longer than the address of a socket works" {
    local part
    part=$(printf 'd%.0s' {1..100})
    STORE=$SCRATCH/$part/$part/store
    mkdir -p "$SCRATCH/$part/$part"
    store_init
    mount_store
    "$EXPFS" status "$MNT" >/dev/null
    "$EXPFS" fsck "$STORE" >/dev/null
}
