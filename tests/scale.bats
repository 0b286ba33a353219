# Many files: memory and descriptors of the daemon stay bounded, and everything is still found.

load lib

setup() { scratch; store_init; mount_store; }
teardown() { cleanup; }

COUNT=$(long && echo 200000 || echo 20000)

rss_kib() { awk '/^VmRSS/ { print $2 }' "/proc/$(daemon_pid)/status"; }
peak_kib() { awk '/^VmHWM/ { print $2 }' "/proc/$(daemon_pid)/status"; }
descriptors() { ls "/proc/$(daemon_pid)/fd" | wc -l; }

# The sanitizers' shadow is no memory of the daemon's own.
require_plain_build() {
    not grep -q __asan_init "$EXPFS" 2>/dev/null || skip "memory of a sanitized build says nothing"
}

# tree COUNT: that many small files in directories of 100
tree() {
    python3 - "$D" "$1" <<'PY'
import os, sys
top, count = sys.argv[1], int(sys.argv[2])
for i in range(count):
    if i % 100 == 0: os.mkdir("%s/run-%d" % (top, i // 100))
    with open("%s/run-%d/events.out.tfevents.%d" % (top, i // 100, i), "w") as f: f.write("%d" % (i % 1000))
PY
}

# many_files: the store, not mounted, has COUNT small files, which are made once for all tests
many_files() {
    local made=$BATS_FILE_TMPDIR/store
    if [[ -e $made ]]; then
        umount_store
        rm -r "$STORE"
        cp -a "$made" "$STORE"
    else
        tree $COUNT
        umount_store
        cp -a "$STORE" "$made"
    fi
}

@test "walking many small files over and over keeps the daemon's memory small" {
    require_plain_build
    many_files
    mount_store
    # the table of what the kernel knows, while it doubles, takes 64 bytes a file; the rest does not grow with them
    local walk bound=$((16 * 1024 + COUNT * 64 / 1024))
    for walk in $(seq 8); do
        equal "$(find "$D" -name 'events*' -printf '%s %T@\n' | wc -l)" $COUNT
        (($(peak_kib) < bound)) || fail "peak of $(peak_kib) KiB after walk $walk of $COUNT files, expected $bound"
        ((EUID != 0)) || echo 2 >/proc/sys/vm/drop_caches # else the kernel knows them already
    done
}

@test "with 1024 descriptors allowed any number of files is looked up, opened and held" {
    many_files
    (
        ulimit -n 1024
        mount_store
    )
    equal "$(find "$D" -type f | wc -l)" $COUNT
    python3 - "$D" <<'PY'
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
paths = [os.path.join(d, f) for d, _, fs in os.walk(sys.argv[1]) for f in fs]
for p in paths: open(p).close()
held = [open(p, "r+") for p in paths[:2500]]
for f, p in zip(held, paths):
    content = f.read()
    assert content == open(p).read()
    f.write("."); f.flush()
for f in held: f.seek(0); assert f.read().endswith(".")
PY
    wait_until few_descriptors
}

few_descriptors() { (($(descriptors) < 900)); }

@test "descriptors of the daemon go back down when files are closed" {
    local before
    tree 1000
    before=$(descriptors)
    python3 - "$D" <<'PY'
import os, sys
paths = [os.path.join(d, f) for d, _, fs in os.walk(sys.argv[1]) for f in fs][:900]
held = [open(p, "a") for p in paths]
for f in held: f.write("x"); f.flush()
PY
    down() { (($(descriptors) <= before + 600)); }
    wait_until down
}

@test "making, renaming and removing files over and over does not make the daemon grow" {
    require_plain_build
    local loops=200
    long && loops=2000
    churn() {
        python3 - "$D" "$1" <<'PY'
import os, shutil, sys
top = sys.argv[1]
for n in range(int(sys.argv[2])):
    d = "%s/loop" % top; os.mkdir(d)
    for i in range(50):
        with open("%s/%d" % (d, i), "w") as f: f.write("%d %d" % (n, i))
        assert open("%s/%d" % (d, i)).read() == "%d %d" % (n, i)
        os.rename("%s/%d" % (d, i), "%s/r%d" % (d, i))
        if i % 2: os.unlink("%s/r%d" % (d, i))
    shutil.rmtree(d)
PY
    }
    churn 100
    local before
    before=$(rss_kib)
    churn $loops
    (($(rss_kib) - before < 2048 + loops)) || fail "grew from $before to $(rss_kib) KiB in $loops loops"
    umount_store
    equal "$(find "$STORE/objects" -type f | wc -l)" 0 "objects left in the store"
}

@test "writing a big file keeps the daemon's memory small" {
    require_plain_build
    local mib=300
    long && mib=4000
    dd if=/dev/urandom of="$D/big" bs=1M count=$mib status=none
    (($(peak_kib) < 200 * 1024)) || fail "peak of $(peak_kib) KiB"
    cp "$D/big" "$D/copy"
    cmp "$D/big" "$D/copy"
    (($(peak_kib) < 200 * 1024)) || fail "peak of $(peak_kib) KiB after reading"
}

@test "latest of a run with many checkpoints is right" {
    local count=2000
    mkdir "$MNT/runs/r"
    python3 - "$MNT/runs/r" $count <<'PY'
import random, sys
for n in random.Random(1).sample(range(int(sys.argv[2])), int(sys.argv[2])):
    with open("%s/step_%d.bin" % (sys.argv[1], n), "w") as f: f.write("%d" % n)
with open("%s/step_%d.bin" % (sys.argv[1], int(sys.argv[2])), "w") as f: f.write("last")
PY
    equal "$(cat "$MNT/branches/r/latest")" last
    equal "$(cat "$MNT/branches/r/step/777")" 777
    equal "$(ls -U "$MNT/branches/r/step" | wc -l)" $((count + 1))
    equal "$(ls -U "$MNT/branches/r/step" | sort -nc 2>&1)" ""
    rm "$MNT/runs/r/step_$count.bin"
    [[ $(cat "$MNT/branches/r/latest") != last ]]
}
