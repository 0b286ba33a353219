# What fsck.bats and fsck_tree.bats share.

load lib

setup() {
    scratch
    store_init
    require_command python3
}
teardown() { cleanup; }

# sql STATEMENT...: changes the database of the unmounted store behind everybody's back
sql() {
    python3 - "$STORE/expfs.db" "$@" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for statement in sys.argv[2:]:
    for row in db.execute(statement): print(*row)
db.commit()
db.close()
PY
}

# object PATH: the file in the store that has the content of a path of the mount, which is unmounted afterwards
object() {
    local id
    id=$(sql "SELECT printf('%x', object) FROM inode WHERE ino=$(inode "$1")")
    find "$STORE/objects" -name "$id"
}

inode() { sql "SELECT ino FROM dirent WHERE name=CAST('$1' AS BLOB)"; }

# problems [OPTION]: what fsck finds, one a line: kind, path, text, repaired
problems() {
    FSCK=0
    "$EXPFS" fsck "$STORE" --json "$@" >"$SCRATCH/fsck.json" || FSCK=$?
    python3 -c '
import json, sys
for p in json.load(open(sys.argv[1]))["problems"]:
    print(p["kind"], p["path"], p["text"], "repaired" if p["repaired"] else "left", sep="|")' "$SCRATCH/fsck.json"
}

# finds KIND PATH TEXT: fsck exits with 1 and finds exactly this
finds() {
    problems >"$SCRATCH/found"
    equal "$FSCK" 1 "exit status"
    [[ $(cat "$SCRATCH/found") == "$1|$2|$3"*"|left" ]] || fail "expected $1|$2|$3, found: $(cat "$SCRATCH/found")"
}

# repairs: fsck --repair exits with 0, says that all is repaired, and afterwards the store is sound
repairs() {
    problems --repair >"$SCRATCH/found"
    equal "$FSCK" 0 "exit status of the repair ($(cat "$SCRATCH/found"))"
    not grep -v '|repaired$' "$SCRATCH/found"
    [[ -s $SCRATCH/found ]]
    problems >"$SCRATCH/found"
    equal "$FSCK" 0 "exit status afterwards ($(cat "$SCRATCH/found"))"
}

# A store without this is no longer checked by cleanup: its damage is meant to stay.
damaged_for_good() { STORES=(); }

some_files() {
    mount_store
    echo one >"$D/one"
    echo two >"$D/two"
    mkdir "$D/dir"
    echo three >"$D/dir/three"
    ln "$D/one" "$D/dir/link"
    ln -s one "$D/symlink"
    umount_store
}
