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
    equal "$(as_nobody ls "$view" | tr '\n' ' ')" "HEAD latest log manifest.yaml pending run step "
    as_nobody cmp "$view/latest" "$MNT/runs/r/step_1.pt"
    not as_nobody test -w "$view"
    not as_nobody touch "$view/new"
}

# --- what views name to whom ---

GROUP=4242

# as UID[:GID[:GROUP,…]] COMMAND...
as() {
    local uid gid groups
    IFS=: read -r uid gid groups <<<"$1"
    shift
    if [[ -n $groups ]]; then groups=--groups=$groups; else groups=--clear-groups; fi
    setpriv "--reuid=$uid" "--regid=${gid:-$uid}" "$groups" -- "$@"
}

# A run with a checkpoint for everybody in it, and a later one in a directory private/ of user 1001 and group 4242.
closed_directory() {
    R=$MNT/runs/r
    V=$MNT/branches/r
    mkdir -p "$R/private"
    checkpoint zip "$R/step_1.pt" 10000 1
    checkpoint zip "$R/private/step_9.pt" 10000 9
    chown "1001:$GROUP" "$R/private"
    chmod "${1:-700}" "$R/private"
}

# sees WHO STEP...: all views of the run, and those of the directories above it, have these steps for him, the last one latest
sees() {
    local who=$1 view
    shift
    for view in "$V" "$R/.expfs" "$MNT/runs/.expfs" "$MNT/.expfs"; do
        equal "$(as "$who" ls -U "$view/step" | tr '\n' ' ')" "$* " "steps in $view for $who"
        equal "$(as "$who" readlink "$view/latest" | sed 's/.*step_//')" "${*: -1}.pt" "latest in $view for $who"
        equal "$(as "$who" readlink "$view/step/9" | sed 's/.*step_//')" "${*: -1}.pt" "step 9 in $view for $who"
        equal "$(as "$who" stat -c %s "$view/latest")" "$(as "$who" readlink -n "$view/latest" | wc -c)" "size of latest for $who"
    done
}

@test "a view names nothing in a directory that the user may not both enter and list" {
    closed_directory
    local mode
    for mode in 700 711 744 600; do
        chmod $mode "$R/private"
        sees 0 1 9
        sees 1002 1
        sees 0 1 9 # whoever asked before
    done
    chmod 705 "$R/private"
    sees 1002 1 9
    chmod 077 "$R/private"
    sees 1001 1
    chmod 700 "$R/private"
    sees 1001 1 9
    mkdir -m 755 "$R/private/below"
    mv "$R/private/step_9.pt" "$R/private/below"
    sees 1001 1 9
    sees 1002 1
}

@test "groups open a view as they open the directory, supplementary ones too" {
    closed_directory 750
    sees 1002 1
    sees "1002:$GROUP" 1 9
    sees "1002:1002:$GROUP" 1 9
    sees "1002:1002:$(seq -s, 5000 5200),$GROUP" 1 9
    sees "1002:1002:$(seq -s, 5000 5200)" 1
    chmod 705 "$R/private" # who is in the group is not one of the others
    sees 1002 1 9
    sees "1002:$GROUP" 1
    sees "1002:1002:5000,$GROUP" 1
}

@test "root in a namespace of his own sees what the user sees, with his groups" {
    require_command unshare
    closed_directory 750
    as 1002 unshare -Ur true 2>/dev/null || skip "users have no namespaces here"
    equal "$(as 1002 unshare -Ur readlink "$V/latest")" ../../runs/r/step_1.pt
    equal "$(as 1002 unshare -Ur ls "$R/.expfs/step")" 1
    equal "$(as "1002:1002:$GROUP" unshare -Ur readlink "$V/latest")" ../../runs/r/private/step_9.pt
    equal "$(as 1001 unshare -U readlink "$V/latest")" ../../runs/r/private/step_9.pt
}

@test "a directory that the user may not look into is not his latest" {
    R=$MNT/runs/r
    mkdir -p "$R/checkpoint-1" "$R/checkpoint-2"
    local n
    for n in 1 2; do
        checkpoint zip "$R/checkpoint-$n/model.pt" 10000 $n
        echo '{}' >"$R/checkpoint-$n/trainer_state.json"
    done
    chmod 700 "$R/checkpoint-2"
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/checkpoint-2
    equal "$(as_nobody readlink "$MNT/branches/r/latest")" ../../runs/r/checkpoint-1
    equal "$(as_nobody ls "$MNT/branches/r/step")" 1
}

@test "warnings name nothing in a directory that the user may not both enter and list" {
    closed_directory
    mkdir -m 700 "$R/checkpoint-3" "$R/.hydra"
    checkpoint torn-zip "$R/private/step_10.pt" 10000 10
    checkpoint zip "$R/private/step_09.pt" 10000 9
    checkpoint torn-zip "$R/checkpoint-3/model.pt" 10000 3
    checkpoint torn-zip "$R/step_2.pt" 10000 2
    echo '{}' >"$R/checkpoint-3/trainer_state.json"
    echo 'lr: [' >"$R/.hydra/config.yaml"
    # told WHO: kinds and names
    told() {
        as "$1" cat "$R/.expfs/status.json" | python3 -c 'import json, sys
print(sorted((w["kind"], w["path"][len("/runs/r/"):]) for w in json.load(sys.stdin)["warnings"]))'
    }
    equal "$(told 0)" "[('duplicate-step', 'private/step_9.pt'), ('hp-unparsable', '.hydra/config.yaml'), ('torn', 'checkpoint-3'), ('torn', 'private/step_10.pt'), ('torn', 'step_2.pt')]"
    equal "$(told 1002)" "[('torn', 'step_2.pt')]"
    equal "$(told 1001)" "[('duplicate-step', 'private/step_9.pt'), ('torn', 'private/step_10.pt'), ('torn', 'step_2.pt')]"
}

@test "a link that one user looked up tells another no more than his own" {
    closed_directory
    python3 - "$V" "$R/.expfs" <<'PY'
import os, sys
opened = [os.open(v + name, os.O_PATH | os.O_NOFOLLOW) for v in sys.argv[1:] for name in ("/latest", "/step/9", "/step")]
def steps():
    return [os.readlink("9", dir_fd=fd) if i % 3 == 2 else os.readlink("", dir_fd=fd) for i, fd in enumerate(opened)]
def sizes():
    return [os.fstat(fd).st_size for i, fd in enumerate(opened) if i % 3 < 2]
assert all(t.endswith("private/step_9.pt") for t in steps()), steps()
assert sizes() == [len(t) for i, t in enumerate(steps()) if i % 3 < 2]
os.setgroups([])
os.setresgid(1002, 1002, 1002)
os.setresuid(1002, 1002, 1002)
assert all(t.endswith("/step_1.pt") and "private" not in t for t in steps()), steps()
assert sizes() == [len(t) for i, t in enumerate(steps()) if i % 3 < 2], sizes()
PY
}

@test "what a user may not see still counts for whether a checkpoint is complete" {
    closed_directory
    mkdir "$R/private/global_step10" "$R/global_step20"
    local name
    for name in private/global_step10 global_step20; do
        checkpoint zip "$R/$name/mp_rank_00_model_states.pt" 10000 10
        checkpoint zip "$R/$name/zero_pp_rank_0_optim_states.pt" 10000 11
    done
    printf global_step10 >"$R/private/latest"
    equal "$(as 1002 readlink "$V/latest")" ../../runs/r/global_step20
    equal "$(xattr "$R/global_step20" user.expfs.complete)" 1
    equal "$(as 1002 ls -U "$V/step" | tr '\n' ' ')" "1 20 "
}

@test "the branch of a run is there for who can walk to the run, and listed for who can find it" {
    closed_directory
    equal "$(as 1002 ls "$MNT/branches")" r
    chmod 711 "$MNT/runs"
    equal "$(as 1002 ls "$MNT/branches")" ""
    equal "$(as 1002 readlink "$V/run")" ../../runs/r
    equal "$(as 1002 readlink "$V/latest")" ../../runs/r/step_1.pt
    chmod 700 "$MNT/runs"
    equal "$(as 1002 ls "$MNT/branches")" ""
    equal "$(errno_of setpriv --reuid=1002 --clear-groups readlink -v "$V/run")" "No such file or directory"
    equal "$(errno_of setpriv --reuid=1002 --clear-groups stat "$V")" "No such file or directory"
    equal "$(as 1002 readlink -m "$MNT/.expfs/latest")" "$MNT/.expfs/latest"
    equal "$(ls "$MNT/branches")" r
    equal "$(readlink "$V/latest")" ../../runs/r/private/step_9.pt
    chmod 711 "$MNT" # the name runs is known to everybody
    chmod 755 "$MNT/runs"
    equal "$(as 1002 ls "$MNT/branches")" r
}

@test "whether a branch that a user cannot reach exists, removing it does not tell" {
    closed_directory
    chmod 777 "$MNT/branches"
    equal "$(errno_of setpriv --reuid=1002 --clear-groups rmdir "$V")" "Read-only file system"
    chmod 700 "$MNT/runs"
    equal "$(errno_of setpriv --reuid=1002 --clear-groups rmdir "$V")" "No such file or directory"
    equal "$(errno_of setpriv --reuid=1002 --clear-groups rmdir "$V-not")" "No such file or directory"
    equal "$(errno_of rmdir "$V")" "Read-only file system"
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
