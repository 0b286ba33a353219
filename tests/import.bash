# What the tests of import and of the export in WeightsLab's layout share.

# wl ROOT ACT...: what WeightsLab would write
wl() { python3 "$EXPFS_SRCDIR/tests/weightslab.py" "$@"; }

# Hashes: HP, MODEL, DATA
E1=11111111b5a79a78bb73166f
E2=22222222b5a79a78bb73166f
E4=11111111941b7d6dbb73166f

# wl_fifty ROOT: fifty experiments on several branches, with DuckDB's file and its log beside them
wl_fifty() {
    local i h before=$E1 acts=(dump $E1 0 5)
    for i in $(seq 11 59); do
        h=$(printf '%08d%s' "$((i * 1111111))" "${E1:8}")
        ((i % 10)) || acts+=(+ load "$before")
        acts+=(+ pending "$h" + flush + save "$h" "$((i * 10))")
        ((i % 7)) || before=$h
    done
    wl "$1" "${acts[@]}"
    mkdir -p "$1/checkpoints/loggers"
    bytes "$1/checkpoints/loggers/loggers.duckdb" 20000 7
    bytes "$1/checkpoints/loggers/loggers.duckdb.wal" 300 8
}

# old PATH SECONDS: as if it was written then
old() { touch -d "@$((1700000000 + $2)).123456789" "$1"; }

# hf_run DIR: a run with checkpoints 100 and 200 of many files, that are years old; the last one saved is 100
hf_run() {
    local step
    for step in 200 100; do
        mkdir -p "$1/checkpoint-$step/nested"
        bytes "$1/checkpoint-$step/model.bin" 50000 $step
        bytes "$1/checkpoint-$step/nested/part.bin" 3000 1
        echo "{\"global_step\": $step}" >"$1/checkpoint-$step/trainer_state.json"
        find "$1/checkpoint-$step" -type f | while read -r f; do old "$f" $((1000 - step)); done
        old "$1/checkpoint-$step" $((1000 - step))
    done
    echo "lr: 0.1" >"$1/config.yaml"
    old "$1/config.yaml" 5000
}

# same A B [OPTION…]: equal in names, kinds, bytes, modes, owners, links and times; with -O not in times of directories
same() { equal "$(rsync -aHSni "${@:3}" --checksum --modify-window=-1 --delete "$1/" "$2/")" "" "what differs in $2"; }

# everything DIR: its names and what a copy of it could change, of files also when they were read
everything() { find "$1" \( -type f -printf '%A@ ' -o -true \) -printf '%P %y %m %s %T@ %C@ %n\n' | sort; }

# imported COMMAND...: what the JSON of the last import says (python, of r)
imported() { python3 -c 'import json, sys; r = json.load(open(sys.argv[2])); print(eval(sys.argv[1]))' "$1" "$SCRATCH/imported"; }

# import ARGUMENT...: which has to succeed; its answer is kept
import() { "$EXPFS" import "$@" --json >"$SCRATCH/imported" 3>&-; }
