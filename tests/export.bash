# What the tests of export share: a run R with views V in a mount, and a folder X outside of it.

load lib

setup() {
    mount_run
    X=$SCRATCH/folder
}
teardown() { cleanup; }

# save NAME SEED [SIZE]
save() { checkpoint zip "$R/$1" "${3:-20000}" "$2"; }

# losses STEP LOSS …
losses() { printf '{"step": %d, "val_loss": %s}\n' "$@" >>"$R/metrics.jsonl"; }

# two: checkpoints of steps 1, the best, and 2, the latest
two() {
    save step_1.pt 1
    save step_2.pt 2
    losses 1 0.5 2 0.7
}

# set_of N SEED: checkpoint-N, a directory
set_of() {
    mkdir -p "$R/checkpoint-$1/sub"
    checkpoint safetensors "$R/checkpoint-$1/model.safetensors" 8000 "$2"
    echo "{\"seed\": $2}" >"$R/checkpoint-$1/sub/config.json"
    echo "{\"global_step\": $1}" >"$R/checkpoint-$1/trainer_state.json"
}

export_run() { "$EXPFS" export "$R" "$X" "$@" 3>&-; }
export_json() { export_run --json "$@" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(eval(sys.argv[1], {"a": answer, "of": {f["name"]: f["action"] for f in answer["files"]}}))' "$WHAT"; }

# traced ARGUMENT…: strace, under which leaks cannot be looked for
traced() {
    require_command strace
    ASAN_OPTIONS=detect_leaks=0 strace "$@"
}

# says EXPRESSION WANTED [OPTION…]: what the answer of an export says; a is the answer, of["NAME"] what was done with a file
says() {
    local WHAT=$1 wanted=$2
    shift 2
    equal "$(export_json "$@")" "$wanted" "$WHAT"
}

# holds NAME…: these, and no other, are in the folder
holds() {
    local names
    names=$(cd "$X" && find . -mindepth 1 | sed 's,^\./,,' | LC_ALL=C sort)
    equal "$names" "$(for name; do echo "$name"; done | LC_ALL=C sort)" "in the folder"
}

is_same() { cmp "$1" "$2" && equal "$(stat -c %y "$1")" "$(stat -c %y "$2")" "time of $1"; }

stamp() { stat -c '%n %i %y %z' "$@"; }
