# What history.bats, history_kept.bats and history_commands.bats share.

load lib

setup() {
    scratch
    store_init
    mount_store
    R=$MNT/runs/r
    H=$R/.expfs/history
    mkdir "$R"
}
teardown() { cleanup; }

SIZE=200000

# save PATH SEED: a whole zip checkpoint, also kept outside the mount as SCRATCH/SEED
save() {
    checkpoint zip "$1" $SIZE "$2"
    [[ -e $SCRATCH/$2 ]] || checkpoint zip "$SCRATCH/$2" $SIZE "$2"
}

# save_dir DIR SEED: a directory checkpoint with a marker and a file in a directory of its own
save_dir() {
    mkdir -p "$1/sub"
    bytes "$1/model.bin" 50000 "$2"
    bytes "$1/sub/optimizer.bin" 50000 "$2$2"
    echo "{\"seed\": $2}" >"$1/trainer_state.json"
}

# versions PATH: the names below it in history, of a run or another directory's history
versions() { ls -v "${2:-$H}/$1" 2>/dev/null | tr '\n' ' '; }

# answer COMMAND ARGUMENT... EXPRESSION: of the JSON r of a command
answer() {
    local expression=${*: -1}
    "$EXPFS" "${@:1:$#-1}" --json 3>&- | python3 -c 'import json, sys; r = json.load(sys.stdin); print(eval(sys.argv[1]))' "$expression"
}

# exchange A B: two names in one step
exchange() {
    python3 - "$1" "$2" <<'PY'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.renameat2(-100, os.fsencode(sys.argv[1]), -100, os.fsencode(sys.argv[2]), 2) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
PY
}

# killed_in_overwrite: a writer that truncated last.pt and wrote a part of it is killed
killed_in_overwrite() {
    background python3 -c '
import sys, time
f = open(sys.argv[1], "wb", buffering=0)
for i in range(8):
    f.write(bytes([i]) * (1 << 18))
open(sys.argv[2], "w").close()
time.sleep(300)' "$R/last.pt" "$SCRATCH/half"
    wait_until test -e "$SCRATCH/half"
}
