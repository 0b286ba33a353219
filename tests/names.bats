# A name is bytes: any of them but the slash, 255 at most, and nothing folds or forbids them.

load lib

setup() { scratch; store_init; mount_store; }
teardown() { cleanup; }

@test "every check of the program below is run" { all_checks_run names; }

@test "names of any bytes are kept, found, listed, renamed and removed" { check names bytes; }
@test "names of 255 bytes work for files, directories and links" { check names longest; }
@test "a metric with a slash makes directories that can be removed again" { check names slash; }
@test "the names . and .. are no names of one's own" { check names dots; }

@test "a daemon with LC_ALL=C keeps every name over a remount" {
    umount_store
    LC_ALL=C mount_store
    mkdir "$D/kept"
    python3 - "$D/kept" <<'PY'
import os, sys
names = [b"mod\xc3\xa8le.pt", b"mode\xcc\x80le.pt", b"m\xff.pt", b"a\nb", b" ", b"-rf", b"\xff" * 255]
for n in names:
    with open(os.path.join(sys.argv[1].encode(), n), "wb") as f: f.write(n)
PY
    umount_store
    LC_ALL=C mount_store
    python3 - "$D/kept" <<'PY'
import os, sys
d = sys.argv[1].encode()
names = os.listdir(d)
assert len(names) == 7, names
for n in names: assert open(os.path.join(d, n), "rb").read() == n, n
PY
}

@test "a directory whose listing takes several replies has its own names in it only" {
    echo x >"$MNT/step_1.pt"
    equal "$(ls "$MNT/branches")" main
    mkdir "$D/long"
    python3 - "$D/long" <<'PY'
import os, sys
names = {"%0230d" % i for i in range(500)}
for n in names: open(os.path.join(sys.argv[1], n), "x").close()
assert sorted(os.listdir(sys.argv[1])) == sorted(names)
PY
}

@test "a directory of many entries lists, finds and loses them all" {
    local count=20000
    long && count=100000
    mkdir "$D/many"
    python3 - "$D/many" $count <<'PY'
import os, sys
d, count = sys.argv[1], int(sys.argv[2])
for i in range(count): os.close(os.open("%s/entry-%06d" % (d, i), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
names = os.listdir(d)
assert len(names) == len(set(names)) == count
for e in os.scandir(d): assert e.inode() == e.stat().st_ino
PY
    equal "$(ls -l "$D/many" | wc -l)" $((count + 1))
    remount
    equal "$(ls -f "$D/many" | wc -l)" $((count + 2))
    [[ -f $D/many/entry-$(printf %06d $((count / 2))) ]]
    rm -r "$D/many"
    [[ ! -e $D/many ]]
}

@test "names with a colon, a percent sign or a newline are found as checkpoints" {
    mkdir -p "$MNT/runs/odd"
    checkpoint zip "$MNT/runs/odd/epoch=3-step=7.ckpt" 10000 1
    equal "$(readlink -f "$MNT/runs/odd/.expfs/latest")" "$MNT/runs/odd/epoch=3-step=7.ckpt"
    checkpoint zip "$MNT/runs/odd/a 100%: "$'\n'"loss=0.1_step_9.pt" 10000 2
    cmp "$MNT/runs/odd/.expfs/latest" "$MNT/runs/odd/a 100%: "$'\n'"loss=0.1_step_9.pt"
    rm "$MNT/runs/odd/"*step_9.pt
    equal "$(readlink -f "$MNT/runs/odd/.expfs/latest")" "$MNT/runs/odd/epoch=3-step=7.ckpt"
}
