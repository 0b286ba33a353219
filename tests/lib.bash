# What the test files share. A file loads it and says what it wants:
#
#   load lib
#   setup()    { scratch; store_init; mount_store; }
#   teardown() { cleanup; }
#
# Set afterwards: SCRATCH (a directory of this test), STORE, MNT, and D (an empty directory of the mount).
#
# cleanup unmounts whatever the test left, checks that every store it made is sound and that no daemon
# of it is left, and takes everything away; each of these failing fails the test.
#
# From the environment: EXPFS, EXPFS_SRCDIR, EXPFS_BUILDDIR (make check sets them), EXPFS_TEST_DIR (where
# scratch directories are made, default /var/tmp), EXPFS_TEST_LONG=1 (the long form of tests),
# EXPFS_SHARED (probes, default beside the source directory), CI=true (what is missing fails, not skips).

: "${EXPFS_SRCDIR:=$(cd "$BATS_TEST_DIRNAME/.." && pwd)}"
: "${EXPFS_BUILDDIR:=$EXPFS_SRCDIR}"
: "${EXPFS:=$EXPFS_BUILDDIR/expfs}"
: "${EXPFS_SHARED:=$EXPFS_SRCDIR/../shared}"
export EXPFS EXPFS_SRCDIR EXPFS_BUILDDIR EXPFS_SHARED
export LC_ALL=C.UTF-8
unset EXPFS_STORE

# The python3 of a version manager is a script, which looks for the real one at each start.
if [[ $(head -c 2 "$(command -v python3)" 2>/dev/null) == '#!' ]]; then
    PATH=$(dirname "$(python3 -c 'import sys; print(sys.executable)')"):$PATH
fi

# --- what the machine must have ---

missing() {
    if [[ ${CI:-} == true ]]; then
        echo "missing on this machine: $*" >&2
        return 1
    fi
    skip "$*"
}

require_fuse() {
    [[ -c /dev/fuse ]] || missing "no /dev/fuse"
    command -v fusermount3 >/dev/null || missing "no fusermount3"
}

require_root() { ((EUID == 0)) || missing "needs root"; }

require_loop() {
    require_root
    [[ -e /dev/loop-control ]] && losetup -f >/dev/null 2>&1 || missing "no loop device"
}

require_command() {
    local c
    for c; do
        command -v "$c" >/dev/null || missing "no $c"
    done
}

require_user() {
    require_root
    id -u nobody >/dev/null 2>&1 || missing "no user nobody"
    require_command setpriv
}

AS_NOBODY=(setpriv --reuid=nobody "--regid=$(id -g nobody 2>/dev/null)" --clear-groups --)
as_nobody() { "${AS_NOBODY[@]}" "$@"; }

long() { [[ ${EXPFS_TEST_LONG:-} == 1 ]]; }

# bats ends a test that hangs, if it has the means to.
if [[ -z ${BATS_TEST_TIMEOUT:-} ]] && command -v pkill >/dev/null; then
    BATS_TEST_TIMEOUT=$(long && echo 7200 || echo 900)
fi

# --- scratch, stores and mounts ---

scratch() {
    require_fuse
    SCRATCH=$(mktemp -d "${EXPFS_TEST_DIR:-/var/tmp}/expfs-test.XXXXXX")
    chmod 755 "$SCRATCH"
    SCRATCH=$(cd "$SCRATCH" && pwd -P)
    STORE=$SCRATCH/store
    MNT=$SCRATCH/mnt
    D=$MNT/d
    STORES=()
    LOOPS=()
    PIDS=()
    mkdir "$MNT"
}

# store_init [DIR]: makes a store that cleanup will check
store_init() {
    "$EXPFS" init "${1:-$STORE}"
    STORES+=("${1:-$STORE}")
}

# mount_store [OPTION...]: mounts STORE on MNT; D is there afterwards
mount_store() {
    "$EXPFS" mount "$STORE" "$MNT" "$@" </dev/null >"$SCRATCH/mount.out" 2>&1 3>&- || {
        cat "$SCRATCH/mount.out" >&2
        return 1
    }
    [[ -d $D || ! -w $MNT ]] || mkdir "$D"
}

# mount_run: a store is mounted, with a run R in it, of which V are the views
mount_run() {
    scratch
    store_init
    mount_store
    R=$MNT/runs/r
    V=$MNT/branches/r
    mkdir -p "$R"
}

umount_store() { unmount_soon "$MNT"; }

# Something that looks at all mounts, as df does, can be in this one for a moment.
unmount_soon() {
    local try
    for try in 1 2 3 4 5 6; do
        timeout 300 "$EXPFS" umount "$1" 3>&- && return 0 # in a trap a bare return gives the status from before it
        sleep 0.$try
    done
    return 1
}

remount() {
    umount_store
    mount_store "$@"
}

# Mounts found in mountinfo whose point lies at or below $1, the last first; nothing of them is touched.
mounts_below() {
    awk -v top="$1" '{ p = $5; gsub(/\\040/, " ", p); if (p == top || index(p, top "/") == 1) print p }' \
        /proc/self/mountinfo | tac
}

is_mounted() { [[ -n $(mounts_below "$1" | grep -Fx -- "$1") ]]; }

# Process ids of daemons that have files of the store $1 (default STORE) open.
daemon_pids() {
    local exe
    find /proc/[0-9]*/exe -maxdepth 0 -lname "$(readlink -f "$EXPFS")*" 2>/dev/null | while read -r exe; do
        find "${exe%exe}fd" -lname "${1:-$STORE}/*" 2>/dev/null | grep -q . && basename "${exe%/exe}"
    done
    return 0
}

daemon_pid() {
    local pids
    pids=$(daemon_pids "$@")
    [[ $pids =~ ^[0-9]+$ ]] || {
        echo "expected one daemon of ${1:-$STORE}, found: ${pids:-none}" >&2
        return 1
    }
    echo "$pids"
}

# SIGKILLs the daemon of STORE and waits until it is gone.
kill_daemon() {
    local pid
    pid=$(daemon_pid)
    kill -KILL "$pid"
    wait_until no_process "$pid"
}

# It is gone, or a zombie of which no thread is left that holds files.
no_process() {
    local tasks=("/proc/$1/task"/*)
    [[ ! -e /proc/$1 ]] || { ((${#tasks[@]} == 1)) && grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }
}

no_daemon() { [[ -z $(daemon_pids "$@") ]]; }

# wait_until COMMAND...: until it succeeds, at most two minutes: a disk may stand still for one
wait_until() {
    local end=$((SECONDS + 120))
    until "$@"; do
        ((SECONDS < end)) || {
            echo "waited in vain for: $*" >&2
            return 1
        }
        sleep 0.05
    done
}

# Starts COMMAND in the background, to be killed by cleanup at the latest; its pid is in BG.
background() {
    "$@" <&0 3>&- & # <&0: else a job in the background reads /dev/null
    BG=$!
    PIDS+=("$BG")
}

# loop_disk NAME MIB: an ext4 of this size, mounted on SCRATCH/NAME
loop_disk() {
    local image=$SCRATCH/$1.img
    truncate -s "$2M" "$image"
    mkfs.ext4 -q -m 0 -F "$image"
    mkdir "$SCRATCH/$1"
    mount -o loop "$image" "$SCRATCH/$1"
    LOOPS+=("$SCRATCH/$1")
}

# --- after the test ---

# A daemon that answers nothing any more: end its connection, by the number in mountinfo.
abort_connection() {
    local minor
    minor=$(awk -v p="$1" '$5 == p { split($3, d, ":"); print d[2] }' /proc/self/mountinfo | tail -n 1)
    [[ -w /sys/fs/fuse/connections/$minor/abort ]] && echo 1 >"/sys/fs/fuse/connections/$minor/abort"
}

unmount_all() {
    local point status=0
    while read -r point; do
        [[ " ${LOOPS[*]} " == *" $point "* ]] && continue
        unmount_soon "$point" && continue
        echo "$point: could not be unmounted the usual way" >&2
        status=1
        abort_connection "$point"
        fusermount3 -uz "$point" 2>/dev/null || umount -l "$point"
    done < <(mounts_below "$SCRATCH")
    return $status
}

cleanup() {
    local status=0 pid store
    [[ -n ${SCRATCH:-} ]] || return 0

    cd / # a test that failed may have left a descriptor or the working directory in the mount
    exec 7>&- 8>&- 9>&-
    for pid in "${PIDS[@]}"; do
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    unmount_all || status=1
    for store in "${STORES[@]}"; do
        if ! wait_until no_daemon "$store"; then
            echo "$store: its daemon did not end; killed" >&2
            status=1
            for pid in $(daemon_pids "$store"); do kill -KILL "$pid"; done
        fi
        [[ -e $store ]] || continue
        timeout 300 "$EXPFS" fsck "$store" >"$SCRATCH/fsck.out" 2>&1 3>&- || {
            echo "$store: fsck exits $?:" >&2
            cat "$SCRATCH/fsck.out" >&2
            status=1
        }
    done
    for store in "${LOOPS[@]}"; do
        umount "$store" || status=1
    done
    [[ -z $(mounts_below "$SCRATCH") ]] && rm -rf --one-file-system "$SCRATCH"
    return $status
}

# --- saying what is expected ---

# check PROGRAM NAME [DIR]: one check of tests/posix in the directory (default D); see check.h there
check() {
    local status=0
    ASAN_OPTIONS=detect_leaks=0 timeout -k 5 600 \
        "$EXPFS_BUILDDIR/tests/posix/$1" "${3:-$D}" "$2" 2>"$SCRATCH/check.out" 3>&- || status=$?
    if ((status == 77)); then
        skip "$(cat "$SCRATCH/check.out")"
    fi
    cat "$SCRATCH/check.out" >&2
    return $status
}

# Every check that the program $1 has stands in the test file.
all_checks_run() {
    local name status=0
    for name in $("$EXPFS_BUILDDIR/tests/posix/$1"); do
        grep -q "check $1 $name\b" "$BATS_TEST_FILENAME" || {
            echo "no test runs check $1 $name" >&2
            status=1
        }
    done
    return $status
}

fail() {
    echo "$*" >&2
    return 1
}

# equal GOT WANTED [WHAT]
equal() { [[ $1 == "$2" ]] || fail "${3:-value}: got '$1', expected '$2'"; }

# refused EXIT COMMAND...: exits so, with exactly one line on standard error, which is kept in $MESSAGE
refused() {
    local wanted=$1 status=0
    shift
    timeout 300 "$@" </dev/null >"$SCRATCH/out" 2>"$SCRATCH/err" 3>&- || status=$?
    MESSAGE=$(cat "$SCRATCH/err")
    equal "$status" "$wanted" "exit status of $* ($MESSAGE)"
    equal "$(wc -l <"$SCRATCH/err")" 1 "lines on standard error of $* ($MESSAGE)"
    [[ $MESSAGE == "expfs: "* ]] || fail "message does not begin with expfs: $MESSAGE"
}

# errno_of COMMAND...: runs it, which must fail, and prints the reason that the C library gives for it
errno_of() {
    local status=0
    timeout 300 "$@" </dev/null >/dev/null 2>"$SCRATCH/err" 3>&- || status=$?
    ((status != 0)) || fail "succeeded: $*"
    sed 's/.*: //' "$SCRATCH/err" | tail -n 1
}

# bytes PATH SIZE SEED: writes that many bytes, which depend on the seed
bytes() { python3 "$EXPFS_SRCDIR/tests/posix/checkpoint.py" bytes "$@"; }

# checkpoint KIND PATH SIZE SEED: a torch-like zip or a safetensors file, or one that is cut off (torn-…)
checkpoint() { python3 "$EXPFS_SRCDIR/tests/posix/checkpoint.py" "$@"; }

# space NAME: a number of space{} of status --json, for the mount
space() {
    "$EXPFS" status "$MNT" --json 3>&- |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["space"][sys.argv[1]])' "$1"
}

# is_synced: of what was closed the disk has the contents
is_synced() {
    "$EXPFS" status "$MNT" --json 3>&- | python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["background"]["unsynced"])'
}

# xattr PATH NAME: the value, or nothing if there is none
xattr() {
    python3 -c '
import os, sys
try: sys.stdout.write(os.getxattr(sys.argv[1], sys.argv[2]).decode())
except OSError as e:
    if e.errno != 61: raise' "$1" "$2"
}

# For use where errexit must see it: `! command` alone never fails a test.
not() { if "$@"; then fail "succeeded: $*"; fi; }
