# fsck finds what is wrong with names, directories and inodes, and repairs it; what lost its name comes to lost+found.

load fsck

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
