# fsck finds what is wrong with a store, names the files that are hit, and repairs what has one answer only.

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

@test "changed bytes are found, and each file with that content is named" {
    mount_store
    bytes "$D/a" 100000 1
    cp "$D/a" "$D/b"
    ln "$D/a" "$D/c"
    umount_store
    damaged_for_good
    printf CHANGED | dd of="$(object a)" bs=1 seek=50000 conv=notrunc status=none
    problems | cut -d'|' -f 1-2 | sort >"$SCRATCH/found"
    equal "$(tr '\n' ' ' <"$SCRATCH/found")" "damaged|/d/a damaged|/d/b damaged|/d/c "
    "$EXPFS" fsck "$STORE" >"$SCRATCH/text" || equal $? 1
    grep -q '^damaged: /d/b: content differs' "$SCRATCH/text"
}

@test "a content that is cut short, longer or gone is found, and never removed by a repair" {
    some_files
    damaged_for_good
    local file
    file=$(object two)
    printf x >>"$file"
    finds damaged /d/two "content has 5 bytes instead of 4"
    problems --repair >/dev/null
    equal $FSCK 1 "exit status of the repair"
    truncate -s 3 "$file"
    finds damaged /d/two "content has 3 bytes instead of 4"
    mv "$file" "$SCRATCH/away"
    finds damaged /d/two "content is not there"
    mv "$SCRATCH/away" "$file"
    printf 'two\n' >"$file"
    problems
    equal $FSCK 0
}

@test "a content that the disk does not give is found" {
    some_files
    damaged_for_good
    local file
    file=$(object two)
    rm "$file"
    mkdir "$file"
    problems >"$SCRATCH/found"
    equal "$FSCK" 1
    grep -q '^damaged|/d/two|content' "$SCRATCH/found"
}

@test "damage is found while the store is mounted, and a repair is refused" {
    some_files
    damaged_for_good
    printf 'tw0\n' >"$(object two)"
    mount_store
    exec 4>"$D/being-written"
    printf some >&4
    problems >"$SCRATCH/found"
    equal "$FSCK" 1
    equal "$(cut -d'|' -f 1-2 "$SCRATCH/found")" "damaged|/d/two"
    refused 3 "$EXPFS" fsck "$STORE" --repair
    [[ $MESSAGE == *"$MNT"* ]] || fail "the message does not name the mount: $MESSAGE"
    exec 4>&-
}

@test "a file that nothing refers to is garbage, and a repair removes it" {
    some_files
    mkdir -p "$STORE/objects/7f"
    echo x >"$STORE/objects/7f/7f7fff"
    finds garbage None "objects/7f/7f7fff is no file's content"
    repairs
    [[ ! -e $STORE/objects/7f/7f7fff ]]
}

@test "a file that is no object is told and left alone" {
    some_files
    damaged_for_good
    echo x >"$STORE/objects/00/notes.txt"
    problems --repair >"$SCRATCH/found"
    equal "$FSCK" 1
    [[ -e $STORE/objects/00/notes.txt ]]
    rm "$STORE/objects/00/notes.txt"
}

@test "wrong link counts are found and repaired" {
    some_files
    sql "UPDATE inode SET nlink=1 WHERE ino=$(inode one)"
    finds row /d/one "link count differs from the names (1, 2)"
    repairs
    sql "UPDATE inode SET nlink=7 WHERE ino=$(inode dir)"
    finds row /d/dir "link count differs from the subdirectories (7, 2)"
    repairs
    mount_store
    equal "$(stat -c %h "$D/one" "$D/dir" | tr '\n' ' ')" "2 2 "
}

@test "a name that leads nowhere is found and removed, the rest stays" {
    some_files
    sql "DELETE FROM inode WHERE ino=$(inode symlink)"
    finds row /d/symlink "entry that leads to no inode"
    repairs
    mount_store
    equal "$(ls "$D" | tr '\n' ' ')" "dir one two "
    equal "$(cat "$D/dir/link")" one
}

@test "files and directories that lost their name come to lost+found with all that is in them" {
    some_files
    local two dir
    two=$(inode two)
    dir=$(inode dir)
    sql "DELETE FROM dirent WHERE ino IN ($two, $dir)"
    problems >"$SCRATCH/found"
    equal "$FSCK" 1
    grep -q "inode without a name ($two)" "$SCRATCH/found"
    repairs
    mount_store
    equal "$(stat -c %a "$MNT/lost+found")" 700
    equal "$(cat "$MNT/lost+found/#$two")" two
    equal "$(cat "$MNT/lost+found/#$dir/three" "$MNT/lost+found/#$dir/link" | tr '\n' ' ')" "three one "
    umount_store
    sql "DELETE FROM dirent WHERE ino=$(inode one) AND parent=$(inode d)"
    repairs
    mount_store
    equal "$(stat -c %h "$MNT/lost+found/#$dir/link")" 1
}

@test "a file named lost+found is not in the way of a repair" {
    mount_store
    echo mine >"$MNT/lost+found"
    echo x >"$D/x"
    umount_store
    sql "DELETE FROM dirent WHERE ino=$(inode x)"
    repairs
    mount_store
    equal "$(cat "$MNT/lost+found")" mine
    equal "$(cat "$MNT"/lost+found.*/*)" x
}

@test "entries of a directory that is gone are removed and what they led to is saved" {
    some_files
    sql "DELETE FROM inode WHERE ino=$(inode dir)"
    repairs
    mount_store
    equal "$(cat "$MNT"/lost+found/*)" three
    equal "$(stat -c %h "$D/one")" 1
}

@test "wrong sizes, types and marks are found and repaired" {
    some_files
    sql "UPDATE inode SET size=99 WHERE ino=$(inode two)"
    finds row /d/two "size differs from that of the content"
    repairs
    sql "UPDATE dirent SET type=4 WHERE name=CAST('two' AS BLOB)" "UPDATE inode SET nlink=nlink+1 WHERE ino=$(inode d)"
    finds row /d/two "entry of another type than its inode"
    repairs
    sql "UPDATE inode SET flags=flags|4 WHERE ino=$(inode two)"
    finds row /d/two "file and content differ in whether it is live"
    repairs
    sql "INSERT INTO xattr VALUES(999999, CAST('user.a' AS BLOB), CAST('b' AS BLOB))"
    finds row None "attribute of no inode"
    repairs
    mount_store
    equal "$(cat "$D/two")" two
    equal "$(stat -c %s "$D/two")" 4
}

@test "a content that no file has is found and comes to lost+found, or goes if its bytes are gone" {
    some_files
    sql "DELETE FROM inode WHERE ino=$(inode two)" "DELETE FROM dirent WHERE name=CAST('two' AS BLOB)"
    finds row None "content that no file has"
    repairs
    mount_store
    equal "$(cat "$MNT"/lost+found/*)" two
    echo four >"$D/four"
    umount_store
    local file
    file=$(object four)
    sql "DELETE FROM inode WHERE ino=$(inode four)" "DELETE FROM dirent WHERE name=CAST('four' AS BLOB)"
    rm "$file"
    finds row None "content that no file has"
    repairs
}

@test "a file whose content has no row is damaged, and its bytes are no garbage" {
    some_files
    damaged_for_good
    local file id
    file=$(object two)
    id=$(basename "$file")
    sql "DELETE FROM object WHERE id=$((16#$id))"
    problems --repair >"$SCRATCH/found"
    equal "$FSCK" 1
    equal "$(cut -d'|' -f 1-2 "$SCRATCH/found")" "damaged|/d/two"
    equal "$(cat "$file")" two
}

# name_again DIR PARENT NAME ID: one more name for a directory
name_again() {
    sql "INSERT INTO dirent SELECT $(inode "$2"), $4, CAST('$3' AS BLOB), ino, type, class, \"order\" FROM dirent WHERE ino=$(inode "$1") LIMIT 1"
}

@test "a directory with several names keeps the first that leads to the top, with all that is in it" {
    some_files
    name_again dir d again 999
    problems >"$SCRATCH/found"
    equal "$FSCK" 1
    grep -q '^row|/d/again|directory with several names' "$SCRATCH/found"
    repairs
    mount_store
    equal "$(ls "$D/again")" "$(printf 'link\nthree')" # 999 is the lower number
    [[ ! -e $D/dir ]]
    equal "$(stat -c %h "$D" "$D/again" | tr '\n' ' ')" "3 2 "
    mv "$D/again" "$D/dir"
    mkdir "$D/other" "$D/dir/inner"
    echo four >"$D/dir/inner/four"
    umount_store
    name_again d inner up 999 # the first name, but it is below itself
    repairs
    mount_store
    equal "$(cat "$D/dir/inner/four" "$D/dir/three" | tr '\n' ' ')" "four three "
    [[ ! -e $D/dir/inner/up ]]
    umount_store
    name_again inner other second 998 # two at once, each of which has a name below the other
    name_again other inner first 997
    repairs
    mount_store
    equal "$(find "$D" -name four | wc -l)" 1
}

@test "directories in a circle that nothing leads to come to lost+found, the oldest on top" {
    some_files
    mount_store
    mkdir -p "$D/x/y/z"
    echo deep >"$D/x/y/z/deep"
    umount_store
    local x
    x=$(inode x)
    sql "UPDATE dirent SET parent=$(inode z) WHERE ino=$x"
    problems >"$SCRATCH/found"
    equal "$FSCK" 1
    grep -q "cannot be reached from the top" "$SCRATCH/found"
    repairs
    mount_store
    equal "$(cat "$MNT/lost+found/#$x/y/z/deep")" deep
    equal "$(cat "$D/dir/three")" three
    umount_store
    x=$(inode dir)
    sql "UPDATE dirent SET parent=$x WHERE ino=$x"
    repairs
    mount_store
    equal "$(cat "$MNT/lost+found/#$x/three")" three
}

@test "a name of the top directory is found and removed" {
    some_files
    sql "INSERT INTO dirent VALUES($(inode dir), 999, CAST('up' AS BLOB), 1, 4, 0, 0)" "UPDATE inode SET nlink=nlink+1 WHERE ino=$(inode dir)"
    finds row /d/dir/up "entry that leads to the top directory"
    repairs
    mount_store
    equal "$(cat "$D/dir/three")" three
}

@test "a top directory that is gone is made again, and all names stay" {
    some_files
    sql "DELETE FROM inode WHERE ino=1"
    repairs
    mount_store
    equal "$(cat "$D/one" "$D/dir/three" | tr '\n' ' ')" "one three "
    equal "$(stat -c '%a %U' "$MNT")" "755 $(id -un)"
    umount_store
    sql "UPDATE inode SET mode=33188 WHERE ino=1"
    repairs
    mount_store
    equal "$(cat "$D/one" "$D/dir/three" | tr '\n' ' ')" "one three "
}

@test "a next number that is not beyond those in use is found and repaired, and no number is given twice" {
    some_files
    local value
    for value in 2 -1 "'x'" "9223372036854775807" "(SELECT max(ino) FROM inode)"; do
        sql "UPDATE store SET value=$value WHERE key='next_id'"
        finds database None "next number ("
        refused 3 "$EXPFS" mount "$STORE" "$MNT"
        [[ $MESSAGE == *"the store is damaged; run: expfs fsck $STORE" ]] || fail "$MESSAGE"
        repairs
        mount_store
        echo new >"$D/new"
        equal "$(cat "$D/one" "$D/new" | tr '\n' ' ')" "one new "
        rm "$D/new"
        umount_store
    done
    sql "DELETE FROM store"
    repairs
}

@test "an index that is missing is found and made" {
    some_files
    local name
    for name in $(sql "SELECT name FROM sqlite_schema WHERE type='index' AND sql IS NOT NULL"); do
        sql "DROP INDEX $name"
        finds database None "index $name is missing; --repair makes it"
        refused 3 "$EXPFS" mount "$STORE" "$MNT"
        repairs
        equal "$(sql "SELECT count(*) FROM sqlite_schema WHERE name='$name'")" 1
    done
    sql "DROP INDEX dirent_name" "INSERT INTO dirent SELECT parent, 99999, name, $(inode two), type, class, \"order\" FROM dirent WHERE name=CAST('one' AS BLOB)"
    repairs
    mount_store
    equal "$(cat "$D/one" "$D/two" "$D/#99999" | tr '\n' ' ')" "one two two "
}

@test "a table that is missing is found, and made where nothing more is lost with it" {
    mount_store
    echo first >"$D/file"
    sync "$D/file"
    exec 7>"$D/file" # keeps what was before until the file is closed for good
    echo second >&7
    kill_daemon
    exec 7>&-
    sql "DROP TABLE undo"
    problems >"$SCRATCH/found"
    equal "$FSCK" 1
    grep -q '^database|None|table undo is missing; --repair makes an empty one: ' "$SCRATCH/found"
    grep -q '^database|None|index undo_old is missing' "$SCRATCH/found"
    repairs
    mount_store
    equal "$(cat "$D/file" "$MNT"/lost+found/* | tr '\n' ' ')" "second first "
    setfattr -n user.a -v b "$D/file"
    umount_store
    sql "DROP TABLE xattr"
    finds database None "table xattr is missing; --repair makes an empty one: all extended attributes are lost"
    repairs
    sql "DROP TABLE store"
    repairs
    mount_store
    equal "$(cat "$D/file")" second
    equal "$(xattr "$D/file" user.a)" ""
    setfattr -n user.a -v c "$D/file"
    equal "$(xattr "$D/file" user.a)" c
}

@test "without the tables of names, inodes or contents nothing is repaired, and it is said where to read on" {
    some_files
    damaged_for_good
    local table before
    for table in inode dirent object; do
        cp -a "$STORE" "$SCRATCH/copy"
        sql "DROP TABLE $table" "DROP TABLE IF EXISTS undo"
        problems --repair >"$SCRATCH/found"
        equal "$FSCK" 1
        grep -q "^database|None|table $table is missing, and nothing can replace it; see doc/recovery.md.*|left" "$SCRATCH/found"
        not grep -v '|left$' "$SCRATCH/found"
        equal "$(sql "SELECT count(*) FROM sqlite_schema WHERE name IN ('$table', 'undo')")" 0
        rm -rf "$STORE"
        mv "$SCRATCH/copy" "$STORE"
    done
    sql "CREATE TRIGGER t AFTER UPDATE ON inode BEGIN DELETE FROM dirent; END"
    problems --repair >"$SCRATCH/found"
    equal "$FSCK" 1
    grep -q '^database|None|trigger t is in it' "$SCRATCH/found"
    rm "$STORE/expfs.db"
    problems --repair >"$SCRATCH/found"
    equal "$FSCK" 1
    grep -q '^database|None|expfs.db is missing' "$SCRATCH/found"
}

@test "a store with every kind of damage at once is told of, repaired as far as may be, and goes on" {
    some_files
    damaged_for_good
    printf 'tw0\n' >"$(object two)"
    sql "UPDATE inode SET nlink=5 WHERE ino=$(inode one)" "DELETE FROM inode WHERE ino=$(inode symlink)" \
        "DELETE FROM dirent WHERE ino=$(inode dir)"
    problems --repair >"$SCRATCH/found"
    equal "$FSCK" 1
    equal "$(grep -c 'left$' "$SCRATCH/found")" 1
    mount_store
    equal "$(cat "$D/one")" one
    equal "$(cat "$MNT"/lost+found/*/three)" three
    echo new >"$D/new"
}

@test "a database that is damaged in itself is told of, and no repair touches the store" {
    some_files
    damaged_for_good
    local page before
    page=$(sql "SELECT rootpage FROM sqlite_schema WHERE name='dirent_name'")
    dd if=/dev/urandom of="$STORE/expfs.db" bs=4096 seek=$((page - 1)) count=1 conv=notrunc status=none
    mkdir -p "$STORE/objects/7f"
    echo x >"$STORE/objects/7f/7f7fff"
    before=$(find "$STORE/objects" -type f -exec sha256sum {} + | sort)
    problems --repair >"$SCRATCH/found" 2>"$SCRATCH/err"
    equal "$FSCK" 1
    grep -q '^database|None|' "$SCRATCH/found"
    equal "$(find "$STORE/objects" -type f -exec sha256sum {} + | sort)" "$before"
    dd if=/dev/zero of="$STORE/expfs.db" bs=4096 count=1 conv=notrunc status=none
    problems >"$SCRATCH/found" 2>"$SCRATCH/err"
    equal "$FSCK" 1
    grep -q '^database|None|' "$SCRATCH/found"
}

@test "of a damaged file it is said whether what it had before is still there" {
    mount_store
    echo first >"$D/file"
    sync "$D/file"
    exec 7>"$D/file" # keeps what was before until the file is closed for good
    echo second >&7
    kill_daemon
    exec 7>&-
    echo x >"$(object file)"
    finds damaged /d/file "content has 2 bytes instead of 7"
    grep -q 'what it had before its last save is still there (object ' "$SCRATCH/found"
    mount_store
    rm "$D/file"
}

@test "undo rows of what is not there are found and removed" {
    some_files
    sql "INSERT INTO undo VALUES(999999, NULL)" "INSERT INTO undo VALUES($(inode two), 888888)"
    problems >"$SCRATCH/found"
    equal "$FSCK" 1
    equal "$(sort "$SCRATCH/found")" "row|/d/two|undo row that keeps no content (object d9038)|left
row|None|undo row of no inode (999999)|left"
    repairs
}

@test "a file whose content the database has lost can be renamed, replaced and removed, and its fsync fails" {
    some_files
    sql "DELETE FROM object WHERE id IN (SELECT object FROM inode WHERE ino IN ($(inode one), $(inode two)))"
    mount_store
    run timeout 20 sync "$D/one"
    [[ $status == 1 && $output == *"Input/output error"* ]] || fail "sync: $status $output"
    mv "$D/one" "$D/moved"
    ln "$D/moved" "$D/second"
    echo new >"$D/new"
    mv "$D/new" "$D/two"
    equal "$(cat "$D/two")" new
    rm "$D/moved" "$D/second" "$D/dir/link"
    umount_store
}

@test "a log of the database that is cut or garbled leaves a moment before, and a store that is sound" {
    local how
    for how in "truncate -s -5000" "truncate -s 100" "dd if=/dev/urandom bs=1000 count=5 conv=notrunc seek=20 status=none of="; do
        mount_store
        rm -rf "$D"/*
        local i
        for i in $(seq 20); do echo "$i" >"$D/f$i"; done
        sync "$D"
        for i in $(seq 20); do echo "again $i" >"$D/f$i"; done
        kill_daemon
        if [[ $how == dd* ]]; then $how"$STORE/expfs.db-wal"; else $how "$STORE/expfs.db-wal"; fi
        "$EXPFS" fsck "$STORE" --repair || (($? == 1))
        mount_store
        ls "$D" >/dev/null
        umount_store
    done
}

@test "fsck in the daemon is given up when the store is unmounted" {
    mount_store
    local i
    for i in $(seq 40); do # enough to read for some seconds
        python3 -c 'import sys; f = open(sys.argv[1], "wb"); f.write(sys.argv[2].encode()); f.truncate(1 << 30)' "$D/big-$i" "$i"
    done
    umount_store
    mount_store
    background "$EXPFS" fsck "$STORE"
    sleep 0.5
    timeout 60 "$EXPFS" umount "$MNT" 3>&-
    local status=0
    wait "$BG" || status=$?
    equal $status 3 "exit status of fsck"
    mount_store
    rm "$D"/big-*
}
