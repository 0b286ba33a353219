# fsck finds damage of contents and of the database, names the files that are hit, and repairs what has one answer only.

load fsck

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
    local names name
    names=$(sql "SELECT name FROM sqlite_schema WHERE type='index' AND sql IS NOT NULL ORDER BY name")
    for name in $names; do
        sql "DROP INDEX $name"
        finds database None "index $name is missing; --repair makes it" # and nothing of what was repaired before
        refused 3 "$EXPFS" mount "$STORE" "$MNT"
        "$EXPFS" fsck "$STORE" --repair
    done
    equal "$(sql "SELECT name FROM sqlite_schema WHERE type='index' AND sql IS NOT NULL ORDER BY name")" "$names"
    "$EXPFS" fsck "$STORE"
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
    run timeout 300 sync "$D/one"
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
    for i in $(seq 8); do # enough to read for two seconds
        python3 -c 'import sys; f = open(sys.argv[1], "wb"); f.write(sys.argv[2].encode()); f.truncate(1 << 30)' "$D/big-$i" "$i"
    done
    remount
    background "$EXPFS" fsck "$STORE"
    wait_until reads_objects
    timeout 300 "$EXPFS" umount "$MNT" 3>&-
    local status=0
    wait "$BG" || status=$?
    equal $status 3 "exit status of fsck"
    mount_store
    rm "$D"/big-*
}

reads_objects() { find "/proc/$(daemon_pid)/fd" -lname "$STORE/objects/??/*" | grep -q .; }

# three_versions: runs/r/a.pt has versions, the first two of them selected in this order
three_versions() {
    mount_store
    local i
    mkdir "$MNT/runs/r"
    for i in 1 2 3; do checkpoint zip "$MNT/runs/r/a.pt" 5000 $i; done
    umount_store
    sql "INSERT INTO ledger SELECT 60000+v.n, t.run, 'best', 0, v.id, 5, '{}' FROM version v JOIN tracked t ON t.id=v.tracked WHERE v.n<3" \
        "INSERT INTO ledger SELECT 60010, run, name, 1, id, 5, '{}' FROM ledger WHERE id=60001"
}

@test "records of the ledger that no expfs wrote are found, and a repair takes them out" {
    three_versions
    problems
    equal "$FSCK" 0
    sql "INSERT INTO ledger VALUES(60020, 1, 'best', 0, 1, 5, '{')" \
        "INSERT INTO ledger VALUES(60021, 1, 'best', 7, 1, 5, '{}')" \
        "INSERT INTO ledger VALUES(60022, 1, 'best', 0, 1, 5, '[1]')" \
        "INSERT INTO ledger SELECT 60023, 1, 'best', 0, 1, 5, json_quote(hex(zeroblob(20000)))" \
        "INSERT INTO ledger SELECT 60024, 1, '', 0, 1, 5, '{}'" \
        "INSERT INTO ledger VALUES(60025, 1, 'best', 1, 1, 5, '{}')"
    problems >"$SCRATCH/found"
    equal "$(cut -d'|' -f 3 "$SCRATCH/found" | sed 's/ (.*//' | sort | uniq -c | sed 's/^ *//')" "1 decision about no selection
5 record of the ledger that cannot be
2 selection whose version is not there"
    repairs
    equal "$(sql "SELECT id FROM ledger" | paste -sd' ')" "60001 60002 60010"
}

@test "what is selected stays so where its record cannot be read, and what was said of it is not known" {
    local record
    three_versions
    for record in "'{'" "'[1]'" "X'7B7D'" "json_quote(hex(zeroblob(20000)))"; do
        sql "UPDATE ledger SET record=$record WHERE id=60002"
        problems | grep -q "record of the ledger that cannot be"
        repairs
        equal "$(sql "SELECT kind, record FROM ledger WHERE id=60002")" "0 {}" "$record"
    done
    mount_store
    refused 1 "$EXPFS" forget "$MNT/runs/r/a.pt@2"
    [[ $MESSAGE == *"it is the selection r:best"* ]]
}

@test "records of a branch that is not there go to that of their version, and decisions to their selection" {
    three_versions
    sql "UPDATE ledger SET run=12345"
    repairs
    equal "$(sql "SELECT DISTINCT run=(SELECT run FROM tracked WHERE name=CAST('a.pt' AS BLOB)) FROM ledger")" 1
    sql "UPDATE ledger SET name='x' WHERE kind=1"
    finds row None "decision under another name than the selection"
    repairs
    equal "$(sql "SELECT DISTINCT name FROM ledger")" best
}

@test "a version that is gone is damage where a selection counts, and none where it was superseded" {
    three_versions
    damaged_for_good
    sql "DELETE FROM version WHERE n=1"
    repairs
    sql "DELETE FROM version WHERE n=2"
    problems --repair >/dev/null
    finds damaged None "selection whose version is not there (selection 60002"
    sql "DROP TABLE ledger"
    problems --repair >"$SCRATCH/found"
    equal "$FSCK" 0
    grep -q 'all selections and what was decided about them are lost' "$SCRATCH/found"
}
