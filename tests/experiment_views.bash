# What experiment_views.bats and experiment_texts.bats share.

load lib

setup() {
    scratch
    store_init
    mount_store
    R=$MNT/runs/r
    B=$MNT/branches/r
    mkdir "$R"
}
teardown() { cleanup; }

# save PATH SEED [SIZE]: a whole checkpoint, whose structure depends on SIZE
save() { checkpoint safetensors "$1" "${3:-20000}" "$2"; }

config() { printf '%s\n' "$@" >"$R/config.yaml"; }

head_of() { cat "$MNT/branches/$1/HEAD"; }

# two_experiments: A and B of one run, with a step each, that differ in the configuration
two_experiments() {
    config "lr: 0.1" "batch: 8"
    save "$R/step_100.safetensors" 1
    A=$(head_of r)
    config "lr: 0.01" "batch: 8"
    save "$R/step_200.safetensors" 2
    B_=$(head_of r)
    not equal "$A" "$B_" 2>/dev/null
}

# all_resolve DIR...: every link below leads somewhere
all_resolve() {
    local link n=0
    while read -r link; do
        [[ -e $link && $(readlink "$link") != /* ]] || fail "$link -> $(readlink "$link")"
        equal "$(stat -c %s "$link")" "$(readlink -n "$link" | wc -c)" "size of $link"
        n=$((n + 1))
    done < <(find "$@" -type l)
    ((n > 0)) || fail "no links below $*"
}
