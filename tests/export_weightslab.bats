# expfs export --layout weightslab: of a root its own tree, of a run one that is made up.

load lib
load import
load weights

setup() {
    require_command rsync getfattr
    mount_run
    X=$SCRATCH/folder
    L=$MNT/exp/lab
}
teardown() { cleanup; }

# lab OPERAND [OPTION…]: what is told goes to SCRATCH/told
lab() { "$EXPFS" export "$1" "$X" --layout weightslab "${@:2}" 2>"$SCRATCH/told" 3>&-; }

# told TEXT: a line of it
told() { grep -qF -- "$1" "$SCRATCH/told" || fail "not told: $1; but: $(cat "$SCRATCH/told")"; }

checkpoint_of() { echo "checkpoints/models/${1:8:8}/${1}_step_$(printf %06d "$2").pt"; }

@test "a root of fifty experiments that is imported and exported again is the same, and a second time nothing is written" {
    wl_fifty "$SCRATCH/lab"
    import "$SCRATCH/lab" "$L"
    lab exp.lab --store "$STORE" >/dev/null
    same "$SCRATCH/lab" "$X" -O
    same "$SCRATCH/lab/checkpoints" "$X/checkpoints"
    cmp "$SCRATCH/lab/checkpoints/manifest.yaml" "$X/checkpoints/manifest.yaml"
    equal "$(cat "$SCRATCH/told")" ""
    [[ $(lab "$L") == "0 B written"* ]]
    umount_store
    "$EXPFS" export exp.lab "$X.2" --store "$STORE" --layout weightslab >/dev/null
    same "$X" "$X.2" -O
}

@test "of a root at the top of the store what is its own is exported, and no other run" {
    wl "$MNT" dump $E1 0 5
    wl "$MNT/runs/other" dump $E2 5
    echo text >"$R/file.pt"
    mkdir "$MNT/data/images"
    echo image >"$MNT/data/images/1"
    lab main --store "$STORE"
    diff -r "$MNT/checkpoints" "$X/checkpoints"
    equal "$(ls -A "$X" | tr '\n' ' ')" ".checkpoint_manager_state.json checkpoints d data "
    equal "$(cd "$X/data" && find . -type f)" ./images/1 # and no view
}

@test "a manifest or weights that are torn or being written go out as they were whole last" {
    wl "$L" dump $E1 0 5 10
    cp -r "$L" "$SCRATCH/before"
    head -c 100 "$SCRATCH/before/checkpoints/manifest.yaml" >"$L/checkpoints/manifest.yaml"
    head -c 1000 "$SCRATCH/before/$(checkpoint_of $E1 10)" >"$L/$(checkpoint_of $E1 10)"
    exec 8>"$L/$(checkpoint_of $E1 5)"
    head -c 1000 "$SCRATCH/before/$(checkpoint_of $E1 5)" >&8
    lab "$L"
    exec 8>&-
    diff -r "$SCRATCH/before" "$X"
    told "/exp/lab/checkpoints/manifest.yaml: is not whole; the last version that is goes out"
    told "/exp/lab/$(checkpoint_of $E1 10): is not whole"
    told "/exp/lab/$(checkpoint_of $E1 5): is not whole, or being written"
}

@test "weights that the manifest names and that were deleted come out of history" {
    wl "$L" dump $E1 0 5 10
    cp -r "$L" "$SCRATCH/before"
    rm "$L/$(checkpoint_of $E1 10)" "$L/$(checkpoint_of $E1 5)"
    lab "$L"
    cmp "$SCRATCH/before/$(checkpoint_of $E1 10)" "$X/$(checkpoint_of $E1 10)"
    not test -e "$X/$(checkpoint_of $E1 5)"
    told "/exp/lab/$(checkpoint_of $E1 10): is not there any more"
}

@test "weights whose names a folder refuses are called the same in the manifest that goes out" {
    local model=${E1:8:8} weights
    wl "$L" dump $E1 0 5
    weights=${E1}_step_000005.pt
    mv "$L/$(checkpoint_of $E1 5)" "$L/checkpoints/models/$model/a:5.pt"
    sed -i "s/$weights/a:5.pt/" "$L/checkpoints/manifest.yaml"
    grep -q 'a:5.pt' "$L/checkpoints/manifest.yaml"
    lab "$L"
    [[ -e $X/checkpoints/models/$model/a%3A5.pt ]] || fail "$(find "$X")"
    grep -q "latest_weight_checkpoint: 'a%3A5.pt'" "$X/checkpoints/manifest.yaml" || fail "$(cat "$X/checkpoints/manifest.yaml")"
    cp "$L/checkpoints/models/$model/a:5.pt" "$SCRATCH/weights"
    rm "$L/checkpoints/models/$model/a:5.pt"
    lab "$L"
    cmp "$X/checkpoints/models/$model/a%3A5.pt" "$SCRATCH/weights"
    grep -q "latest_weight_checkpoint: 'a%3A5.pt'" "$X/checkpoints/manifest.yaml"
    [[ $(lab "$L") == "0 B written"* ]]
}

@test "a state file that names an experiment which no manifest lists is left out and told" {
    wl "$L" dump $E1 0 5 + pending $E2
    lab "$L"
    not test -e "$X/.checkpoint_manager_state.json"
    told "names $E2, which no manifest lists"
    wl "$L" flush
    lab "$L"
    cmp "$L/.checkpoint_manager_state.json" "$X/.checkpoint_manager_state.json"
}

# python EXPRESSION: of what lies in the folder; m is the manifest, s the state file, c(HASH) a configuration
python() {
    python3 -c '
import json, sys, yaml
top = sys.argv[1]
m = yaml.safe_load(open(top + "/checkpoints/manifest.yaml"))
s = json.load(open(top + "/.checkpoint_manager_state.json"))
c = lambda h: yaml.safe_load(open(f"{top}/checkpoints/HP/{h[:8]}/{h[:8]}_config.yaml"))
print(eval(sys.argv[2]))' "$X" "$1"
}

lab_state() { echo "{'step': $1, 'model_state_dict': {'a': w($1), 'b': w(1$1)}, 'optimizer_state_dict': {}}"; }

@test "of a run a root is made up, with its experiments, configurations and the checkpoints that WeightsLab loads" {
    python3 -c 'import yaml' || missing "no yaml for python3"
    printf -- '---\n# a comment\nlr: 1e-4\nname: "a: b"\nlist: [1,\n2]\ntext: |\n  one\n  two\n' >"$R/config.yaml"
    save step_100.pt "$(lab_state 100)"
    save step_200.pt "$(lab_state 200)"
    a=$(cat "$V/HEAD")
    echo "lr: 2.0e-4" >"$R/config.yaml"
    save step_300.pt "$(lab_state 300)"
    save step_400.pt "{'step': 400, 'state_dict': {'a': w(300), 'b': w(1300)}}"
    b=$(cat "$V/HEAD")
    lab r --store "$STORE"
    equal "$(python 'list(m["experiments"]), m["latest_hash"], s["current_exp_hash"], s["component_hashes"]["hp"]')" \
        "(['$a', '$b'], '$b', '$b', '${b:0:8}')"
    equal "$(python "[(e['latest_weight_checkpoint'], e['latest_weight_step']) for e in m['experiments'].values()]")" \
        "[('${a}_step_000200.pt', 200), ('${b}_step_000300.pt', 300)]"
    equal "$(python "c('$a')['hyperparameters'], c('$a')['exp_hash'], c('$b')['hyperparameters']")" \
        "({'lr': '1e-4', 'name': 'a: b', 'list': [1, 2], 'text': 'one\\ntwo\\n'}, '${a:0:8}', {'lr': 0.0002})"
    cmp "$R/step_300.pt" "$X/$(checkpoint_of "$b" 300)"
    cmp "$R/step_100.pt" "$X/$(checkpoint_of "$a" 100)"
    not test -e "$X/$(checkpoint_of "$b" 400)"
    told "/runs/r/step_400.pt: is a checkpoint that WeightsLab cannot load"
    [[ $(lab r --store "$STORE") == "0 B written"* ]]
    umount_store
    "$EXPFS" export r "$X.2" --store "$STORE" --layout weightslab 2>/dev/null
    same "$X" "$X.2" -O
}

@test "of a run whose experiments share a configuration and an architecture each file goes out once, and a second time nothing is written" {
    echo "lr: 0.1" >"$R/config.yaml"
    echo net >"$R/net_architecture.txt"
    for i in 1 2 3; do
        echo "{\"train\": [$i]}" >"$R/split.json"
        save step_$i.pt "$(lab_state $i)"
    done
    equal "$(ls "$MNT/experiments" | wc -l)" 3
    lab r --store "$STORE"
    lab r --store "$STORE" >"$SCRATCH/again"
    [[ $(<"$SCRATCH/again") == "0 B written"* ]] || fail "$(cat "$SCRATCH/again" "$SCRATCH/told")"
    equal "$(find "$X" -name '*_config.yaml' | wc -l)" 1
    equal "$(find "$X" -name '*.pt' | wc -l)" 3
    test -e "$X/checkpoints/manifest.yaml"
}

@test "of two runs with one experiment the root that is made up has the checkpoints of its own run" {
    echo "lr: 0.1" >"$R/config.yaml"
    save step_100.pt "$(lab_state 100)"
    cp -r "$R" "$MNT/runs/other"
    rm "$MNT/runs/other/step_100.pt"
    R=$MNT/runs/other save step_100.pt "$(lab_state 100 | sed 's/w(100)/w(7)/')"
    equal "$(cat "$V/HEAD")" "$(cat "$MNT/branches/other/HEAD")"
    "$EXPFS" export other "$X" --layout weightslab --store "$STORE" >/dev/null
    cmp "$MNT/runs/other/step_100.pt" "$X/$(checkpoint_of "$(cat "$V/HEAD")" 100)"
    "$EXPFS" export r "$X.2" --layout weightslab --store "$STORE" >/dev/null
    cmp "$R/step_100.pt" "$X.2/$(checkpoint_of "$(cat "$V/HEAD")" 100)"
}

@test "of several roots below a directory all are exported, and of a run with a root in it the run, if its branch is named" {
    wl "$R/a" dump $E1 0 5
    wl "$R/b" dump $E2 5
    lab "$R" >/dev/null
    diff -r "$R" "$X"
    echo "lr: 0.1" >"$R/config.yaml"
    save step_100.pt "$(lab_state 100)"
    "$EXPFS" export r "$X.2" --layout weightslab --store "$STORE" >/dev/null
    equal "$(cd "$X.2" && ls -A | tr '\n' ' ')" ".checkpoint_manager_state.json checkpoints "
    test -e "$X.2/$(checkpoint_of "$(cat "$V/HEAD")" 100)"
    lab "$R" >/dev/null
    background "$EXPFS" export "$R" "$X.3" --layout weightslab --watch >"$SCRATCH/watch"
    wait_until grep -q "written to" "$SCRATCH/watch"
    kill "$BG"
    wait_until no_process "$BG"
    diff -r "$X" "$X.3"
}

@test "what the configuration calls a manifest by another name goes out as it is" {
    "$EXPFS" umount "$MNT"
    printf 'roles:\n  MANIFEST: ["a", "*.mf"]\n' >"$STORE/config.yaml"
    mount_store
    wl "$R" dump $E1 0 5
    echo one >"$R/a"
    echo two >"$R/checkpoints/other.mf"
    lab "$R" >/dev/null
    diff -r "$R" "$X"
}

@test "of a run without an experiment, and of what is no run, no root is made up" {
    bytes "$R/file" 100 1
    refused 1 "$EXPFS" export "$MNT/d" "$X" --layout weightslab
    [[ $MESSAGE == *"neither a run nor an experiment root"* ]]
    echo "lr: 0.1" >"$R/config.yaml"
    refused 1 "$EXPFS" export "$R" "$X" --layout weightslab
    [[ $MESSAGE == *"has no experiment yet"* ]]
}
