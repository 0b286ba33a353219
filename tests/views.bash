# What views.bats, latest.bats and xattrs.bats share.

load lib

setup() { mount_run; }
teardown() { cleanup; }

SIZE=200000

# save PATH SEED: a whole zip checkpoint
save() { checkpoint zip "$1" $SIZE "$2"; }

# latest_is PATH: both views of the run lead there and give its bytes
latest_is() {
    # One process: each that ends closes a copy of what the test holds open, for which the next look-up waits.
    python3 - "$1" "$V/latest" "$R/.expfs/latest" <<'PY'
import os, sys
path, *views = sys.argv[1:]
for view in views:
    assert os.lstat(view).st_size == len(os.fsencode(os.readlink(view))), "size of " + view
    assert os.path.realpath(view) == path, view + " leads to " + os.path.realpath(view)
    assert os.stat(view).st_ino == os.stat(path).st_ino, "inode behind " + view
PY
}

# no_latest: there is none
no_latest() {
    local view
    for view in "$V/latest" "$R/.expfs/latest"; do
        [[ ! -L $view && ! -e $view ]] || fail "$view leads to $(readlink "$view")"
    done
}

# hold PATH: keeps the path open for writing in a background process until release
hold() {
    background python3 -c 'import sys, time; f = open(sys.argv[1], "wb"); f.write(b"PK\x03\x04 half"); f.flush(); open(sys.argv[2], "w").close(); time.sleep(300)' "$1" "$SCRATCH/held"
    HOLDER=$BG
    wait_until test -e "$SCRATCH/held"
    rm "$SCRATCH/held"
}

release() {
    kill -KILL "$HOLDER"
    wait "$HOLDER" 2>/dev/null || true
}
