# The daemon's life: mounting, ending, dying, being refused, and saying so in one line.

load lib

setup() {
    scratch
    store_init
}
teardown() { cleanup; }

mount_field() { awk -v p="$MNT" -v f="$1" '$5 == p { sub(/.* - /, ""); print $f }' /proc/self/mountinfo; }

# --- the ordinary way ---

@test "mount returns when the mount is usable and umount when the daemon has ended" {
    mount_store
    equal "$(mount_field 1)" fuse.expfs "file system type"
    equal "$(mount_field 2)" "$STORE" "source"
    echo x >"$D/f"
    local pid
    pid=$(daemon_pid)
    umount_store
    no_process "$pid"
    not is_mounted "$MNT"
    mount_store
    equal "$(cat "$D/f")" x
}

@test "a new store has the ordinary directories and nothing listed beside them" {
    mount_store
    rmdir "$D"
    equal "$(ls -A "$MNT" | tr '\n' ' ')" "HP branches data experiments models runs "
}

@test "mount -f stays in the foreground, and SIGTERM ends it with 0" {
    background "$EXPFS" mount -f "$STORE" "$MNT"
    wait_until is_mounted "$MNT"
    echo x >"$MNT/f"
    kill -TERM "$BG"
    local status=0
    wait "$BG" || status=$?
    equal $status 0 "exit status"
    not is_mounted "$MNT"
    mount_store
    equal "$(cat "$MNT/f")" x
}

@test "SIGINT ends a daemon in the foreground with 0 and unmounts" {
    background env --default-signal=INT "$EXPFS" mount -f "$STORE" "$MNT"
    wait_until is_mounted "$MNT"
    echo x >"$MNT/f"
    kill -INT "$BG"
    local status=0
    wait "$BG" || status=$?
    equal $status 0 "exit status"
    not is_mounted "$MNT"
}

@test "SIGTERM with files open and bytes just written ends it cleanly, and a second one harms nothing" {
    mount_store
    local pid
    pid=$(daemon_pid)
    bytes "$D/closed" 30000000 1
    exec 7>"$D/open"
    printf 'had arrived' >&7
    kill -TERM "$pid"
    kill -TERM "$pid" 2>/dev/null || true
    wait_until no_process "$pid"
    exec 7>&-
    not is_mounted "$MNT"
    mount_store
    bytes "$SCRATCH/wanted" 30000000 1
    cmp "$SCRATCH/wanted" "$D/closed"
    equal "$(cat "$D/open")" "had arrived"
}

@test "a daemon whose mount somebody else took away ends cleanly" {
    local how
    for how in "fusermount3 -u" umount; do
        [[ $how != umount ]] || ((EUID == 0)) || continue
        mount_store
        echo "$how" >"$D/f"
        $how "$MNT"
        wait_until no_daemon
        "$EXPFS" fsck "$STORE"
    done
    mount_store
    [[ -s $D/f ]]
}

@test "the daemon survives an interrupt and a hang-up of the group that started it" {
    set -m
    (
        "$EXPFS" mount "$STORE" "$MNT" 3>&-
        exec sleep 60 3>&-
    ) </dev/null >/dev/null 2>&1 &
    local group=$!
    set +m
    PIDS+=("$group")
    wait_until is_mounted "$MNT"
    wait_until test -d "$MNT/runs"
    kill -INT -- "-$group" || true
    kill -HUP -- "-$group" || true
    sleep 0.3
    echo x >"$MNT/f"
    equal "$(cat "$MNT/f")" x
    umount_store
    mount_store
    equal "$(cat "$MNT/f")" x
}

@test "mount with standard descriptors closed gives a mount that works" {
    (exec "$EXPFS" mount "$STORE" "$MNT" <&- >&- 2>&- 3>&-)
    echo x >"$MNT/f"
    equal "$(cat "$MNT/f")" x
}

@test "mount from a process with threads and with relative paths goes on working elsewhere" {
    python3 - "$EXPFS" "$SCRATCH" <<'PY' 3>&-
import os, subprocess, sys, threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
os.chdir(sys.argv[2])
subprocess.run([sys.argv[1], "mount", "store", "mnt"], check=True)
assert os.path.isdir("mnt/runs")
os._exit(0)
PY
    equal "$(mount_field 2)" "$STORE" "source"
    mkdir "$D"
    bytes "$D/f" 1000000 1
    local pid
    pid=$(daemon_pid)
    equal "$(readlink "/proc/$pid/cwd")" / "working directory of the daemon"
    (cd "$SCRATCH" && "$EXPFS" umount mnt 3>&-)
    not is_mounted "$MNT"
}

@test "the daemon keeps nothing of its starter open" {
    exec 7>"$SCRATCH/of-the-starter"
    mount_store
    exec 7>&-
    local pid
    pid=$(daemon_pid)
    not grep -q of-the-starter <(ls -l "/proc/$pid/fd")
    equal "$(ls -l "/proc/$pid/fd" | grep -c "mount.out" || true)" 0 "standard descriptors kept"
}

@test "store and mount point with spaces, quotes and other letters work" {
    STORE="$SCRATCH/my \"store\" größe,1"
    MNT="$SCRATCH/mount 'point' 模型"
    D=$MNT/d
    mkdir "$MNT"
    store_init
    mount_store
    echo x >"$D/f"
    "$EXPFS" status "$MNT" >/dev/null
    remount
    equal "$(cat "$D/f")" x
    umount_store
    equal "$(mounts_below "$SCRATCH")" ""
}

@test "twenty mounts and unmounts lose nothing and leave nothing" {
    local i
    for i in $(seq 20); do
        mount_store
        echo "$i" >"$D/file-$i"
        umount_store
        no_daemon
    done
    mount_store
    equal "$(cat "$D"/file-* | sort -n | tr '\n' ' ')" "$(seq -s ' ' 20) "
}

# --- busy ---

@test "umount of a busy mount fails and leaves it working" {
    mount_store
    exec 7>"$D/f"
    refused 3 "$EXPFS" umount "$MNT"
    [[ $MESSAGE == *"$MNT"* ]] || fail "the message does not name the mount: $MESSAGE"
    echo written >&7
    echo more >"$D/g"
    exec 7>&-
    equal "$(cat "$D/f" "$D/g" | tr '\n' ' ')" "written more "
}

@test "umount from inside the mount fails and leaves it working" {
    mount_store
    (cd "$D" && refused 3 "$EXPFS" umount "$MNT" && echo x >f)
    equal "$(cat "$D/f")" x
}

@test "umount -z detaches at once, and what is open goes on until it is closed" {
    mount_store
    local pid
    pid=$(daemon_pid)
    exec 7>"$D/f"
    printf one >&7
    "$EXPFS" umount -z "$MNT" 3>&- 7>&-
    not is_mounted "$MNT"
    printf two >&7
    [[ ! -e $D ]]
    not no_process "$pid"
    exec 7>&-
    wait_until no_process "$pid"
    mount_store
    equal "$(cat "$D/f")" onetwo
}

# --- a daemon that died ---

@test "mounting again over a dead mount clears it, by any path" {
    local i rounds=5 path
    long && rounds=20
    ln -s mnt "$SCRATCH/link"
    mount_store
    for i in $(seq $rounds); do
        bytes "$D/closed-$i" 100000 "$i"
        exec 7>"$D/open"
        printf 'line %d\n' "$i" >&7
        kill_daemon
        equal "$(errno_of stat "$D")" "Transport endpoint is not connected"
        case $((i % 3)) in
        0) path=$MNT ;;
        1) path=mnt ;;
        2) path=link ;;
        esac
        (cd "$SCRATCH" && "$EXPFS" mount "$STORE" "$path" </dev/null >"$SCRATCH/mount.out" 2>&1 3>&- 7>&-) || fail "$(cat "$SCRATCH/mount.out")"
        equal "$(mounts_below "$SCRATCH")" "$MNT" "mounts"
        not eval 'printf x >&7' 2>/dev/null
        exec 7>&-
        equal "$(cat "$D/open")" "line $i"
        bytes "$SCRATCH/wanted" 100000 "$i"
        cmp "$SCRATCH/wanted" "$D/closed-$i"
    done
}

@test "a path in a dead mount is told with what mounts the store again" {
    mount_store
    mkdir -p "$D/a"
    kill_daemon
    local path
    for path in "$MNT" "$D/a" "$D/none"; do
        refused 3 "$EXPFS" status "$path"
        equal "$MESSAGE" "expfs: $path: the daemon of the mount has died; mount the store again: expfs mount $STORE $MNT"
    done
    "$EXPFS" mount "$STORE" "$MNT" 3>&-
}

@test "umount clears a dead mount" {
    mount_store
    kill_daemon
    umount_store
    not is_mounted "$MNT"
    mount_store
}

@test "umount -z clears a dead mount that is in use" {
    mount_store
    exec 7>"$D/f"
    kill_daemon
    "$EXPFS" umount -z "$MNT" 3>&- 7>&-
    not is_mounted "$MNT"
    exec 7>&-
}

@test "a killed daemon leaves no lock: fsck and mount start at once" {
    mount_store
    echo x >"$D/f"
    kill_daemon
    umount_store
    "$EXPFS" fsck "$STORE"
    mount_store
    equal "$(cat "$D/f")" x
}

@test "a lock file with the number of another process fools nobody" {
    echo "$$ some process" >"$STORE/lock"
    mount_store
    echo x >"$D/f"
}

@test "status of a dead mount exits with 3 at once" {
    mount_store
    kill_daemon
    refused 3 "$EXPFS" status "$MNT"
    umount_store
}

# --- refused, in one line ---

@test "a second daemon of one store is refused and told who has it" {
    mount_store
    mkdir "$SCRATCH/other"
    refused 3 "$EXPFS" mount "$STORE" "$SCRATCH/other"
    [[ $MESSAGE == *"$(daemon_pid)"* ]] || fail "the message does not name process $(daemon_pid): $MESSAGE"
    not is_mounted "$SCRATCH/other"
    echo x >"$D/f"
}

@test "a mount point that is a mount already is refused" {
    mount_store
    store_init "$SCRATCH/store2"
    refused 3 "$EXPFS" mount "$SCRATCH/store2" "$MNT"
    equal "$(mounts_below "$SCRATCH")" "$MNT"
    echo x >"$D/f"
}

@test "what is no store is refused" {
    mkdir "$SCRATCH/empty" "$SCRATCH/full"
    echo x >"$SCRATCH/full/file"
    local path
    for path in absent empty full full/file; do
        refused 3 "$EXPFS" mount "$SCRATCH/$path" "$MNT"
        [[ $MESSAGE == *"$SCRATCH/$path"* ]] || fail "the message does not name the store: $MESSAGE"
        refused 3 "$EXPFS" fsck "$SCRATCH/$path"
    done
    equal "$(find "$SCRATCH/empty" "$SCRATCH/full" | wc -l)" 3 "nothing was made in them"
}

@test "a store of a newer format is refused and left alone" {
    cp "$STORE/format" "$SCRATCH/format"
    sed -i 's/^format .*/format 99/' "$STORE/format"
    local before
    before=$(cd "$STORE" && find . -type f ! -name lock -exec sha256sum {} + | sort)
    refused 3 "$EXPFS" mount "$STORE" "$MNT"
    [[ $MESSAGE == *99* ]] || fail "the message does not name the format: $MESSAGE"
    refused 3 "$EXPFS" fsck "$STORE"
    equal "$(cd "$STORE" && find . -type f ! -name lock -exec sha256sum {} + | sort)" "$before"
    cp "$SCRATCH/format" "$STORE/format"
}

@test "a mount point that is missing, a file or not empty is refused" {
    echo x >"$SCRATCH/file"
    mkdir "$SCRATCH/full"
    echo x >"$SCRATCH/full/file"
    local path
    for path in absent file full; do
        refused 3 "$EXPFS" mount "$STORE" "$SCRATCH/$path"
        [[ $MESSAGE == *"$SCRATCH/$path"* ]] || fail "the message does not name the mount point: $MESSAGE"
    done
    equal "$(mounts_below "$SCRATCH")" ""
}

@test "a mount point inside the store, and a store inside the mount point, are refused" {
    mkdir "$STORE/mnt"
    refused 3 "$EXPFS" mount "$STORE" "$STORE/mnt"
    rmdir "$STORE/mnt"
    refused 3 "$EXPFS" mount "$STORE" "$STORE"
    refused 3 "$EXPFS" mount "$STORE" "$SCRATCH"
    ln -s "$STORE" "$SCRATCH/alias"
    refused 3 "$EXPFS" mount "$SCRATCH/alias" "$STORE"
    equal "$(mounts_below "$SCRATCH")" ""
}

@test "a store that is given as the mount point is told, with the command that was meant" {
    refused 3 "$EXPFS" mount "$MNT" "$STORE"
    equal "$MESSAGE" "expfs: $STORE: is a store; did you mean: expfs mount $STORE $MNT"
    refused 3 "$EXPFS" mount "$SCRATCH/absent" "$STORE"
    store_init "$SCRATCH/store2"
    refused 3 "$EXPFS" mount "$SCRATCH/store2" "$STORE"
    equal "$MESSAGE" "expfs: $STORE: is a store; choose an empty directory to mount on"
    mount_store
    refused 3 "$EXPFS" mount "$MNT" "$STORE"
    equal "$MESSAGE" "expfs: $STORE: is a store; did you mean: expfs mount $STORE $MNT"
    equal "$(mounts_below "$SCRATCH")" "$MNT"
}

@test "wrong usage gives 2 and one line" {
    refused 2 "$EXPFS" nonsense
    refused 2 "$EXPFS" mount -f
    refused 2 "$EXPFS" mount "$STORE"
    refused 2 "$EXPFS" mount "$STORE" "$MNT" more
    refused 2 "$EXPFS" mount --nonsense "$STORE" "$MNT"
    refused 2 "$EXPFS" mount "$STORE" "$MNT" -o nonsense
    refused 2 "$EXPFS" mount "$STORE" "$MNT" -o
    refused 2 "$EXPFS" umount
    refused 2 "$EXPFS" init
    refused 2 "$EXPFS" fsck
    refused 2 "$EXPFS" help nonsense
    not is_mounted "$MNT"
}

@test "umount of what is no mount of expfs is refused" {
    refused 1 "$EXPFS" umount "$MNT"
    refused 1 "$EXPFS" umount "$SCRATCH/absent"
    refused 1 "$EXPFS" umount /proc
    mount_store
    refused 1 "$EXPFS" umount "$D"
    umount_store
    refused 1 "$EXPFS" umount "$MNT"
}

@test "init refuses a store, a directory with files and a missing parent, and harms none" {
    local before
    before=$(find "$STORE" -type f -exec sha256sum {} + | sort)
    refused 3 "$EXPFS" init "$STORE"
    equal "$(find "$STORE" -type f -exec sha256sum {} + | sort)" "$before"
    mkdir "$SCRATCH/full"
    echo x >"$SCRATCH/full/file"
    refused 3 "$EXPFS" init "$SCRATCH/full"
    equal "$(ls "$SCRATCH/full")" file
    refused 3 "$EXPFS" init "$SCRATCH/full/file"
    [[ $MESSAGE == *"is not a directory; give a new or an empty directory" ]] || fail "$MESSAGE"
    refused 3 "$EXPFS" init "$SCRATCH/absent/store"
    mkdir "$SCRATCH/empty"
    store_init "$SCRATCH/empty"
}

@test "version and help go to standard output and give 0" {
    local c
    for c in version help "help mount" "help init" "help umount" "help status" "help fsck"; do
        # shellcheck disable=SC2086 # a command and its words
        "$EXPFS" $c >"$SCRATCH/out" 2>"$SCRATCH/err"
        [[ -s $SCRATCH/out && ! -s $SCRATCH/err ]] || fail "expfs $c: $(cat "$SCRATCH/err")"
    done
    "$EXPFS" version | grep -q '^expfs [0-9]'
}

# --- what a container may lack ---

@test "without /dev/fuse mount fails with the reason, and the store answers without a mount" {
    require_root
    refused 3 unshare -m sh -c 'mount -t tmpfs none /dev && exec "$0" mount "$1" "$2"' "$EXPFS" "$STORE" "$MNT"
    [[ $MESSAGE == *fuse* ]] || fail "the message does not name the device: $MESSAGE"
    unshare -m sh -c 'mount -t tmpfs none /dev && "$0" status --store "$1" --json && "$0" fsck "$1"' "$EXPFS" "$STORE"
}

@test "without the right to mount, mount fails with the reason" {
    require_root
    require_command setpriv
    refused 3 setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$EXPFS" mount "$STORE" "$MNT"
    equal "$(mounts_below "$SCRATCH")" ""
}

@test "with its disk full mount says so or works, and never harms the store" {
    require_loop
    loop_disk disk 32
    STORE=$SCRATCH/disk/store
    store_init
    dd if=/dev/zero of="$SCRATCH/disk/other" bs=64k status=none 2>/dev/null || true
    if mount_store; then
        ls "$MNT" >/dev/null
        umount_store
    fi
    rm "$SCRATCH/disk/other"
    mount_store
    echo x >"$D/f"
}

# --- commands on a store ---

@test "status finds its store by a path in the mount, by --store and by EXPFS_STORE" {
    local how
    name() { python3 -c 'import json, sys; print(json.load(sys.stdin)["store"])'; }
    mount_store
    equal "$("$EXPFS" status "$D" --json | name)" "$STORE"
    equal "$("$EXPFS" status --store "$STORE" --json | name)" "$STORE"
    equal "$(EXPFS_STORE=$STORE "$EXPFS" status --json | name)" "$STORE"
    equal "$(cd "$D" && "$EXPFS" status . --json | name)" "$STORE"
    umount_store
    equal "$("$EXPFS" status --store "$STORE" --json | name)" "$STORE"
    refused 3 "$EXPFS" status --store "$SCRATCH/absent"
    refused 3 "$EXPFS" status "$SCRATCH"
}

@test "a command that finds no store says all the ways in which one is named" {
    local command
    cd "$SCRATCH"
    for command in status branch log "log mnt" "signal x" "load abcd mnt" "commit mnt"; do
        # shellcheck disable=SC2086 # several words
        EXPFS_STORE='' refused 2 "$EXPFS" $command
        [[ $MESSAGE == *"run it in a mount"*"./NAME"*--store*EXPFS_STORE* ]] || fail "of $command: $MESSAGE"
    done
}

@test "status --json says where it is mounted and whether read-only" {
    field() { "$EXPFS" status --store "$STORE" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
    mount_store
    equal "$(field mount)" "$MNT"
    equal "$(field read_only)" False
    remount -o ro
    equal "$(field read_only)" True
    umount_store
    equal "$(field mount)" None
}

@test "fsck of a mounted store answers without touching it" {
    mount_store
    bytes "$D/f" 100000 1
    local status=0
    timeout 300 "$EXPFS" fsck "$STORE" >/dev/null 2>"$SCRATCH/err" 3>&- || status=$?
    ((status == 0 || status == 3)) || fail "exit status $status: $(cat "$SCRATCH/err")"
    bytes "$SCRATCH/wanted" 100000 1
    cmp "$SCRATCH/wanted" "$D/f"
    echo x >"$D/g"
}

@test "fsck --json names its counts" {
    mount_store
    bytes "$D/f" 100000 1
    umount_store
    "$EXPFS" fsck "$STORE" --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["clean"] is True and r["problems"] == [] and r["objects"] >= 1 and r["bytes"] >= 100000, r'
}
