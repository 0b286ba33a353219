# The daemon killed at any instant: every operation that returned is there after the next mount.

load lib

setup() { scratch; }
teardown() { cleanup; }

KILLER=$BATS_TEST_DIRNAME/crash/killer.py

@test "the checker of the next test sees every kind of loss" {
    mkdir "$SCRATCH/self"
    python3 "$KILLER" --self-test --dir "$SCRATCH/self"
}

@test "killed at random under load, every operation that returned is there and the store is sound" {
    local rounds=20
    long && rounds=200
    require_command xxh128sum
    mkdir "$SCRATCH/rounds"
    STORES+=("$SCRATCH/rounds/store")
    python3 "$KILLER" --expfs "$EXPFS" --dir "$SCRATCH/rounds" --rounds $rounds ${EXPFS_CRASH_SEED:+--seed "$EXPFS_CRASH_SEED"} 3>&-
}

@test "files that were closed without a sync are whole after the daemon is killed" {
    store_init
    mount_store
    local i
    for i in $(seq 50); do bytes "$D/f-$i" $((i * 3000)) "$i"; done
    bytes "$D/big" 30000000 99
    cp "$D/big" "$D/twin"
    kill_daemon
    mount_store
    for i in $(seq 50); do
        bytes "$SCRATCH/wanted" $((i * 3000)) "$i"
        cmp "$SCRATCH/wanted" "$D/f-$i"
    done
    bytes "$SCRATCH/wanted" 30000000 99
    cmp "$SCRATCH/wanted" "$D/big"
    cmp "$SCRATCH/wanted" "$D/twin"
}

@test "a file that is being written has all bytes that had arrived" {
    store_init
    mount_store
    bytes "$D/log" 100000 1
    bytes "$D/patched" 100000 2
    exec 7>>"$D/log" 8<>"$D/patched" 9>"$D/new"
    printf appended >&7
    printf patched >&8
    printf new >&9
    kill_daemon
    exec 7>&- 8>&- 9>&-
    mount_store
    bytes "$SCRATCH/1" 100000 1
    bytes "$SCRATCH/2" 100000 2
    printf appended >>"$SCRATCH/1"
    printf patched | dd of="$SCRATCH/2" conv=notrunc status=none
    cmp "$SCRATCH/1" "$D/log"
    cmp "$SCRATCH/2" "$D/patched"
    equal "$(cat "$D/new")" new
}

@test "shards closed before a marker was synced are all there when the marker is" {
    store_init
    mount_store
    local i
    for i in 1 2 3; do
        python3 - "$D/step-$i" "$i" <<'PY'
import os, random, sys
d, seed = sys.argv[1], int(sys.argv[2])
os.mkdir(d)
for k in range(8):
    with open("%s/shard-%d" % (d, k), "wb") as f: f.write(random.Random(seed * 10 + k).randbytes(500000))
with open(d + "/.metadata.tmp", "w") as f:
    f.write("all"); f.flush(); os.fsync(f.fileno())
os.rename(d + "/.metadata.tmp", d + "/.metadata")
fd = os.open(d, os.O_RDONLY); os.fsync(fd)
PY
        kill_daemon
        mount_store
        python3 - "$D/step-$i" "$i" <<'PY'
import random, sys
d, seed = sys.argv[1], int(sys.argv[2])
assert open(d + "/.metadata").read() == "all"
for k in range(8): assert open("%s/shard-%d" % (d, k), "rb").read() == random.Random(seed * 10 + k).randbytes(500000), k
PY
    done
}

@test "what was deleted while open is gone after a kill, and so is its space" {
    store_init
    mount_store
    bytes "$D/kept" 100000 1
    exec 7>"$D/gone"
    head -c 20000000 /dev/urandom >&7
    rm "$D/gone"
    echo more >&7
    kill_daemon
    exec 7>&-
    mount_store
    equal "$(ls -A "$D")" kept
    umount_store
    (($(du -sk "$STORE/objects" | cut -f1) < 5000)) || fail "the store's objects take $(du -sh "$STORE/objects")"
}

@test "files of contents without a row are removed after a kill, whatever their number" {
    store_init
    mount_store
    echo kept >"$D/kept"
    kill_daemon
    fusermount3 -uz "$MNT"
    touch "$STORE/objects/00/8" "$STORE/objects/ff/7fffffffffff"
    mount_store
    wait_until not_there "$STORE/objects/00/8"
    wait_until not_there "$STORE/objects/ff/7fffffffffff"
    equal "$(cat "$D/kept")" kept
}
not_there() { [[ ! -e $1 ]]; }

@test "SQLite loses no committed row and stays sound over kills" {
    local i rounds=5
    long && rounds=30
    store_init
    mount_store
    for i in $(seq $rounds); do
        background python3 - "$D/db" "$SCRATCH/committed" "$i" <<'PY'
import os, sqlite3, sys
path, log, r = sys.argv[1:]
db = sqlite3.connect(path)
db.execute("pragma journal_mode=wal" if int(r) % 2 else "pragma journal_mode=delete")
db.execute("create table if not exists t(r, n)")
out = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for n in range(1000000):
    db.execute("insert into t values(?, ?)", (r, n)); db.commit()
    os.write(out, b"%d %d\n" % (int(r), n))
PY
        wait_until test -e "$SCRATCH/committed"
        sleep "0.$((RANDOM % 8 + 2))"
        kill_daemon
        wait "$BG" 2>/dev/null || true
        mount_store
        python3 - "$D/db" "$SCRATCH/committed" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("pragma integrity_check").fetchone()[0] == "ok"
rows = {(int(r), n) for r, n in db.execute("select r, n from t")} if db.execute("select count(*) from sqlite_master").fetchone()[0] else set()
lost = [l for l in open(sys.argv[2]) if tuple(map(int, l.split())) not in rows]
assert not lost, ("rows lost", lost[:3], len(lost))
PY
    done
}

@test "a logger that opens its file again after kills has every acknowledged line once" {
    local i
    store_init
    mount_store
    background python3 - "$D/log" "$SCRATCH/acknowledged" "$SCRATCH/stop" <<'PY'
import os, sys, time
path, acknowledged, stop = sys.argv[1:]
out, n, fd = open(acknowledged, "w"), 0, None
while not os.path.exists(stop):
    try:
        if fd is None: fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        line = b"line %d\n" % n; n += 1
        os.write(fd, line); os.fsync(fd)
        out.write(line.decode()); out.flush()
    except OSError:
        try:
            if fd is not None: os.close(fd)
        except OSError: pass
        fd = None; time.sleep(0.01)
PY
    local logger=$BG
    for i in 1 2 3 4 5; do
        sleep 0.3
        kill_daemon
        mount_store
    done
    wait_until grep -q . "$SCRATCH/acknowledged"
    sleep 0.3
    touch "$SCRATCH/stop"
    wait "$logger"
    python3 - "$D/log" "$SCRATCH/acknowledged" <<'PY'
import sys
lines = open(sys.argv[1]).read().split("\n")
assert lines.pop() == ""
assert len(lines) == len(set(lines)), "a line is there twice"
lost = [l for l in open(sys.argv[2]).read().split("\n")[:-1] if l not in set(lines)]
assert not lost, lost[:3]
PY
}
