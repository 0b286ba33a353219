# A full disk: ENOSPC in time, nothing lost, and the same mount goes on when there is room again.

load lib

setup() {
    require_loop
    scratch
    loop_disk disk 64
    STORE=$SCRATCH/disk/store
    store_init
    mount_store
}
teardown() { cleanup; }

MIB=$((1024 * 1024))

# save PATH MIB SEED: prints ok, or the errno name of the call that failed and which it was
save() {
    python3 - "$@" <<'PY'
import errno, os, random, sys
path, mib, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rnd, at = random.Random(seed), "open"
try:
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
    for _ in range(mib):
        data = rnd.randbytes(1 << 20)
        while data:
            at = "write"
            data = data[os.write(fd, data):]
    at = "fsync"; os.fsync(fd)
    at = "close"; os.close(fd)
    print("ok")
except OSError as e:
    print(errno.errorcode[e.errno], at)
PY
}

# Leaves less than a page of room for data.
fill_disk() { save "$D/filler" 100 99 | grep -q '^ENOSPC'; }

@test "a save that does not fit gives ENOSPC, is not latest, and the mount works when there is room" {
    mkdir -p "$MNT/runs/r/checkpoint-5" "$MNT/runs/r/checkpoint-10"
    equal "$(save "$MNT/runs/r/checkpoint-5/model.bin" 5 1)" ok
    equal "$(save "$MNT/runs/r/checkpoint-5/optimizer.bin" 5 2)" ok
    echo '{}' >"$MNT/runs/r/checkpoint-5/trainer_state.json"
    equal "$(save "$MNT/runs/r/checkpoint-10/model.bin" 20 3)" ok
    run save "$MNT/runs/r/checkpoint-10/optimizer.bin" 60 4
    [[ $output == "ENOSPC write" || $output == "ENOSPC close" || $output == "ENOSPC fsync" ]] || fail "$output"
    equal "$(readlink -f "$MNT/branches/r/latest")" "$MNT/runs/r/checkpoint-5"
    local earlier
    earlier=$(cat "$MNT/runs/r/checkpoint-5"/*.bin | sha256sum)
    equal "$(save "$SCRATCH/m" 5 1)$(save "$SCRATCH/o" 5 2)" okok
    equal "$(cat "$SCRATCH/m" "$SCRATCH/o" | sha256sum)" "$earlier"

    rm -r "$MNT/runs/r/checkpoint-10"
    mkdir "$MNT/runs/r/checkpoint-10"
    equal "$(save "$MNT/runs/r/checkpoint-10/model.bin" 20 3)" ok
    equal "$(save "$MNT/runs/r/checkpoint-10/optimizer.bin" 10 4)" ok
    echo '{}' >"$MNT/runs/r/checkpoint-10/trainer_state.json"
    equal "$(readlink -f "$MNT/branches/r/latest")" "$MNT/runs/r/checkpoint-10"
}

@test "names, links, modes and small status files are rewritten on a full disk" {
    bytes "$D/model" 5000000 1
    echo '{"step": 1}' >"$D/status.json"
    fill_disk
    local i
    for i in $(seq 50); do
        echo "{\"step\": $i, \"note\": \"rewritten on a full disk\"}" >"$D/status.json"
        echo "{\"step\": $i}" >"$D/status.tmp"
        mv "$D/status.tmp" "$D/state.json"
        ln -sfn "step-$i" "$D/last"
        mkdir "$D/dir-$i"
        chmod 700 "$D/dir-$i"
        mv "$D/dir-$i" "$D/moved-$i"
    done
    equal "$(cat "$D/status.json")" '{"step": 50, "note": "rewritten on a full disk"}'
    equal "$(cat "$D/state.json")" '{"step": 50}'
    equal "$(readlink "$D/last")" step-50
    rm -r "$D"/moved-*
    bytes "$SCRATCH/wanted" 5000000 1
    cmp "$SCRATCH/wanted" "$D/model"
}

@test "deleting works on a full disk and gives the room back at once" {
    local i
    for i in $(seq 20); do bytes "$D/old-$i" 1000000 "$i"; done
    fill_disk
    rm "$D"/old-*
    equal "$(save "$D/new" 15 7)" ok
    equal "$(save "$SCRATCH/new" 15 7)" ok
    cmp "$D/new" "$SCRATCH/new"
    rm "$D/filler"
    equal "$(save "$D/again" 25 8)" ok
}

# Small files and directories until even these do not fit.
use_up_reserve() {
    python3 - "$D" <<'PY'
import errno, os, sys
try:
    for i in range(100000):
        name = "%s/%s-%d" % (sys.argv[1], "n" * 200, i)
        os.mkdir(name); os.chmod(name, 0o700)
        with open(name + ".json", "w") as f: f.write("x" * 100)
    raise SystemExit("100000 files fitted on a full disk")
except OSError as e: assert e.errno == errno.ENOSPC, e
PY
}

@test "when nothing fits any more, not even a name, deleting still frees the disk" {
    fill_disk
    use_up_reserve
    rm "$D/filler"
    equal "$(save "$D/new" 20 1)" ok
    rm -r "${D:?}"/*
}

@test "a disk that is full to the last byte can be mounted again and freed by deleting" {
    fill_disk
    use_up_reserve
    umount_store
    "$EXPFS" fsck "$STORE"
    mount_store
    rm "$D/filler"
    equal "$(save "$D/new" 20 1)" ok
}

@test "a write that is cut short is a true prefix, and the rest can follow" {
    equal "$(save "$D/ballast" 20 5)" ok
    python3 - "$D" <<'PY'
import errno, os, random, sys
d = sys.argv[1]
data = random.Random(6).randbytes(60 << 20)
fd = os.open(d + "/log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
done = 0
try:
    while done < len(data):
        n = os.write(fd, data[done:done + (1 << 20)])
        assert n > 0
        done += n
    raise SystemExit("60 MiB fitted on a disk of 64 with 20 taken")
except OSError as e:
    assert e.errno == errno.ENOSPC, e
assert os.fstat(fd).st_size == done
assert open(d + "/log", "rb").read() == data[:done]
os.unlink(d + "/ballast")
end = min(len(data), done + (10 << 20))
while done < end: done += os.write(fd, data[done:end])
os.close(fd)
assert open(d + "/log", "rb").read() == data[:end]
PY
}

@test "a copy of a shared file that does not fit gives ENOSPC and leaves both whole" {
    equal "$(save "$D/a" 18 1)" ok
    cp "$D/a" "$D/b"
    equal "$(save "$D/ballast" 15 2)" ok
    local sum errno
    sum=$(sha256sum <"$D/a")
    errno=$(python3 - "$D/b" <<'PY'
import errno, os, sys
try:
    fd = os.open(sys.argv[1], os.O_WRONLY)
    os.pwrite(fd, b"changed", 1000)
    os.close(fd)
    print("ok")
except OSError as e: print(errno.errorcode[e.errno])
PY
    )
    [[ $errno == ENOSPC || $errno == ok ]] || fail "writing into a shared file gave $errno"
    equal "$(sha256sum <"$D/a")" "$sum"
    if [[ $errno == ENOSPC ]]; then equal "$(sha256sum <"$D/b")" "$sum"; fi
    rm "$D/ballast"
    printf changed | dd of="$D/b" bs=1 seek=1000 conv=notrunc status=none
    equal "$(dd if="$D/b" bs=1 skip=1000 count=7 status=none)" changed
    equal "$(sha256sum <"$D/a")" "$sum"
}

@test "a file that just fits is whole after close and after a remount" {
    equal "$(save "$D/ballast" 20 1)" ok
    equal "$(save "$D/model" 20 2)" ok
    equal "$(save "$SCRATCH/model" 20 2)" ok
    cmp "$D/model" "$SCRATCH/model"
    remount
    cmp "$D/model" "$SCRATCH/model"
}

@test "a full disk can be unmounted, mounted and cleaned" {
    fill_disk
    remount
    [[ -s $D/filler ]]
    rm "$D/filler"
    equal "$(save "$D/new" 30 1)" ok
}

@test "fallocate on a full disk gives ENOSPC" {
    fill_disk
    python3 - "$D/f" <<'PY'
import errno, os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
try: os.posix_fallocate(fd, 0, 50 << 20); raise SystemExit("50 MiB were allocated on a full disk")
except OSError as e: assert e.errno == errno.ENOSPC, e
PY
    cp "$D/f" "$SCRATCH/f"
}

@test "free space that the mount shows is that of the store's disk, down to nothing" {
    local step a b
    for step in empty half full; do
        case $step in
        half) equal "$(save "$D/half" 25 1)" ok ;;
        full) fill_disk ;;
        esac
        a=$(stat -f -c '%a * %S' "$MNT")
        b=$(stat -f -c '%a * %S' "$SCRATCH/disk")
        ((a - b < 8 * MIB && b - a < 8 * MIB)) || fail "$step: $((a)) free on the mount, $((b)) on the disk"
    done
}

@test "status answers on a full disk and warns of it" {
    fill_disk
    "$EXPFS" status "$MNT" --json | python3 -c '
import json, sys
assert "full" in [w["kind"] for w in json.load(sys.stdin)["warnings"]]'
}

@test "a disk that is full while files are made, replaced and synced never stops the mount" {
    local seconds=12
    long && seconds=120
    fill_disk
    for i in 1 2 3; do save "$D/more$i" 1 $i >/dev/null; done
    rm "$D/more1"
    timeout -s KILL $((seconds + 300)) python3 - "$D" $seconds <<'PY' || fail "the mount stands still"
import os, random, sys, time
top, end = sys.argv[1], time.monotonic() + float(sys.argv[2])
def work(n):
    rnd, d = random.Random(n), "%s/%d" % (top, n)
    os.mkdir(d)
    while time.monotonic() < end:
        path = "%s/%d.pt" % (d, rnd.randrange(400))
        try:
            op = rnd.randrange(16)
            if op > 11:
                with open("%s/%d%s" % (d, rnd.randrange(100000), "y" * 200), "wb") as f: f.write(b"z" * rnd.randrange(9000))
            elif op < 7:
                with open(path, "wb") as f:
                    f.write(rnd.randbytes(rnd.choice((100, 5000, 20000))))
                    if rnd.random() < 0.2: os.fsync(f.fileno())
            elif op < 9: os.rename(path, "%s/%d.pt" % (d, rnd.randrange(400)))
            elif op == 9: os.truncate(path, 10)
            elif op == 10:
                with open(path, "ab") as f: f.write(b"more" * 1000)
            elif rnd.random() < 0.5: os.unlink(path)
        except OSError: pass
pids = []
for n in range(6):
    pid = os.fork()
    if pid == 0:
        try: work(n)
        finally: os._exit(0)
    pids.append(pid)
for pid in pids: os.waitpid(pid, 0)
PY
    timeout 300 "$EXPFS" status "$MNT" 3>&- >/dev/null
    rm -rf "$D"/*
    wait_until sh -c "echo x >'$D/again'"
}
