# The branch main where an experiment root and a run's own files both lie at the top: one branch with the lines of both.

load lib

setup() {
    scratch
    store_init
    mount_store
    M=$MNT/branches/main
    wl "$MNT" dump $E1 0 5
}
teardown() { cleanup; }

wl() { python3 "$EXPFS_SRCDIR/tests/weightslab.py" "$@"; }
E1=11111111b5a79a78bb73166f
E2=22222222b5a79a78bb73166f

# weights PATH SEED: a safetensors file
weights() {
    python3 - "$@" <<'PY'
import json, struct, sys
header = json.dumps({"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<Q", len(header)) + header + struct.pack("<6f", *[float(sys.argv[2])] * 6))
PY
}

# log of main: the hashes, the last one first
hashes() { "$EXPFS" log main --json --store "$STORE" 3>&- | python3 -c 'import json, sys; print(*(e["hash"] for e in json.load(sys.stdin)["experiments"]))'; }
pending() { paste -sd ' ' "$M/pending"; }

@test "HEAD of main is where the root or the run came last, and its log has both in the order of events" {
    equal "$(cat "$M/HEAD")" $E1
    echo 'lr: 0.1' >"$MNT/config.yaml"
    weights "$MNT/step_100.safetensors" 1
    local own
    own=$(xattr "$MNT/step_100.safetensors" user.expfs.hash)
    equal "$(cat "$M/HEAD")" "$own"
    wl "$MNT" pending $E2 + flush + save $E2 15
    equal "$(cat "$M/HEAD")" $E2
    equal "$(hashes)" "$E2 $own $E1"
    equal "$(ls "$MNT/branches")" main
    equal "$(ls -U "$M/step" | paste -sd ' ')" "0 5 15 100"
    equal "$("$EXPFS" show "$own" --json --store "$STORE" 3>&- | python3 -c 'import json, sys; e = json.load(sys.stdin)["experiment"]; print(e["branches"], e["head_of"])')" "['main'] []"
    equal "$("$EXPFS" show $E2 --json --store "$STORE" 3>&- | python3 -c 'import json, sys; e = json.load(sys.stdin)["experiment"]; print(e["branches"], e["head_of"])')" "['main'] ['main']"
    remount
    equal "$(hashes)" "$E2 $own $E1"
}

@test "pending of main is what the run's own files are, and commit commits it" {
    echo 'lr: 0.1' >"$MNT/config.yaml"
    local want
    want=$(pending)
    [[ $want == "HP "????????0000000000000000 ]] || fail "pending: $want"
    "$EXPFS" commit main --store "$STORE" 3>&-
    equal "$(cat "$M/HEAD")/$(pending)" "${want#HP }/"
    wl "$MNT" pending $E2
    equal "$(pending)" "HP $E2"
    echo 'lr: 0.2' >"$MNT/config.yaml"
    [[ $(pending) == "HP "????????0000000000000000 ]] || fail "pending: $(pending)"
}

@test "a state of the run is loaded into main, and leaves what lies in checkpoints/" {
    echo 'lr: 0.1' >"$MNT/config.yaml"
    weights "$MNT/step_100.safetensors" 1
    local first before
    first=$(cat "$M/HEAD")
    echo 'lr: 0.2' >"$MNT/config.yaml"
    weights "$MNT/step_200.safetensors" 2
    before=$(find "$MNT/checkpoints" "$MNT/.checkpoint_manager_state.json" -type f | sort | xargs sha256sum)
    "$EXPFS" load "$first" main --store "$STORE" 3>&-
    equal "$(cat "$MNT/config.yaml")" "lr: 0.1"
    equal "$(cat "$M/HEAD")/$(pending)" "$first/"
    equal "$(find "$MNT/checkpoints" "$MNT/.checkpoint_manager_state.json" -type f | sort | xargs sha256sum)" "$before"
    weights "$MNT/step_150.safetensors" 3
    equal "$("$EXPFS" show "$(cat "$M/HEAD")" --json --store "$STORE" 3>&- | python3 -c 'import json, sys; print(json.load(sys.stdin)["experiment"]["parent"])')" "$first"
    echo "$first" >"$M/HEAD"
    equal "$(cat "$M/HEAD")" "$first"
}

@test "a state of the root is loaded by its own program, and main says so" {
    echo 'lr: 0.1' >"$MNT/config.yaml"
    weights "$MNT/step_100.safetensors" 1
    run "$EXPFS" load $E1 main --store "$STORE" 3>&-
    equal $status 3
    equal "$output" "expfs: $E1: is known by its name only; who wrote it loads it himself, as WeightsLab does"
    equal "$(errno_of bash -c "echo $E1 >'$M/HEAD'")" "Operation not supported"
}

@test "a branch of a root that is no run is loaded by its own program" {
    wl "$MNT" pending $E2 + flush + save $E2 15 + load $E1 + dump 11111111941b7d6dbb73166f 5
    echo 'lr: 0.1' >"$MNT/config.yaml"
    weights "$MNT/step_100.safetensors" 1
    run "$EXPFS" load "$(cat "$M/HEAD")" main.2 --store "$STORE" 3>&-
    equal $status 3
    [[ $output == *"main.2: is a branch of an experiment root; who writes there loads into it himself, as WeightsLab does" ]]
}

@test "a branch of its own goes on from main's head and steps" {
    echo 'lr: 0.1' >"$MNT/config.yaml"
    weights "$MNT/step_100.safetensors" 1
    "$EXPFS" branch new --from main --store "$STORE" 3>&-
    cmp "$MNT/runs/new/step_100.safetensors" "$MNT/step_100.safetensors"
    "$EXPFS" branch other --from main@100 --store "$STORE" 3>&-
    cmp "$MNT/runs/other/config.yaml" "$MNT/config.yaml"
}
