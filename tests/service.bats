# What a service manager is told of a mount, and what it tells it.

load lib

setup() {
    scratch
    store_init
}
teardown() { cleanup; }

# listen ADDRESS: a service manager's socket; what comes is in SCRATCH/told, one message a line
listen() {
    background python3 - "$1" "$SCRATCH/told" <<'PY'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace("@", "\0", 1) if sys.argv[1].startswith("@") else sys.argv[1])
with open(sys.argv[2], "w") as told:
    while True:
        print(s.recv(4096).decode().replace("\n", "|"), file=told, flush=True)
PY
    wait_until test -e "$SCRATCH/told"
}

told() { grep -q -- "$1" "$SCRATCH/told"; }

@test "a mount in the foreground tells its service manager when it is usable and that it ends" {
    local address
    for address in "$SCRATCH/notify" "@expfs-test-$$"; do
        rm -f "$SCRATCH/told"
        listen "$address"
        background env NOTIFY_SOCKET="$address" "$EXPFS" mount -f -o "" -- "$STORE" "$MNT"
        wait_until told "^READY=1|STATUS=$STORE is mounted on $MNT\$"
        is_mounted "$MNT"
        echo x >"$MNT/f"
        kill -TERM "$BG"
        wait "$BG"
        wait_until told '^STOPPING=1|'
    done
}

@test "a mount in the background tells the service manager of whoever made it nothing" {
    listen "$SCRATCH/notify"
    NOTIFY_SOCKET=$SCRATCH/notify mount_store
    umount_store
    equal "$(cat "$SCRATCH/told")" ""
}

@test "the systemd unit is one that systemd takes" {
    require_command systemd-analyze
    sed "s,^ExecStart=[^ ]*,ExecStart=$EXPFS," "$EXPFS_SRCDIR/contrib/systemd/expfs@.service.in" >"$SCRATCH/expfs@.service"
    cp "$SCRATCH/expfs@.service" "$SCRATCH/expfs@x.service"
    systemd-analyze verify --man=no "$SCRATCH/expfs@x.service" >"$SCRATCH/out" 2>&1
    equal "$(grep expfs "$SCRATCH/out")" ""
}

@test "a mount that its unit starts again after the daemon was killed is there again, with what was in it" {
    background "$EXPFS" mount -f -o "" -- "$STORE" "$MNT"
    wait_until is_mounted "$MNT"
    wait_until test -d "$MNT/runs"
    echo x >"$MNT/f"
    kill -KILL "$BG"
    wait "$BG" || true
    is_mounted "$MNT"
    listen "$SCRATCH/notify"
    background env NOTIFY_SOCKET="$SCRATCH/notify" "$EXPFS" mount -f -o "" -- "$STORE" "$MNT"
    wait_until told '^READY=1|'
    equal "$(cat "$MNT/f")" x
    kill -TERM "$BG"
    wait "$BG"
    not is_mounted "$MNT"
}

@test "a SIGHUP to a mount of a service manager has config.yaml read again, and the service manager is told" {
    listen "$SCRATCH/notify"
    background setsid env NOTIFY_SOCKET="$SCRATCH/notify" "$EXPFS" mount -f -o "" -- "$STORE" "$MNT"
    wait_until told '^READY=1|'
    printf 'runs: [\n' >"$STORE/config.yaml"
    kill -HUP "$BG"
    wait_until told '^READY=1|STATUS=the configuration has a mistake'
    rm "$STORE/config.yaml"
    kill -HUP "$BG"
    wait_until told '^READY=1|STATUS=the configuration was read again'
    equal "$(grep -c '^RELOADING=1|MONOTONIC_USEC=[0-9]*$' "$SCRATCH/told")" 2
    echo x >"$MNT/f"
    kill -TERM "$BG"
    wait "$BG"
}

@test "a mount in the foreground of a terminal that goes away is unmounted in good order" {
    python3 - "$EXPFS" "$STORE" "$MNT" <<'PY' 3>&-
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], ["expfs", "mount", "-f", sys.argv[2], sys.argv[3]])
while not os.path.isdir(sys.argv[3] + "/runs"):
    time.sleep(0.05)
with open(sys.argv[3] + "/f", "w") as f:
    f.write("x")
os.close(terminal)
assert os.waitpid(pid, 0)[1] == 0
PY
    not is_mounted "$MNT"
    mount_store
    equal "$(cat "$MNT/f")" x
}
