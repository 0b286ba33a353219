# What a store or its neighbours bring that nobody who means well would.

load ../lib

setup() { scratch; }
teardown() { cleanup; }

# rows.py makes stores whose database holds what no expfs writes, and says what may not happen.
rows() {
    require_command python3
    python3 "$EXPFS_SRCDIR/tests/fuzz/rows.py" "$@" 3>&-
}

@test "whatever the rows of a store's database say, nothing crashes, hangs or grows" { rows; }

@test "nor where rows are changed by chance" {
    long || skip "takes ten minutes; EXPFS_TEST_LONG=1 runs it"
    rows --seconds 600
}

descriptors() { ls "/proc/$1/fd" | wc -l; }
few_descriptors() { (($(descriptors "$1") <= $2)); }

@test "a thousand clients of the control socket, with nothing, garbage or half a request, leave no trace" {
    require_command python3
    store_init
    mount_store
    local pid before
    pid=$(daemon_pid)
    before=$(descriptors "$pid")
    python3 - "$STORE" <<'PY'
import contextlib, os, socket, sys
os.chdir(sys.argv[1])
def client(text):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect("control")
    with contextlib.suppress(OSError):
        s.sendall(text)
    return s
clients = [client((b"", os.urandom(1000), b'{"op": "sta', b'{"op": "status"}\n')[i % 4]) for i in range(1000)]
for s in clients:
    s.close()
assert client(b'{"op": "status"}\n').recv(9) == b'{"exit":0'
PY
    wait_until few_descriptors "$pid" $((before + 2))
    umount_store
}

@test "another user, also one who is root in a namespace, gets no further than the modes allow" {
    require_user
    require_command unshare /usr/bin/python3
    store_init
    mount_store -o allow_other
    mkdir -p "$D/closed" "$MNT/runs/closed"
    chmod 755 "$D"
    echo secret | tee "$D/closed/f" >"$D/secret"
    echo shared >"$D/shared"
    echo weights >"$MNT/runs/closed/step_1.pt"
    chmod 700 "$D/closed" "$MNT/runs/closed"
    chmod 600 "$D/secret"
    cat >"$SCRATCH/try.py" <<'PY'
import os, sys
os.chdir(sys.argv[1])
assert open("d/shared").read() == "shared\n"
for what in (lambda: open("d/secret"), lambda: open("d/shared", "a"), lambda: os.truncate("d/shared", 0), lambda: os.listdir("d/closed"),
             lambda: open("d/closed/f"), lambda: open("d/new", "w"), lambda: os.unlink("d/shared"), lambda: os.chmod("d/shared", 0o777),
             lambda: os.utime("d/shared", (1, 1)), lambda: os.setxattr("d/shared", "user.a", b"b"), lambda: os.rename("d/shared", "x"),
             lambda: os.getxattr("d/secret", "user.expfs.digest"), lambda: os.listdir("runs/closed/.expfs"),
             lambda: os.readlink("branches/closed/latest"), lambda: open("branches/closed/latest"), lambda: os.mknod("d/dev", 0o20666, 259)):
    try:
        what()
    except OSError as e:
        assert e.errno in (1, 13), e
    else:
        sys.exit("was let do what the modes deny")
PY
    as_nobody /usr/bin/python3 "$SCRATCH/try.py" "$MNT"
    as_nobody unshare -Ur true 2>/dev/null || skip "users have no namespaces here"
    as_nobody unshare -Ur /usr/bin/python3 "$SCRATCH/try.py" "$MNT"
}
