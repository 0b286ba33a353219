# Several users on one mount: permissions, owners, sticky and setgid bits as on a disk.

load lib

setup() {
    scratch
    store_init
    require_user
    mount_store -o allow_other
    chmod 777 "$D"
}
teardown() { cleanup; }

@test "every check of the program below is run" { all_checks_run users; }

@test "access() says what the attempt gives, for all modes and users" { check users access_agrees; }
@test "a file belongs to the user who made it, and others may not touch it" { check users owners; }
@test "in a sticky directory only the owner deletes and renames" { check users sticky; }
@test "in a setgid directory the group is inherited" { check users setgid_directory; }
@test "suid and sgid go when the content or the owner changes" { check users suid_goes; }
@test "setting sgid for a group that one is not in has no effect" { check users setgid_of_strangers; }
@test "the owner of a directory removes what root and others left in it" { check users cleaning; }

@test "owners and modes are the same after a remount" {
    as_nobody mkdir "$D/of-nobody"
    as_nobody touch "$D/of-nobody/f"
    chown 1234:5678 "$D/of-nobody/f"
    chmod 4750 "$D/of-nobody/f"
    local before
    before=$(stat -c '%u %g %a' "$D/of-nobody" "$D/of-nobody/f")
    remount -o allow_other
    equal "$(stat -c '%u %g %a' "$D/of-nobody" "$D/of-nobody/f")" "$before"
}

@test "without allow_other another user sees nothing" {
    remount
    equal "$(errno_of "${AS_NOBODY[@]}" ls "$MNT")" "Permission denied"
    equal "$(errno_of "${AS_NOBODY[@]}" cat "$D/x")" "Permission denied"
}

@test "the store is closed to other users" {
    echo secret >"$D/f"
    chmod 600 "$D/f"
    equal "$(errno_of "${AS_NOBODY[@]}" find "$STORE")" "Permission denied"
}

@test "a read-only mount answers EROFS to every change and access() says so" {
    echo x >"$D/f"
    remount -o ro,allow_other
    local c
    for c in "touch $D/new" "mkdir $D/new" "rm $D/f" "mv $D/f $D/g" "ln $D/f $D/g" "ln -s f $D/g" \
        "chmod 600 $D/f" "truncate -s 0 $D/f" "touch -d 2020-01-01 $D/f" "chown 1 $D/f" "mkfifo $D/p"; do
        # shellcheck disable=SC2086 # a command and its words
        [[ $(errno_of $c) == "Read-only file system" ]] || fail "$c: $(errno_of $c)"
    done
    [[ ! -w $D/f && -r $D/f ]]
    equal "$(cat "$D/f")" x
}

@test "for a user access() of a view and the attempt agree" {
    mkdir "$MNT/runs/r"
    checkpoint zip "$MNT/runs/r/step_1.pt" 10000 1
    local view=$MNT/branches/r
    as_nobody test -r "$view" -a -x "$view"
    equal "$(as_nobody ls "$view" | tr '\n' ' ')" "latest run step "
    as_nobody cmp "$view/latest" "$MNT/runs/r/step_1.pt"
    not as_nobody test -w "$view"
    not as_nobody touch "$view/new"
}

@test "a user without privileges mounts and uses a store of his own" {
    mkdir "$SCRATCH/his"
    chown nobody "$SCRATCH/his"
    as_nobody test -x "$EXPFS" || skip "nobody cannot reach $EXPFS"
    as_nobody test -w /dev/fuse || skip "nobody may not use /dev/fuse"
    as_nobody "$EXPFS" init "$SCRATCH/his/store"
    STORES+=("$SCRATCH/his/store")
    as_nobody mkdir "$SCRATCH/his/mnt"
    as_nobody "$EXPFS" mount "$SCRATCH/his/store" "$SCRATCH/his/mnt" >"$SCRATCH/mount.out" 2>&1 3>&- || fail "$(cat "$SCRATCH/mount.out")"
    as_nobody sh -c "echo his >'$SCRATCH/his/mnt/f' && cat '$SCRATCH/his/mnt/f'" | grep -qx his
    as_nobody stat -c %U "$SCRATCH/his/mnt/f" | grep -qx nobody
    as_nobody "$EXPFS" umount "$SCRATCH/his/mnt" 3>&-
    not is_mounted "$SCRATCH/his/mnt"
}
