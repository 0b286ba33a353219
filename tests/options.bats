# The section checkpoint_manager: of a run's configuration: what is not to be dumped is an ordinary file.

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

# weights PATH SEED [COMMAND]: a safetensors file; the command is run between its first byte and its last
weights() {
    python3 - "$@" <<'PY'
import json, os, struct, subprocess, sys
path, seed = sys.argv[1], float(sys.argv[2])
header = json.dumps({"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
with open(path, "wb", buffering=0) as f:
    f.write(struct.pack("<Q", len(header)) + header)
    if len(sys.argv) > 3:
        subprocess.run(sys.argv[3], shell=True, check=True)
    f.write(struct.pack("<6f", *[seed] * 6))
PY
}

# options LINE: the configuration
options() { printf 'lr: 0.1\ncheckpoint_manager: {%s}\n' "$1" >"$R/config.yaml"; }

# versions PATH: of a path in the run, as numbers
versions() { ls "$H/$1" | sed 's/\..*//' | sort -n | paste -sd ' '; }

# unrecorded PATH: a file of the run has neither version nor hash
unrecorded() {
    not getfattr -n user.expfs.version "$R/$1" 2>/dev/null
    not getfattr -n user.expfs.hash "$R/$1" 2>/dev/null
    run "$EXPFS" history "$R/$1" 3>&-
    equal $status 1
}

head_of() { tail -n 1 "$MNT/branches/r/HEAD"; }
latest() { readlink "$MNT/branches/r/latest" || echo none; }

# contents TEXT N: have so many contents of the store it?
contents() { [[ $(grep -rl -- "$1" "$STORE/objects" | wc -l) == "$2" ]]; }

@test "with dump_model_state false weights are ordinary files, and no latest" {
    options "dump_model_state: false"
    weights "$R/step_1.safetensors" 1
    equal "$(latest)" none
    unrecorded step_1.safetensors
    equal "$(ls "$MNT/branches/r/step")" ""
    weights "$R/step_1.safetensors" 2
    equal "$(latest)" none
    equal "$(versions step_1.safetensors)" ""
    equal "$("$EXPFS" status "$R" --json 3>&- | python3 -c 'import json, sys; print(json.load(sys.stdin)["warnings"])')" "[]"
}

@test "a checkpoint directory is not recorded with dump_model_state false either" {
    options "dump_model_state: false"
    mkdir "$R/checkpoint-5"
    weights "$R/checkpoint-5/model.safetensors" 1
    echo '{"global_step": 5}' >"$R/checkpoint-5/trainer_state.json"
    equal "$(latest)" none
    unrecorded checkpoint-5
    options "dump_model_state: true"
    mkdir "$R/checkpoint-6"
    weights "$R/checkpoint-6/model.safetensors" 2
    echo '{"global_step": 6}' >"$R/checkpoint-6/trainer_state.json"
    equal "$(latest)" ../../runs/r/checkpoint-6
}

@test "what was recorded before dump_model_state became false stays, and latest leads to it" {
    weights "$R/last.safetensors" 1
    cp "$R/last.safetensors" "$SCRATCH/first"
    options "dump_model_state: false"
    weights "$R/last.safetensors" 2
    weights "$R/last.safetensors" 3
    equal "$(versions last.safetensors)" 1
    cmp "$MNT/branches/r/latest" "$SCRATCH/first"
    rm "$R/last.safetensors"
    equal "$(latest)" none
    equal "$(versions last.safetensors)" 1
    options "dump_model_state: true"
    weights "$R/last.safetensors" 4
    equal "$(latest)" ../../runs/r/last.safetensors
}

@test "the configuration at a checkpoint's first byte says whether it is recorded" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" 1 "printf 'checkpoint_manager: {dump_model_state: false}' >$R/config.yaml"
    weights "$R/step_2.safetensors" 2 "echo 'lr: 0.2' >$R/config.yaml"
    weights "$R/step_3.safetensors" 3
    equal "$(ls "$MNT/branches/r/step" | paste -sd ' ')" "1 3"
    unrecorded step_2.safetensors
}

@test "the same weights saved again are recorded when the run records them again" {
    options "dump_model_state: false"
    weights "$R/step_1.safetensors" 1
    equal "$(latest)" none
    options ""
    weights "$R/step_1.safetensors" 1
    equal "$(latest)" ../../runs/r/step_1.safetensors
}

@test "with dump_data_state false of data files only what they hold is kept" {
    options "dump_data_state: false"
    mkdir "$R/data"
    local i
    for i in 1 2 3 4; do
        echo "the content $i" >"$R/data/a.txt"
        unrecorded data/a.txt
    done
    equal "$(versions data/a.txt)" ""
    run "$EXPFS" history "$R/data/a.txt" 3>&-
    equal "$output" "expfs: /runs/r/data/a.txt: has no version: checkpoint_manager: in the configuration of its run says that such files are not recorded"
    rm "$R/data/a.txt"
    not "$EXPFS" history "$R/data/a.txt" 3>&- 2>/dev/null
    wait_until contents "the content" 0
}

@test "data files are recorded as they are when dump_data_state becomes true" {
    options "dump_data_state: false"
    mkdir "$R/data"
    echo a >"$R/data/a.txt"
    weights "$R/step_1.safetensors" 1
    local before
    before=$(head_of)
    equal "${before:16:8}" 00000000
    unrecorded data/a.txt
    options ""
    equal "$(versions data/a.txt)" 1
    weights "$R/step_2.safetensors" 2
    echo b >"$R/data/a.txt"
    equal "$(versions data/a.txt)" "1 2"
    cmp "$H/data/a.txt/1.txt" <(echo a)
    equal "$(cat "$MNT/experiments/$(head_of)/DATA/data/a.txt")" a
}

@test "a configuration with dump_config_state false is read for its options, and makes no versions" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" 1
    local i
    for i in 1 2 3; do
        printf 'secret: word%s\ncheckpoint_manager: {dump_config_state: false, dump_data_state: false}\n' $i >"$R/config.yaml"
        not getfattr -n user.expfs.version "$R/config.yaml" 2>/dev/null
    done
    equal "$(versions config.yaml)" 1
    wait_until contents "secret: word" 1
    mkdir "$R/data"
    echo a >"$R/data/a.txt"
    unrecorded data/a.txt
    weights "$R/step_2.safetensors" 2
    local now
    now=$(head_of)
    equal "${now:0:8}/${now:16:8}" 00000000/00000000
}

@test "with an option a long save ends under what its configuration said at the first byte, though that is no version" {
    options "dump_config_state: false, dump_data_state: false"
    mkdir "$R/data"
    echo a >"$R/data/a.txt"
    weights "$R/step_1.safetensors" 1 "
        for i in 1 2 3; do printf 'lr: %s\ncheckpoint_manager: {dump_config_state: false}\n' \$i >$R/config.yaml; done
        cat $R/.expfs/history/config.yaml/* >/dev/null 2>&1; sleep 2"
    local hash
    hash=$(getfattr --only-values -n user.expfs.hash "$R/step_1.safetensors")
    equal "${hash:0:8}/${hash:16:8}" 00000000/00000000
}

@test "with enable_checkpoints false a branch records nothing, and HEAD stays as it was" {
    echo 'lr: 0.1' >"$R/config.yaml"
    mkdir "$R/data"
    echo a >"$R/data/a.txt"
    weights "$R/step_1.safetensors" 1
    local before
    before=$(head_of)
    options "enable_checkpoints: false"
    echo b >"$R/data/a.txt"
    echo '{"step": 1, "loss": 2}' >"$R/metrics.jsonl"
    echo layers >"$R/architecture.txt"
    weights "$R/step_2.safetensors" 2
    equal "$(head_of)" "$before"
    equal "$(latest)" ../../runs/r/step_1.safetensors
    equal "$(versions data/a.txt)/$(versions config.yaml)/$(versions architecture.txt)/$(versions metrics.jsonl)" "1/1//"
    unrecorded step_2.safetensors
    unrecorded architecture.txt
    equal "$("$EXPFS" signal r 3>&- --store "$STORE" | tail -n 1 | tr -s ' ')" " 1 2 loss"
}

@test "what is not recorded stays in history when a state is loaded over it" {
    echo 'lr: 0.1' >"$R/config.yaml"
    mkdir "$R/data"
    echo a >"$R/data/a.txt"
    weights "$R/last.safetensors" 1
    local before
    before=$(head_of)
    options "enable_checkpoints: false"
    echo b >"$R/data/a.txt"
    weights "$R/last.safetensors" 2
    cp "$R/last.safetensors" "$SCRATCH/second"
    equal "$(latest | sed 's/.*history//')" /runs/r/last.safetensors/1.safetensors
    "$EXPFS" load "$before" "$R" 3>&-
    equal "$(cat "$R/config.yaml" "$R/data/a.txt")" $'lr: 0.1\na'
    equal "$(versions data/a.txt)" "1 2 3"
    cmp "$H/last.safetensors/2.safetensors" "$SCRATCH/second"
    equal "$(cat "$H/config.yaml/2.yaml" | tail -n 1)" "checkpoint_manager: {enable_checkpoints: false}"
    equal "$(latest)" ../../runs/r/last.safetensors
}

@test "a store in which files are not recorded is sound" {
    options "enable_checkpoints: false"
    mkdir "$R/data" "$R/checkpoint-1"
    echo a >"$R/data/a.txt"
    echo b >"$R/data/a.txt"
    weights "$R/step_1.safetensors" 1
    weights "$R/checkpoint-1/model.safetensors" 1
    echo '{}' >"$R/checkpoint-1/trainer_state.json"
    equal "$(latest)" none
    kill_daemon
    unmount_all
    mount_store
    equal "$(latest)" none
    unrecorded data/a.txt
    umount_store
    "$EXPFS" fsck "$STORE" 3>&-
}

@test "a configuration that is removed while it is written over says nothing any more" {
    options "dump_data_state: false"
    echo 'checkpoint_manager: {dump_data_state: true, dump_model_architecture: true}' >"$R/params.yaml"
    mkdir "$R/data"
    echo first >"$R/data/d.csv"
    exec 7>"$R/params.yaml"
    equal "$(versions data/d.csv)" 1
    rm "$R/params.yaml"
    exec 7>&-
    echo second >"$R/data/d.csv"
    echo third >"$R/data/d.csv"
    equal "$(versions data/d.csv)" 1
}
