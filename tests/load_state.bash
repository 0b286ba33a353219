# What load_state.bats, load_checkpoints.bats and load_head.bats share.

load lib
load status

setup() {
    scratch
    store_init
    mount_store -o allow_other
    R=$MNT/runs/r
    mkdir "$R"
}
teardown() { cleanup; }

# weights PATH SEED [TENSOR]: a safetensors file with one tensor of 6 numbers
weights() {
    python3 - "$@" <<'PY'
import json, struct, sys
path, seed, tensor = sys.argv[1], float(sys.argv[2]), (sys.argv + ["w"])[3]
header = json.dumps({tensor: {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
with open(path, "wb") as f: f.write(struct.pack("<Q", len(header)) + header + struct.pack("<6f", *[seed] * 6))
PY
}

# checkpoint_dir N SEED [FILE...]: checkpoint-N/ of the Hugging Face Trainer with more files
checkpoint_dir() {
    local dir=$R/checkpoint-$1 f
    mkdir -p "$dir"
    weights "$dir/model.safetensors" "$2"
    for f in "${@:3}"; do
        mkdir -p "$(dirname "$dir/$f")"
        echo "$2 $f" >"$dir/$f"
    done
    echo "{\"global_step\": $1}" >"$dir/trainer_state.json"
}

# Two experiments: A with configuration, data and steps 1 to 3, then B, which differs in both, with step 4.
two_experiments() {
    printf 'lr: 0.1 # of A\n' >"$R/config.yaml"
    mkdir -p "$R/data/train"
    echo a >"$R/data/train/a.txt"
    echo b >"$R/data/b.txt"
    for i in 1 2 3; do weights "$R/step_$i.safetensors" "$i"; done
    A=$(head_of)
    cp -a "$R" "$SCRATCH/a"
    printf 'lr: 0.2\n' >"$R/config.yaml"
    printf 'more: 1\n' >"$R/params.yaml"
    rm "$R/data/b.txt"
    echo c >"$R/data/train/c.txt"
    weights "$R/step_4.safetensors" 4
    B=$(head_of)
    [[ $A != "$B" ]]
}

load_state() { "$EXPFS" load "$1" "${2:-$R/}" "${@:3}" 3>&-; }
pending() { branch '" ".join(b["pending"]["components"])' "$@"; }
latest() { basename "$(readlink "$MNT/branches/${1:-r}/latest")"; }
steps() { ls "$MNT/branches/${1:-r}/step" | tr '\n' ' '; }
parent_of() { "$EXPFS" show "$1" --store "$STORE" --json 3>&- | python3 -c 'import json, sys; print(json.load(sys.stdin)["experiment"]["parent"])'; }
experiments() { "$EXPFS" log --store "$STORE" --json 3>&- | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["experiments"]))'; }
versions() { ls "$MNT/.expfs/history/runs/r/$1" | tr '\n' ' '; }
objects() { "$EXPFS" status "$MNT" --json 3>&- | python3 -c 'import json, sys; print(json.load(sys.stdin)["counts"]["objects"])'; }

# is_a: HP and data files of the run are those of A, with bytes, modes and times, and no others
is_a() {
    diff -r "$SCRATCH/a/data" "$R/data"
    cmp "$SCRATCH/a/config.yaml" "$R/config.yaml"
    [[ ! -e $R/params.yaml ]]
    equal "$(stat -c '%a %u %g %y' "$R/config.yaml")" "$(stat -c '%a %u %g %y' "$SCRATCH/a/config.yaml")"
}
