# The power fails: what was synced is there, by itself or with its directory.

load power

@test "what fsync acknowledged is there, and so is what was closed before an fsync of its directory" {
    bytes "$D/synced" 3000000 1
    sync "$D/synced"
    bytes "$D/beside" 2000000 2
    sync "$D"
    bytes "$D/synced" 1000000 3
    sync "$D/synced"
    power_cut
    is_bytes "$D/synced" 1000000 3
    is_bytes "$D/beside" 2000000 2
}

@test "what was synced in place stays, when it was shared, sealed or copied before" {
    python3 - "$D" <<'PY'
import os, sys
os.chdir(sys.argv[1])
def sync(fd): os.fsync(fd)
def make(name, data):
    with open(name, "wb") as f: f.write(data); f.flush(); os.fsync(f.fileno())
one = os.urandom(1000000)
make("db", one); make("twin", one)                  # one content for both
fd = os.open("db", os.O_RDWR); os.pwrite(fd, b"row", 5000); os.fsync(fd)   # copied, changed in place, synced
make("own", os.urandom(500000))
own = os.open("own", os.O_RDWR); os.pwrite(own, b"row", 5000); os.fsync(own)  # changed in place
os.pwrite(fd, b"xxx", 9000)
PY
    bytes "$D/log" 1000 1
    sync_all
    echo line >>"$D/log"
    sync "$D/log"
    sync_names
    power_cut
    python3 - "$D" <<'PY'
import os, sys
os.chdir(sys.argv[1])
for name in "db", "own":
    data = open(name, "rb").read()
    assert data[5000:5003] == b"row", (name, data[5000:5003])
assert len(open("twin", "rb").read()) == 1000000
assert open("log", "rb").read().endswith(b"line\n")
PY
}

@test "a content that was synced is there after its file became shared with one that was not" {
    bytes "$D/a.pt" 3000000 1
    python3 - "$D/a.pt" "$D/b.pt" <<'PY'
import os, sys
data = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "wb") as f: f.write(data); f.flush(); os.fsync(f.fileno())
PY
    sync_names
    power_cut
    is_bytes "$D/b.pt" 3000000 1
}

@test "a file that is synced keeps its second name, and one that was exchanged its first, through a power cut" {
    bytes "$D/a" 1000000 1
    sync_all
    bytes "$D/new" 1000000 2
    python3 - "$D" <<'PY'
import ctypes, os, sys
os.chdir(sys.argv[1])
os.link("new", "second")
open("other2", "w").write("x" * 100000)
assert ctypes.CDLL(None).renameat2(-100, b"other2", -100, b"a", 2) == 0
PY
    sync_names
    power_cut
    is_bytes "$D/new" 1000000 2
    is_bytes "$D/second" 1000000 2
    is_bytes "$D/other2" 1000000 1
    equal "$(tr -d x <"$D/a" | wc -c) $(wc -c <"$D/a")" "0 100000"
}

@test "a file that was emptied and synced does not get back what it had before that" {
    bytes "$D/a" 300000 1
    sync_all
    truncate -s 0 "$D/a"
    sync "$D/a"
    bytes "$D/a" 300000 2
    sync_names
    power_cut
    equal "$(stat -c %s "$D/a")" 0
}

@test "a file that was emptied, and its directory synced, does not get back what it had before that" {
    bytes "$D/a" 300000 1
    sync_all
    truncate -s 0 "$D/a"
    sync "$D"
    bytes "$D/a" 300000 2
    sync_names
    power_cut
    equal "$(stat -c %s "$D/a")" 0
}

@test "a file that was synced before its end was written, and replaced, is what the disk has of it, and the store is sound" {
    python3 - "$D/a" <<'PY'
import os, sys
with open(sys.argv[1], "wb") as f:
    f.write(b"x" * 100000); f.flush(); os.fsync(f.fileno()); f.write(b"y" * 100000)
PY
    bytes "$D/b" 300000 2
    mv "$D/b" "$D/a"
    sync_names
    power_cut
    umount_store
    "$EXPFS" fsck "$STORE"
    mount_store
    equal "$(head -c 100000 "$D/a" | tr -d x | wc -c)" 0
}

@test "a file that shares its content is appended to and renamed: what was synced of it is there" {
    bytes "$D/a" 300000 1
    bytes "$D/b" 300000 1
    sync_all
    echo more >>"$D/a"
    mv "$D/a" "$D/c"
    sync_names
    power_cut
    head -c 300000 "$D/c" >"$SCRATCH/head"
    is_bytes "$SCRATCH/head" 300000 1
}

@test "an exchange with a file that must be synced first leaves no garbage" {
    bytes "$D/a" 300000 1
    sync_all
    bytes "$D/a" 300000 2
    sync "$D"
    bytes "$D/b" 300000 3
    python3 -c 'import ctypes,sys; assert ctypes.CDLL(None).renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2) == 0' "$D/a" "$D/b"
    umount_store
    "$EXPFS" fsck "$STORE"
}

@test "a file that its directory was synced with is there, though it was being written" {
    program <<'PY'
f = open("new", "wb", buffering=0)
f.write(b"A" * 1000); sync("."); f.write(b"B" * 1000)
g = open("old", "wb"); g.close(); sync(".")
fail()
PY
    power_cut
    equal "$(head -c 1000 "$D/new" | tr -d A | wc -c) $(stat -c %s "$D/old")" "0 0"
    (($(stat -c %s "$D/new") >= 1000))
}

@test "on a full disk what was synced of a file that is copied to be changed is not given up" {
    umount_store
    loop_disk small 120
    STORE=$SCRATCH/small/store
    store_init
    mount_store
    program <<'PY'
for name in "app.db", "backup.db": open(name, "wb").write(b"A" * 3000000)
open("other", "w").write("settled")
sync("app.db"); sync(".")
f = open("app.db", "r+b", buffering=0); f.write(b"B")
g = open("fill", "wb", buffering=0)
try:
    while True: g.write(b"z" * 1000000)
except OSError as e:
    assert e.errno == 28, e
os.unlink("fill")
sys.argv[2] = sys.argv[2][:-len("disk")] + "small"
fail()
PY
    kill_daemon
    fusermount3 -uz "$MNT"
    wait_until umount "$SCRATCH/small"
    wait_until is_let_go "$SCRATCH/small.img"
    mount -o loop "$SCRATCH/small.img" "$SCRATCH/small"
    mount_store
    equal "$(stat -c %s "$D/app.db") $(tail -c 2999999 "$D/app.db" | tr -d A | wc -c)" "3000000 0"
}
