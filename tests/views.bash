# What views.bats, latest.bats and xattrs.bats share.

load lib

setup() { mount_run; }
teardown() { cleanup; }

SIZE=200000

# save PATH SEED: a whole zip checkpoint
save() { checkpoint zip "$1" $SIZE "$2"; }

# latest_is PATH: both views of the run lead there and give its bytes
latest_is() {
    local view
    for view in "$V/latest" "$R/.expfs/latest"; do
        equal "$(stat -c %s "$view")" "$(readlink -n "$view" | wc -c)" "size of ${view#"$MNT"/}"
        equal "$(readlink -f "$view")" "$1" "${view#"$MNT"/}"
        equal "$(stat -Lc %i "$view")" "$(stat -c %i "$1")" "inode behind ${view#"$MNT"/}"
    done
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
