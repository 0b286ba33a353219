# What the kernel caches is never wrong, and nothing that goes on in the background shows.

load lib

setup() { scratch; store_init; mount_store; }
teardown() { cleanup; }

drop_caches() { if ((EUID == 0)); then sync -f "$MNT" && echo "${1:-3}" >/proc/sys/vm/drop_caches; fi; }

# For every path below D: path, inode by readdir and by stat, size, times
census() {
    python3 - "$D" <<'PY'
import os, sys
def walk(d):
    for e in sorted(os.scandir(d), key=lambda e: e.name):
        st = e.stat(follow_symlinks=False)
        assert e.inode() == st.st_ino, (e.path, e.inode(), st.st_ino)
        print(e.path, st.st_ino, oct(st.st_mode), st.st_nlink, st.st_size, st.st_mtime_ns, st.st_ctime_ns)
        if e.is_dir(follow_symlinks=False): walk(e.path)
walk(sys.argv[1])
PY
}

@test "inode numbers and attributes of 5000 paths are the same by readdir, after dropping caches and a remount" {
    python3 - "$D" <<'PY'
import os, sys
for i in range(50):
    d = "%s/dir-%d" % (sys.argv[1], i); os.mkdir(d)
    for j in range(96):
        with open("%s/%d" % (d, j), "w") as f: f.write("%d" % (j % 10))
    os.link(d + "/0", d + "/linked"); os.symlink("0", d + "/link"); os.mkdir(d + "/sub")
PY
    local before
    before=$(census)
    equal "$(wc -l <<<"$before")" 5000
    equal "$(awk '$4 == 1 || /\/linked / { print $2 }' <<<"$before" | sort | uniq -d)" "" "inodes that two files have"
    drop_caches
    equal "$(census)" "$before" "after dropping caches"
    remount
    equal "$(census)" "$before" "after a remount"
}

@test "an inode keeps its number through append, rewriting, sharing and touching" {
    bytes "$D/f" 100000 1
    cp "$D/f" "$D/twin"
    local ino
    ino=$(stat -c %i "$D/f")
    echo more >>"$D/f"
    bytes "$D/f" 5000 2
    touch "$D/f"
    chmod 600 "$D/f"
    mv "$D/f" "$D/g"
    equal "$(stat -c %i "$D/g")" "$ino"
    remount
    equal "$(stat -c %i "$D/g")" "$ino"
    bytes "$D/new" 5000 3
    mv "$D/new" "$D/g"
    [[ $(stat -c %i "$D/g") != "$ino" ]]
}

@test "numbers of views are not those of files" {
    mkdir "$MNT/runs/r"
    checkpoint zip "$MNT/runs/r/step_1.pt" 10000 1
    local real views
    real=$(find "$MNT/runs" "$D" -printf '%i\n')
    views=$(stat -c %i "$MNT/branches/r" "$MNT/branches/r/latest" "$MNT/branches/r/step" "$MNT/branches/r/step/1" "$MNT/.expfs" "$MNT/runs/r/.expfs")
    equal "$(sort <<<"$views" | uniq -d)" "" "views with one number"
    equal "$(sort -u <<<"$real" | sort - <(sort -u <<<"$views") | uniq -d)" "" "numbers of both"
    equal "$(stat -Lc %i "$MNT/branches/r/latest")" "$(stat -c %i "$MNT/runs/r/step_1.pt")"
}

@test "attributes of closed files do not move by themselves and tar sees no change" {
    local i before
    for i in $(seq 100); do bytes "$D/f-$i" 20000 $((i % 10)); done
    before=$(census)
    tar -C "$D" -cf "$SCRATCH/tar" . 2>"$SCRATCH/tar.err"
    [[ ! -s $SCRATCH/tar.err ]] || fail "$(cat "$SCRATCH/tar.err")"
    tar -C "$D" -df "$SCRATCH/tar"
    sleep 6
    equal "$(census)" "$before" "after 6 seconds"
    drop_caches
    equal "$(census)" "$before" "after dropping caches"
    tar -C "$D" -df "$SCRATCH/tar"
}

@test "a reader with an open descriptor sees each appended record once, in order" {
    python3 - "$D/events" <<'PY'
import mmap, os, sys
path = sys.argv[1]
w = open(path, "ab", buffering=0)
record = lambda i: b"%098d\n\n" % i
w.write(record(0))
r = open(path, "rb", buffering=0)
got = b""
for i in range(1, 2000):
    w.write(record(i))
    got += r.read()
    size = os.stat(path).st_size
    assert size == 100 * (i + 1) == len(got), (i, size, len(got))
    if i % 200 == 0:
        with open(path, "rb") as f: assert mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[-100:] == record(i)
        os.fsync(w.fileno())
assert got == b"".join(map(record, range(2000)))
ino = os.stat(path).st_ino
w.close()
assert os.stat(path).st_ino == ino
PY
}

@test "a file that is replaced is seen anew by name and as before by descriptor" {
    bytes "$D/events" 50000 1
    exec 7<"$D/events"
    local ino
    ino=$(stat -c %i "$D/events")
    bytes "$D/new" 70000 2
    mv "$D/new" "$D/events"
    [[ $(stat -c %i "$D/events") != "$ino" ]]
    bytes "$SCRATCH/1" 50000 1
    bytes "$SCRATCH/2" 70000 2
    cmp "$SCRATCH/1" - <&7
    cmp "$SCRATCH/2" "$D/events"
    exec 7<&-
}

@test "appending and syncing writes little more to the store than was appended" {
    require_root
    local pid before after
    pid=$(daemon_pid)
    before=$(awk '/^write_bytes/ { print $2 }' "/proc/$pid/io")
    python3 - "$D/log" <<'PY'
import os, sys
count = 20000 if os.environ.get("EXPFS_TEST_LONG") != "1" else 100000
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for i in range(count):
    assert os.write(fd, b"%0199d\n" % i) == 200
    if i % 100 == 99: os.fsync(fd)
    if i % 1000 == 999: assert os.fstat(fd).st_size == 200 * (i + 1)
os.close(fd)
PY
    after=$(awk '/^write_bytes/ { print $2 }' "/proc/$pid/io")
    local size
    size=$(stat -c %s "$D/log")
    # each fsync writes a page or two of data, and some of the journal: 200 syncs of 4 MB in all
    ((after - before < size * 4 + 200 * 65536)) || fail "$((after - before)) bytes written for $size"
}

@test "rewriting a page of a big file costs a page, not the file" {
    require_root
    bytes "$D/data.db" 50000000 1
    python3 - "$D/data.db" <<'PY'
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
os.pwrite(fd, b"first", 0); os.fsync(fd); os.close(fd)
PY
    local pid before after
    pid=$(daemon_pid)
    before=$(awk '/^write_bytes/ { print $2 }' "/proc/$pid/io")
    python3 - "$D/data.db" <<'PY'
import os, sys
for i in range(50):
    fd = os.open(sys.argv[1], os.O_RDWR)
    os.pwrite(fd, b"%4096d" % i, 4096 * i * 7); os.fsync(fd); os.close(fd)
PY
    after=$(awk '/^write_bytes/ { print $2 }' "/proc/$pid/io")
    # a page dirtied may count as the whole folio of 1 MiB that it lies in; copies would be 2.5 GB
    ((after - before < 250000000)) || fail "$((after - before)) bytes written for 50 pages"
}

@test "readers of a moving latest never stall, nor does a map of a file that is written" {
    mkdir "$MNT/runs/r"
    python3 - "$MNT/runs/r" "$MNT/branches/r/latest" <<'PY'
import mmap, os, sys, threading, time, zipfile
run, view = sys.argv[1:]
stop, stalls, errors = [False], [], []
def save(n):
    with zipfile.ZipFile("%s/step_%d.pt" % (run, n), "w") as z: z.writestr("archive/data.pkl", b"%d" % n * 1000)
save(0)
def read():
    while not stop[0]:
        t = time.monotonic()
        try:
            with open(view, "rb") as f: assert f.read(2) == b"PK"
        except Exception as e: errors.append(repr(e))
        if time.monotonic() - t > 5: stalls.append(time.monotonic() - t)
threads = [threading.Thread(target=read) for _ in range(8)]
for t in threads: t.start()
with open(run + "/array.bin", "w+b") as f:
    f.truncate(1 << 20)
    m = mmap.mmap(f.fileno(), 0)
    for i in range(1, 100):
        save(i)
        for k in range(20):
            os.pwrite(f.fileno(), b"%08d" % (i * k), 4096 * k)
            assert m[4096 * k:4096 * k + 8] == b"%08d" % (i * k)
stop[0] = True
for t in threads: t.join()
assert not stalls and not errors, (stalls, errors[:5])
PY
}
