# Equal bytes are stored once, and nobody can tell except by the space that they take.

load lib

setup() { scratch; store_init; mount_store; }
teardown() { cleanup; }

MIB=$((1024 * 1024))

# What the store's directory takes on its disk, in MiB.
store_mib() {
    sync -f "$STORE"
    du -sm "$STORE" | cut -f1
}

@test "equal files are stored once from the moment of close" {
    local raw unique before
    raw=$(space raw)
    unique=$(space unique)
    before=$(store_mib)
    bytes "$D/a" $((20 * MIB)) 1
    for copy in b c d; do cp "$D/a" "$D/$copy"; done
    equal $(($(space raw) - raw)) $((80 * MIB)) "raw bytes added"
    equal $(($(space unique) - unique)) $((20 * MIB)) "unique bytes added"
    (($(store_mib) - before < 30)) || fail "the store grew by $(($(store_mib) - before)) MiB for 20"
    remount
    equal $(($(space unique) - unique)) $((20 * MIB)) "unique bytes after a remount"
    for copy in b c d; do cmp "$D/a" "$D/$copy"; done
}

@test "files that differ in one byte or in length are kept apart" {
    printf 'a\n' >"$D/1"
    printf 'a\r\n' >"$D/2"
    printf 'a' >"$D/3"
    printf '\xef\xbb\xbfa\n' >"$D/4"
    printf 'b\n' >"$D/5"
    python3 - "$D/zeros" "$D/zero" <<'PY'
import sys
for path, n in zip(sys.argv[1:], (100000, 100001)):
    with open(path, "wb") as f: f.write(bytes(n))
PY
    local sums
    sums=$(cd "$D" && sha256sum -- *)
    equal "$(cut -d' ' -f1 <<<"$sums" | sort -u | wc -l)" 7
    remount
    equal "$(cd "$D" && sha256sum -- *)" "$sums"
}

@test "equal files keep their own inode, link count, mode, owner and times" {
    bytes "$D/a" 100000 1
    sleep 0.05
    bytes "$D/b" 100000 1
    chmod 600 "$D/b"
    [[ ! $D/a -ef $D/b ]]
    equal "$(stat -c %h "$D/a" "$D/b" | tr '\n' ' ')" "1 1 "
    [[ $(stat -c %.9Y "$D/a") != $(stat -c %.9Y "$D/b") ]]
    equal "$(stat -c %a "$D/a")" 644
    cp "$D/a" "$D/b"
    mv "$D/a" "$D/b"
    [[ ! -e $D/a ]]
    bytes "$SCRATCH/wanted" 100000 1
    cmp "$SCRATCH/wanted" "$D/b"
}

@test "tar and rsync -H see equal files as files of their own" {
    bytes "$D/a" 50000 1
    cp "$D/a" "$D/b"
    equal "$(tar -C "$D" -cf - a b | tar -tvf - | grep -c '^-.* 50000 ')" 2
    if command -v rsync >/dev/null; then
        rsync -aH "$D/" "$SCRATCH/out/"
        equal "$(stat -c %h "$SCRATCH/out/a")" 1
    fi
}

@test "appending to, writing in, cutting or mapping one of equal files leaves the others" {
    bytes "$SCRATCH/wanted" 1000000 1
    local f
    for f in append pwrite truncate map grow zero other; do cp "$SCRATCH/wanted" "$D/$f"; done
    python3 - "$D" <<'PY'
import mmap, os, sys
p = lambda n: os.path.join(sys.argv[1], n)
with open(p("append"), "ab") as f: f.write(b"more")
with open(p("pwrite"), "r+b") as f: f.seek(500000); f.write(b"X")
os.truncate(p("truncate"), 999999)
with open(p("map"), "r+b") as f:
    m = mmap.mmap(f.fileno(), 0); m[7] = m[7] ^ 1; m.close()
os.truncate(p("grow"), 1000001)
open(p("zero"), "wb").close()
PY
    cmp "$SCRATCH/wanted" "$D/other"
    python3 - "$SCRATCH/wanted" "$D" <<'PY'
import os, sys
w = open(sys.argv[1], "rb").read()
g = lambda n: open(os.path.join(sys.argv[2], n), "rb").read()
assert g("append") == w + b"more"
assert g("pwrite") == w[:500000] + b"X" + w[500001:]
assert g("truncate") == w[:-1]
assert g("map") == w[:7] + bytes([w[7] ^ 1]) + w[8:]
assert g("grow") == w + b"\0"
assert g("zero") == b""
PY
    local sums
    sums=$(cd "$D" && sha256sum -- *)
    remount
    equal "$(cd "$D" && sha256sum -- *)" "$sums"
}

@test "a reader with the file open keeps the shared bytes while its twin is changed" {
    bytes "$D/a" 1000000 1
    cp "$D/a" "$D/b"
    exec 7<"$D/b"
    printf changed | dd of="$D/a" conv=notrunc status=none
    bytes "$SCRATCH/wanted" 1000000 1
    cmp "$SCRATCH/wanted" - <&7
    exec 7<&-
    cmp "$SCRATCH/wanted" "$D/b"
}

@test "opening a shared file for writing without writing costs nothing and changes nothing" {
    bytes "$D/a" $((10 * MIB)) 1
    cp "$D/a" "$D/b"
    local unique
    unique=$(space unique)
    python3 -c 'import sys; open(sys.argv[1], "r+b").close(); open(sys.argv[1], "ab").close()' "$D/b"
    cmp "$D/a" "$D/b"
    equal "$(space unique)" "$unique" "unique bytes"
}

@test "deleting one of equal files frees nothing, deleting the last frees all" {
    local unique
    unique=$(space unique)
    bytes "$D/a" $((30 * MIB)) 1
    cp "$D/a" "$D/b"
    rm "$D/a"
    equal $(($(space unique) - unique)) $((30 * MIB)) "unique bytes with one left"
    bytes "$SCRATCH/wanted" $((30 * MIB)) 1
    cmp "$SCRATCH/wanted" "$D/b"
    rm "$D/b"
    equal "$(space unique)" "$unique" "unique bytes with none left"
    umount_store
    (($(store_mib) < 20)) || fail "the store still takes $(store_mib) MiB"
}

@test "a deleted file that is open is readable although its twin is deleted too" {
    bytes "$D/a" 3000000 1
    cp "$D/a" "$D/b"
    exec 7<"$D/a"
    rm "$D/a" "$D/b"
    bytes "$SCRATCH/wanted" 3000000 1
    cmp "$SCRATCH/wanted" - <&7
    exec 7<&-
}

@test "du counts each of equal files, holes not, and df moves by unique bytes" {
    bytes "$D/a" $((20 * MIB)) 1
    cp "$D/a" "$D/b"
    truncate -s 1G "$D/sparse"
    sync -f "$MNT"
    local used apparent
    used=$(du -sm "$D" | cut -f1)
    apparent=$(du -sm --apparent-size "$D" | cut -f1)
    ((used >= 40 && used <= 45)) || fail "du says $used MiB for 40"
    ((apparent >= 1064 && apparent <= 1066)) || fail "du --apparent-size says $apparent MiB for 1064"
    (($(space stored) >= 20 * MIB && $(space stored) < 25 * MIB)) || fail "stored is $(space stored)"
}

@test "a checkpoint saved under many names in the same bytes is one object" {
    local unique
    mkdir -p "$MNT/runs/a" "$MNT/runs/b"
    checkpoint zip "$MNT/runs/a/step_1.pt" $((5 * MIB)) 1
    unique=$(space unique)
    cp "$MNT/runs/a/step_1.pt" "$MNT/runs/a/best.pt"
    cp "$MNT/runs/a/step_1.pt" "$MNT/runs/b/last.tmp"
    mv "$MNT/runs/b/last.tmp" "$MNT/runs/b/last.pt"
    ln "$MNT/runs/a/step_1.pt" "$MNT/runs/b/linked.pt"
    equal "$(space unique)" "$unique" "unique bytes"
}

@test "files written by several processes at once are shared all the same" {
    local unique i
    unique=$(space unique)
    python3 - "$D" <<'PY'
import os, random, sys
data = random.Random(1).randbytes(4 << 20)
for i in range(8):
    if os.fork() == 0:
        with open("%s/rank-%d" % (sys.argv[1], i), "wb") as f:
            for at in range(0, len(data), 65536): f.write(data[at:at + 65536])
        os._exit(0)
for i in range(8): assert os.wait()[1] == 0
PY
    equal $(($(space unique) - unique)) $((4 * MIB)) "unique bytes added"
    for i in 1 2 3 4 5 6 7; do cmp "$D/rank-0" "$D/rank-$i"; done
}

@test "the store holds no writable link to a file's bytes" {
    bytes "$D/a" 100000 1
    cp "$D/a" "$D/b"
    equal "$(find "$STORE" -type f -links +1)" "" "hard links in the store"
}

@test "a byte flipped in the store is found by fsck, which names the files" {
    bytes "$D/a" 1000000 1
    cp "$D/a" "$D/b"
    umount_store
    local object
    object=$(find "$STORE/objects" -type f -size 1000000c)
    equal "$(wc -l <<<"$object")" 1 "objects of this size"
    cp -p "$object" "$SCRATCH/good"
    chmod u+w "$object"
    printf '\xff\x00\xff' | dd of="$object" bs=1 seek=500000 conv=notrunc status=none
    run "$EXPFS" fsck "$STORE"
    equal "$status" 1 "exit status of fsck"
    [[ $output == *d/a* && $output == *d/b* ]] || fail "fsck does not name d/a and d/b: $output"
    cp -p "$SCRATCH/good" "$object"
    run "$EXPFS" fsck "$STORE"
    equal "$status" 0 "exit status of fsck after the repair"
}
