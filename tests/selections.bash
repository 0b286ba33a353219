# What select.bats and ledger.bats share.

setup() {
    mount_run
    echo "lr: 0.1" >"$R/config.yaml"
}
teardown() { cleanup; }

# save NAME WEIGHTS [DIR]: safetensors; WEIGHTS: what they depend on
save() { python3 "$EXPFS_SRCDIR/tests/inner_step.py" "${3:-$R}/$1" 'dict()' "$2"; }

save_dir() {
    mkdir "$R/$1"
    save "$1/model.safetensors" "$2"
    echo '{"log_history": []}' >"$R/$1/trainer_state.json"
    wait_until whole "$R/$1"
}
whole() { [[ $(xattr "$1" user.expfs.complete) == 1 ]]; }

# field EXPRESSION: of the JSON r of standard input
field() { python3 -c 'import json, sys; r = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

# selects PATH OPTION...: below R where it has no slash in front; the record is the answer
selects() {
    local path=$1
    [[ $path == /* || $path =~ ^[0-9a-f]{24}@ ]] || path=$R/$path
    "$EXPFS" select "$path" "${@:2}" --json >"$SCRATCH/answer" 3>&-
}

# answered EXPRESSION: of the selection s that selects made
answered() { python3 -c 'import json, sys; s = json.load(open(sys.argv[2]))["selection"]; print(eval(sys.argv[1]))' "$1" "$SCRATCH/answer"; }

# captures NAME...: how they came, each with a comma
captures() {
    local n
    for n; do
        selects "$n.safetensors" --name "of-$n"
        answered 's["capture"]'
    done | tr '\n' ,
}

is_read() { [[ $("$EXPFS" show "$R/$1" --json 3>&- | field 'r["weights"]["read"]') == True ]]; }
wait_read() { local n; for n; do wait_until is_read "$n"; done; }
