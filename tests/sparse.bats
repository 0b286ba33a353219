# Holes cost nothing, read as zeros, and are reported where they are.

load lib

setup() { scratch; store_init; mount_store; }
teardown() { cleanup; }

@test "every check of the program below is run" { all_checks_run sparse; }

@test "one byte at 4 GiB makes a file of 5 GiB that costs next to nothing" { check sparse far_byte; }
@test "st_blocks counts what is allocated, never 0 for bytes and never the holes" { check sparse blocks; }
@test "fallocate makes room, grows the file, or keeps its size" { check sparse preallocate; }
@test "punched and zeroed ranges are zeros to the byte, and give blocks back" { check sparse punch; }
@test "what is cut off and grown again is zeros" { check sparse grown; }
@test "SEEK_DATA and SEEK_HOLE cover all data and end with ENXIO" { check sparse segments; }

@test "cp with and without holes gives the same bytes" {
    python3 - "$D/f" <<'PY'
import sys
with open(sys.argv[1], "wb") as f:
    f.truncate(300 << 20); f.seek(100 << 20); f.write(b"data" * 1000); f.seek(299 << 20); f.write(b"end")
PY
    cp --sparse=always "$D/f" "$D/always"
    cp --sparse=auto "$D/f" "$D/auto"
    cp --sparse=never "$D/f" "$D/never"
    cmp "$D/f" "$D/always"
    cmp "$D/f" "$D/auto"
    cmp "$D/f" "$D/never"
    (($(stat -c '%b * %B' "$D/always") < 10000000)) || fail "the sparse copy costs $(stat -c %b "$D/always") blocks"
    dd if=/dev/zero of="$D/zeros" bs=1M count=10 status=none
    cp "$D/zeros" "$D/zeros2"
    cmp "$D/zeros" "$D/zeros2"
}

@test "the holes of a file are still holes in the store and after a remount" {
    truncate -s 5G "$D/f"
    printf x | dd of="$D/f" bs=1 seek=4G conv=notrunc status=none
    remount
    equal "$(stat -c %s "$D/f")" 5368709120
    equal "$(dd if="$D/f" bs=1 skip=4G count=1 status=none)" x
    (($(du -sk "$STORE" | cut -f1) < 20000)) || fail "the store takes $(du -sk "$STORE")"
    (($(du -sk "$D/f" | cut -f1) < 10000)) || fail "du says $(du -sk "$D/f")"
}
