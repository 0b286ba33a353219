# Who looks at what takes long to be read waits, and nobody else does.

load lib

setup() { scratch; store_init; mount_store; }
teardown() { cleanup; }

objects() { find "$STORE/objects" -type f | sort; }

# stall COMMAND...: runs what makes one object, and has whoever opens that wait, until the
# process BG is killed or for 45 seconds: so long that may keep a lease of it
stall() {
    local before object
    before=$(objects)
    "$@"
    umount_store
    object=$(comm -13 <(echo "$before") <(objects))
    background python3 - "$object" <<'PY'
import fcntl, os, signal, sys, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
f = open(sys.argv[1], "r+b")
fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_WRLCK)
open(sys.argv[1] + ".held", "w")
time.sleep(600)
PY
    wait_until test -e "$object.held"
    rm "$object.held"
    mount_store
}

# Equal contents are one object.
edit() {
    local i
    for i in {1..60}; do
        echo 'lr: 0.2' >"$MNT/runs/r$i/config.yaml"
    done
}

# As many threads of the daemon wait for that.
stalled() { (($(cat /proc/"$(daemon_pid)"/task/*/wchan | grep -o break_lease | wc -l) >= $1)); }

@test "files are made, written, read, renamed and removed while any number of look-ups wait" {
    local i holder
    checkpoint zip "$SCRATCH/step_1.pt" 1000 1
    for i in {1..60}; do
        mkdir "$MNT/runs/r$i"
        cp "$SCRATCH/step_1.pt" "$MNT/runs/r$i"
    done
    stall edit
    holder=$BG
    for i in {1..60}; do # of one name the kernel asks once at a time
        background cat "$MNT/branches/r$i/pending" >>"$SCRATCH/pending" 2>&1
    done
    wait_until stalled 8
    timeout 30 python3 - "$D" 3>&- <<'PY'
import os, sys
os.chdir(sys.argv[1])
for i in range(50):
    with open("new", "wb") as f:
        f.write(b"x" * 100000)
    os.stat("new")
    os.setxattr("new", "user.a", b"1")
    assert len(open("new", "rb").read()) == 100000
    os.rename("new", "old")
    os.listdir(".")
    os.unlink("old")
PY
    kill -KILL "$holder"
    wait "${PIDS[@]}" || true # by and by each gets its answer
    equal "$(grep -c '^HP$' "$SCRATCH/pending")" 60
}
