# Loading a state into a run: expfs load, expfs branch, and a line written to HEAD.

load lib

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
# branch EXPRESSION [NAME]: of what status says of a branch b
branch() {
    "$EXPFS" status "$MNT" --json 3>&- | python3 -c '
import json, sys
r = json.load(sys.stdin)
b = next((b for b in r["branches"] if b["name"] == sys.argv[2]), None)
print(eval(sys.argv[1]))' "$1" "${2:-r}"
}
head_of() { branch 'b["head"]' "$@"; }
pending() { branch '" ".join(b["pending"]["components"])' "$@"; }
latest() { basename "$(readlink "$MNT/branches/${1:-r}/latest")"; }
steps() { ls "$MNT/branches/${1:-r}/step" | tr '\n' ' '; }
hash_of() { getfattr --only-values -n user.expfs.hash "$1"; }
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

# --- what comes back ---

@test "a load brings the files of an experiment back bit for bit, and takes those away that it did not have" {
    two_experiments
    run load_state "$A"
    equal "$status" 0
    equal "$output" "/runs/r: $A, /runs/r/step_3.safetensors, step 3"
    is_a
}

@test "weights, files without a role and directories stay" {
    two_experiments
    echo notes >"$R/notes.txt"
    load_state "$A"
    equal "$(cat "$R/notes.txt")" notes
    ls "$R"/step_{1,2,3,4}.safetensors
    weights "$SCRATCH/4" 4
    cmp "$SCRATCH/4" "$R/step_4.safetensors"
}

@test "what was there stays in history" {
    two_experiments
    load_state "$A"
    equal "$(versions config.yaml)" "1.yaml 2.yaml 3.yaml "
    equal "$(cat "$MNT/.expfs/history/runs/r/config.yaml/2.yaml")" "lr: 0.2"
    equal "$(cat "$MNT/.expfs/history/runs/r/params.yaml/1.yaml")" "more: 1"
    equal "$(cat "$MNT/.expfs/history/runs/r/data/train/c.txt/1.txt")" c
    load_state "$B"
    equal "$(cat "$R/config.yaml" "$R/params.yaml" "$R/data/train/c.txt")" $'lr: 0.2\nmore: 1\nc'
    [[ ! -e $R/data/b.txt ]]
}

@test "an edit that was never committed is in history, too" {
    two_experiments
    printf 'lr: 0.9\n' >"$R/config.yaml"
    load_state "$A"
    equal "$(cat "$MNT/.expfs/history/runs/r/config.yaml/3.yaml")" "lr: 0.9"
    is_a
}

@test "HEAD is the loaded experiment, and nothing is pending" {
    two_experiments
    load_state "$A"
    equal "$(cat "$MNT/branches/r/HEAD")" "$A"
    equal "$(cat "$MNT/branches/r/pending")" ""
    remount
    equal "$(head_of)/$(pending)" "$A/"
    equal "$(hash_of "$R/config.yaml")" "$A"
}

@test "nothing is copied: the store has no more objects and bytes than before" {
    two_experiments
    local objects stored
    objects=$(objects)
    stored=$(space stored)
    load_state "$A"
    load_state "$B"
    load_state "$A"
    equal "$(objects)" "$objects"
    equal "$(space stored)" "$stored"
}

@test "files that are as the state had them are not touched" {
    two_experiments
    local was
    was=$(stat -c '%i %Z' "$R/data/train/a.txt" "$R/step_3.safetensors")
    load_state "$A"
    equal "$(stat -c '%i %Z' "$R/data/train/a.txt" "$R/step_3.safetensors")" "$was"
    equal "$(versions data/train/a.txt)" "1.txt "
}

@test "who has a file open reads on what it was, and another name of it keeps it" {
    two_experiments
    ln "$R/config.yaml" "$MNT/d/mine"
    exec 7<"$R/config.yaml"
    load_state "$A"
    equal "$(cat <&7)" "lr: 0.2"
    equal "$(cat "$MNT/d/mine")" "lr: 0.2"
    equal "$(stat -c %h "$MNT/d/mine")" 1
    exec 7<&-
}

@test "a directory that was removed is made again as it was" {
    two_experiments
    rm -r "$R/data"
    load_state "$A"
    is_a
    equal "$(stat -c %a "$R/data/train")" "$(stat -c %a "$SCRATCH/a/data/train")"
}

@test "names that the kernel knew, or knew to be missing, are found as they are now" {
    two_experiments
    local i
    for i in 1 2 3; do
        [[ ! -e $R/data/b.txt && -e $R/params.yaml ]]
        stat "$R/config.yaml" "$R" "$R/data" >"$SCRATCH/stat"
        load_state "$A"
        [[ -e $R/data/b.txt && ! -e $R/params.yaml ]]
        is_a
        load_state "$B"
        [[ ! -e $R/data/b.txt && -e $R/params.yaml ]]
        equal "$(cat "$R/config.yaml")" "lr: 0.2"
    done
}

# --- checkpoints and the line ---

@test "the next checkpoint begins a new experiment that comes from the loaded one" {
    two_experiments
    load_state "$A"
    weights "$R/step_5.safetensors" 5
    local c
    c=$(head_of)
    [[ $c != "$A" && $c != "$B" ]]
    equal "${c:0:8}${c:16}" "${A:0:8}${A:16}"
    equal "${c:8:8}" "$(printf 'init_step:3\nw:float32:[2,3]\n' | sha256sum | cut -c -8)"
    equal "$(parent_of "$c")" "$A"
    weights "$R/step_6.safetensors" 6
    equal "$(head_of)" "$c"
}

@test "it does so where an architecture file tells the model, too" {
    echo layers >"$R/architecture.txt"
    weights "$R/step_1.safetensors" 1
    A=$(head_of)
    weights "$R/step_2.safetensors" 2
    equal "$(head_of)" "$A"
    load_state "$A@1"
    equal "$(head_of)/$(pending)" "$A/"
    weights "$R/step_3.safetensors" 3
    [[ $(head_of) != "$A" ]]
    equal "$(parent_of "$(head_of)")" "$A"
}

@test "an edit after a load is pending, with the hash that the next checkpoint gives" {
    two_experiments
    load_state "$A"
    printf '# the same\nlr: 0.1\n' >"$R/config.yaml"
    equal "$(pending)" ""
    run "$EXPFS" commit "$R/" 3>&-
    [[ $output == "r: nothing is pending, it is at $A" ]]
    printf 'lr: 0.7\n' >"$R/config.yaml"
    local hash
    hash=$(branch 'b["pending"]["hash"]')
    weights "$R/step_9.safetensors" 9
    equal "$(head_of)" "$hash"
}

@test "with a step the line goes on from there, and later checkpoints are off it" {
    two_experiments
    load_state "$A@2"
    equal "$(latest)" step_2.safetensors
    equal "$(steps)" "1 2 "
    equal "$(readlink "$MNT/branches/r/step/99")" ../../../runs/r/step_2.safetensors
    ls "$R"/step_{3,4}.safetensors
    equal "$(ls "$MNT/experiments/$A/step" | tr '\n' ' ')" "1 2 3 "
    equal "$(readlink "$R/.expfs/latest")" ../step_4.safetensors
    weights "$R/step_3.safetensors" 33
    equal "$(latest)" step_3.safetensors
    equal "$(steps)" "1 2 3 "
    remount
    equal "$(steps)" "1 2 3 "
}

@test "checkpoints that are saved again with the same bytes are on the new line" {
    two_experiments
    load_state "$A@1"
    equal "$(steps)" "1 "
    weights "$R/step_2.safetensors" 2
    equal "$(steps)" "1 2 "
    equal "$(hash_of "$R/step_2.safetensors")" "$(head_of)"
}

@test "a load of what comes later brings the way to it back onto the line" {
    two_experiments
    load_state "$A@2"
    weights "$R/step_20.safetensors" 20
    equal "$(steps)" "1 2 20 "
    load_state "$B"
    equal "$(steps)" "1 2 3 4 "
    load_state "$(hash_of "$R/step_20.safetensors")"
    equal "$(steps)" "1 2 20 "
    load_state "$A@1"
    equal "$(steps)" "1 "
}

@test "the best of the branch is one that is on its line" {
    two_experiments
    printf '{"step": %d, "val_loss": %s}\n' 1 0.5 2 0.4 3 0.3 4 0.2 >"$R/metrics.jsonl"
    equal "$(basename "$(readlink "$MNT/branches/r/best")")" step_4.safetensors
    load_state "$A@2"
    equal "$(basename "$(readlink "$MNT/branches/r/best")")" step_2.safetensors
    equal "$(basename "$(readlink "$R/.expfs/best")")" step_4.safetensors
}

@test "a checkpoint that was begun before a load and completes after it is not on the new line" {
    two_experiments
    weights "$SCRATCH/w" 5
    exec 7>"$R/step_5.safetensors"
    head -c 20 "$SCRATCH/w" >&7
    load_state "$A@2"
    tail -c +21 "$SCRATCH/w" >&7
    exec 7>&-
    equal "$(head_of)" "$A"
    equal "$(latest)" step_2.safetensors
    equal "$(hash_of "$R/step_5.safetensors")" "$B"
}

@test "a step that there is not is refused, with those that there are" {
    two_experiments
    refused 1 "$EXPFS" load "$A@7" "$R/"
    equal "$MESSAGE" "expfs: $A: has no checkpoint of step 7; it has 1 2 3"
    equal "$(head_of)" "$B"
}

@test "a checkpoint that was deleted comes back" {
    two_experiments
    rm "$R"/step_*.safetensors
    load_state "$A"
    weights "$SCRATCH/3" 3
    cmp "$SCRATCH/3" "$R/step_3.safetensors"
    equal "$(latest)" step_3.safetensors
    equal "$(hash_of "$R/step_3.safetensors")" "$A"
    load_state "$A@1"
    ls "$R/step_1.safetensors"
    equal "$(latest)" step_1.safetensors
}

@test "a deleted checkpoint is not loaded as the latest while there is another" {
    two_experiments
    rm "$R/step_3.safetensors"
    load_state "$A"
    equal "$(latest)" step_2.safetensors
    [[ ! -e $R/step_3.safetensors ]]
}

@test "of a checkpoint of one name the state's version comes back" {
    local i
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/last.safetensors" 1
    A=$(head_of)
    echo 'lr: 0.2' >"$R/config.yaml"
    weights "$R/last.safetensors" 2
    equal "$(latest)" last.safetensors
    load_state "$A"
    weights "$SCRATCH/1" 1
    cmp "$SCRATCH/1" "$R/last.safetensors"
    equal "$(versions last.safetensors)" "1.safetensors 2.safetensors 3.safetensors "
    equal "$(latest)" last.safetensors
}

@test "after a load of a checkpoint without a step the next one begins a new experiment, too" {
    local c
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/last.safetensors" 1
    A=$(head_of)
    echo 'lr: 0.2' >"$R/config.yaml"
    weights "$R/last.safetensors" 2
    load_state "$A"
    equal "$(head_of)/$(pending)" "$A/"
    weights "$R/last.safetensors" 3
    c=$(head_of)
    [[ $c != "$A" ]]
    equal "${c:0:8}${c:16}" "${A:0:8}${A:16}"
    equal "$(parent_of "$c")" "$A"
    equal "$(hash_of "$R/last.safetensors")" "$c"
    load_state "$c"
    weights "$R/last.safetensors" 4
    [[ $(head_of) != "$c" && $(head_of) != "$A" ]]
    equal "$(parent_of "$(head_of)")" "$c"
}

@test "so it does after a load of a state that has no checkpoint" {
    echo 'lr: 0.1' >"$R/config.yaml"
    echo layers >"$R/architecture.txt"
    "$EXPFS" commit "$R/" 3>&-
    A=$(head_of)
    load_state "$A"
    equal "$(head_of)/$(pending)" "$A/"
    weights "$R/step_1.safetensors" 1
    [[ $(head_of) != "$A" ]]
    equal "$(parent_of "$(head_of)")" "$A"
}

# seeds NAME...: what checkpoints of the run hold
seeds() {
    local name
    for name in "$@"; do
        python3 -c 'import struct, sys; print("%g" % struct.unpack("<f", open(sys.argv[1], "rb").read()[-4:]), end=" ")' "$R/$name.safetensors"
    done
}

# Two experiments that keep two checkpoints without a step: A with 1 and 2, B with 3 and 4, which first removes the old ones
two_without_a_step() {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/gone.safetensors" 0
    rm "$R/gone.safetensors"
    weights "$R/latest.safetensors" 1
    weights "$R/best.safetensors" 2
    A=$(head_of)
    rm "$R"/*.safetensors
    echo 'lr: 0.2' >"$R/config.yaml"
    weights "$R/latest.safetensors" 3
    weights "$R/best.safetensors" 4
    B=$(head_of)
}

@test "of several checkpoints without a step all come back as the experiment had them" {
    two_without_a_step
    local first
    for first in "$A" "$B" "$A"; do
        load_state "$first"
        [[ $first == "$A" ]] && equal "$(seeds latest best)" "1 2 "
        [[ $first == "$B" ]] && equal "$(seeds latest best)" "3 4 "
        equal "$(hash_of "$R/latest.safetensors") $(hash_of "$R/best.safetensors")" "$first $first"
        equal "$(head_of)/$(pending)/$(latest)" "$first//best.safetensors"
    done
    remount
    rm "$R/best.safetensors"
    equal "$(latest)" latest.safetensors # it is on the line
    rm "$R/latest.safetensors"
    load_state "$B"
    equal "$(seeds latest best)" "3 4 "
    [[ ! -e $R/gone.safetensors ]]
}

@test "they come into another run, and come back there" {
    two_without_a_step
    local c
    "$EXPFS" branch new --from "$A" --store "$STORE" 3>&-
    R=$MNT/runs/new
    equal "$(seeds latest best)" "1 2 "
    equal "$(hash_of "$R/latest.safetensors")/$(latest new)" "$A/best.safetensors"
    weights "$R/latest.safetensors" 5
    weights "$R/best.safetensors" 6
    c=$(head_of new)
    equal "$(parent_of "$c")/$(hash_of "$R/latest.safetensors")" "$A/$c"
    load_state "$A"
    equal "$(seeds latest best)" "1 2 "
    load_state "$c"
    equal "$(seeds latest best)/$(latest new)" "5 6 /best.safetensors"
}

@test "with a step they are what they were when that checkpoint was complete" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" 1
    weights "$R/latest.safetensors" 1
    weights "$R/step_2.safetensors" 2
    weights "$R/latest.safetensors" 2
    weights "$R/step_3.safetensors" 3
    A=$(head_of)
    load_state "$A@2"
    equal "$(seeds latest)/$(latest)" "1 /step_2.safetensors"
    load_state "$A@3"
    equal "$(seeds latest)/$(latest)" "2 /step_3.safetensors"
    load_state "$A@1"
    equal "$(seeds latest)/$(latest)" "2 /step_1.safetensors" # there was none yet
}

@test "a checkpoint without a step that the experiment did not have stays, off the line" {
    two_without_a_step
    weights "$R/other.safetensors" 5
    load_state "$A"
    equal "$(seeds latest best other)" "1 2 5 "
    equal "$(hash_of "$R/other.safetensors")/$(latest)" "$B/best.safetensors"
}

@test "any of them that somebody writes makes the load fail, and all is as it was" {
    two_without_a_step
    exec 7>>"$R/latest.safetensors"
    refused 3 "$EXPFS" load "$A" "$R/"
    equal "$MESSAGE" "expfs: /runs/r/latest.safetensors: is being written; wait until that is done"
    equal "$(cat "$R/config.yaml")/$(seeds latest best)/$(head_of)" "lr: 0.2/3 4 /$B"
    exec 7>&-
    load_state "$A"
    equal "$(seeds latest best)" "1 2 "
}

@test "directories of checkpoints without a step come back, too" {
    umount_store
    printf 'roles:\n  WEIGHTS: [latest/, best/]\n' >"$STORE/config.yaml"
    mount_store
    local dir
    echo 'lr: 0.1' >"$R/config.yaml"
    for dir in latest best; do
        checkpoint_dir 1 1 optimizer.txt
        mv "$R/checkpoint-1" "$R/$dir"
    done
    A=$(head_of)
    cp -a "$R" "$SCRATCH/a"
    echo 'lr: 0.2' >"$R/config.yaml"
    for dir in latest best; do
        rm -r "${R:?}/$dir"
        checkpoint_dir 1 2 more.txt
        mv "$R/checkpoint-1" "$R/$dir"
    done
    [[ $(head_of) != "$A" ]]
    load_state "$A"
    diff -r "$SCRATCH/a" "$R"
    equal "$(hash_of "$R/latest") $(hash_of "$R/best")" "$A $A"
}

@test "a directory checkpoint holds exactly the files of its version afterwards" {
    echo 'lr: 0.1' >"$R/config.yaml"
    checkpoint_dir 5 1 optimizer.txt sub/deep.txt
    A=$(head_of)
    cp -a "$R" "$SCRATCH/a"
    echo 'lr: 0.2' >"$R/config.yaml"
    checkpoint_dir 5 2 extra.txt other/more.txt
    rm -r "$R/checkpoint-5/sub"
    local b
    b=$(head_of)
    load_state "$A"
    diff -r "$SCRATCH/a" "$R"
    equal "$(stat -c '%a %y' "$R/checkpoint-5")" "$(stat -c '%a %y' "$SCRATCH/a/checkpoint-5")"
    equal "$(latest)" checkpoint-5
    equal "$(hash_of "$R/checkpoint-5")" "$A"
    load_state "$b"
    equal "$(cat "$R/checkpoint-5/other/more.txt")" "2 other/more.txt"
    [[ ! -e $R/checkpoint-5/sub ]]
}

@test "a directory checkpoint that was removed comes back" {
    echo 'lr: 0.1' >"$R/config.yaml"
    checkpoint_dir 5 1 optimizer.txt
    checkpoint_dir 10 2 optimizer.txt
    A=$(head_of)
    cp -a "$R" "$SCRATCH/a"
    rm -r "$R/checkpoint-5" "$R/checkpoint-10"
    load_state "$A@5"
    diff -r "$SCRATCH/a/checkpoint-5" "$R/checkpoint-5"
    [[ ! -e $R/checkpoint-10 ]]
    equal "$(latest)" checkpoint-5
    equal "$(head_of)/$(pending)" "$A/"
}

@test "what a directory checkpoint held that was not complete is in history afterwards" {
    echo 'lr: 0.1' >"$R/config.yaml"
    checkpoint_dir 5 1 optimizer.txt
    A=$(head_of)
    head -c 20 /dev/urandom >"$R/checkpoint-5/model.safetensors"
    cp -a "$R" "$SCRATCH/torn"
    load_state "$A"
    weights "$SCRATCH/1" 1
    cmp "$SCRATCH/1" "$R/checkpoint-5/model.safetensors"
    equal "$(versions checkpoint-5)" "1 2 3 "
    diff -r "$SCRATCH/torn/checkpoint-5" "$MNT/.expfs/history/runs/r/checkpoint-5/2"
    equal "$(latest)" checkpoint-5
}

# --- other runs ---

@test "the state of another run comes with paths of this one" {
    two_experiments
    mkdir "$MNT/runs/other"
    echo 'own: 1' >"$MNT/runs/other/hparams.yaml"
    load_state "$A@2" "$MNT/runs/other/"
    diff -r "$SCRATCH/a/data" "$MNT/runs/other/data"
    equal "$(ls "$MNT/runs/other" | tr '\n' ' ')" "config.yaml data step_2.safetensors "
    equal "$(head_of other)/$(pending other)/$(latest other)/$(steps other)" "$A//step_2.safetensors/2 "
    equal "$(readlink "$MNT/experiments/$A/latest")" ../../runs/r/step_3.safetensors
    equal "$(head_of)" "$B"
    weights "$MNT/runs/other/step_8.safetensors" 8
    equal "$(parent_of "$(head_of other)")" "$A"
    equal "$(steps other)" "2 8 "
}

@test "branch begins a run with a state, and the old branch stays" {
    two_experiments
    run "$EXPFS" branch "$MNT/runs/new" --from "$A@1" 3>&-
    equal "$status" 0
    equal "$output" "/runs/new: $A, /runs/new/step_1.safetensors, step 1"
    equal "$(head_of new)/$(pending new)/$(steps new)" "$A//1 "
    equal "$(head_of)/$(steps)" "$B/1 2 3 4 "
    cmp "$SCRATCH/a/config.yaml" "$MNT/runs/new/config.yaml"
    weights "$MNT/runs/new/step_2.safetensors" 22
    equal "$(parent_of "$(head_of new)")" "$A"
}

@test "branch begins with the head of a branch, or one of its checkpoints" {
    two_experiments
    (cd "$MNT" && "$EXPFS" branch n1 --from r 3>&-)
    "$EXPFS" branch n2 --from r@2 --store "$STORE" 3>&-
    "$EXPFS" branch n3 --from "${A:0:7}" --store "$STORE" 3>&-
    equal "$(head_of n1)/$(latest n1)" "$B/step_4.safetensors"
    equal "$(head_of n2)/$(latest n2)" "$A/step_2.safetensors"
    equal "$(head_of n3)/$(latest n3)" "$A/step_3.safetensors"
    equal "$("$EXPFS" branch --store "$STORE" 3>&- | sed 's/ .*//' | tr '\n' ' ')" "n1 n2 n3 r "
    refused 1 "$EXPFS" branch n4 --from r@9 --store "$STORE"
    refused 1 "$EXPFS" branch n4 --from nobody --store "$STORE"
    [[ ! -e $MNT/runs/n4 ]]
}

@test "branch refuses a run that is there, and what is no name of one" {
    two_experiments
    refused 3 "$EXPFS" branch "$MNT/runs/r" --from "$A"
    equal "$MESSAGE" "expfs: runs/r: is there already; name another"
    refused 2 "$EXPFS" branch "$MNT/x" --from "$A"
    refused 2 "$EXPFS" branch .hidden --from "$A" --store "$STORE"
    refused 2 "$EXPFS" branch new
    equal "$(head_of)" "$B"
}

@test "load and branch work while the store is not mounted" {
    two_experiments
    umount_store
    "$EXPFS" load "$A@1" r --store "$STORE" 3>&-
    "$EXPFS" branch new --from "$B" --store "$STORE" 3>&-
    mount_store
    is_a
    equal "$(head_of)/$(pending)/$(steps)" "$A//1 "
    equal "$(head_of new)/$(latest new)" "$B/step_4.safetensors"
}

@test "a state is loaded into the top of the mount as into any run" {
    R=$MNT two_experiments_at_the_top
}
two_experiments_at_the_top() {
    printf 'lr: 0.1\n' >"$R/config.yaml"
    mkdir -p "$R/data/train"
    echo a >"$R/data/train/a.txt"
    weights "$R/step_1.safetensors" 1
    A=$(head_of main)
    printf 'lr: 0.2\n' >"$R/config.yaml"
    rm -r "$R/data/train"
    weights "$R/step_2.safetensors" 2
    echo "$A" >"$MNT/branches/main/HEAD"
    equal "$(cat "$R/config.yaml" "$R/data/train/a.txt")" $'lr: 0.1\na'
    equal "$(head_of main)/$(pending main)/$(steps main)" "$A//1 "
    ls "$R/data/${A:16}"
}

@test "a mount that is read-only takes no load" {
    two_experiments
    umount_store
    mount_store -o ro
    refused 3 "$EXPFS" load "$A" "$R/"
    [[ $MESSAGE == *"the mount is read-only" ]]
    equal "$(errno_of bash -c "echo $A >'$MNT/branches/r/HEAD'")" "Read-only file system"
}

# --- HEAD ---

@test "a line that is written to HEAD loads, and says by write or close what is wrong" {
    two_experiments
    echo "$A@2" >"$MNT/branches/r/HEAD"
    is_a
    equal "$(head_of)/$(latest)" "$A/step_2.safetensors"
    printf %s "$B" >"$MNT/branches/r/HEAD"
    equal "$(head_of)" "$B"
    python3 - "$MNT/branches/r/HEAD" "$A" <<'PY'
import errno, os, sys
path, a = sys.argv[1:]
def write(text):
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
for text, e in ("xyz\n", errno.EINVAL), (a + "\n" + a + "\n", errno.EINVAL), ("a" * 200, errno.EINVAL), \
               ("0" * 24 + "\n", errno.ENOENT), (a + "@77\n", errno.ENOENT), (a + "@", errno.EINVAL), \
               ("0" * 24, errno.ENOENT):
    try: write(text)
    except OSError as x: assert x.errno == e, (text, x)
    else: raise AssertionError(text)
write("")
PY
    equal "$(head_of)" "$B"
}

@test "a file that somebody writes is not replaced: EBUSY, and all is as it was" {
    two_experiments
    exec 7>>"$R/data/train/c.txt"
    echo more >&7
    refused 3 "$EXPFS" load "$A" "$R/"
    equal "$MESSAGE" "expfs: /runs/r/data/train/c.txt: is being written; wait until that is done"
    not bash -c "echo $A >'$MNT/branches/r/HEAD'" 2>"$SCRATCH/err"
    grep -q "Device or resource busy" "$SCRATCH/err"
    equal "$(cat "$R/config.yaml" "$R/params.yaml")" $'lr: 0.2\nmore: 1'
    exec 7>&-
    load_state "$A"
    is_a
    equal "$(cat "$MNT/.expfs/history/runs/r/data/train/c.txt/2.txt")" $'c\nmore'
}

@test "a file whose writer has just closed it is no reason to refuse" {
    two_experiments
    local i
    for i in $(seq 20); do
        echo "lr: $i" >"$R/config.yaml"
        load_state "$A"
        is_a
    done
}

@test "who may not write into the run cannot load, and what another one loads is his" {
    require_user
    two_experiments
    local nobody
    nobody=$(id -u nobody)
    not as_nobody bash -c "echo $A >'$MNT/branches/r/HEAD'" 2>/dev/null
    equal "$(stat -c %A "$MNT/branches/r/HEAD")" -rw-r--r--
    chmod 777 "$R"
    equal "$(stat -c %A "$MNT/branches/r/HEAD")" -rw-rw-rw-
    not as_nobody bash -c "echo $A >'$MNT/branches/r/HEAD'" 2>"$SCRATCH/err" # data/ is not his
    grep -q "Permission denied" "$SCRATCH/err"
    equal "$(head_of)" "$B"
    chmod 777 "$R/data" "$R/data/train"
    as_nobody bash -c "echo $A >'$MNT/branches/r/HEAD'"
    equal "$(head_of)/$(pending)/$(latest)" "$A//step_3.safetensors"
    equal "$(stat -c %u "$R/config.yaml")" "$nobody"
    diff -r "$SCRATCH/a/data" "$R/data"
    mkdir -m 777 "$MNT/runs/his"
    chmod 600 "$R/step_1.safetensors"
    as_nobody bash -c "echo x >'$MNT/runs/his/config.yaml'"
    not as_nobody bash -c "echo $A@1 >'$MNT/branches/his/HEAD'" 2>/dev/null # he may not read it
    as_nobody bash -c "echo $A@2 >'$MNT/branches/his/HEAD'"
    equal "$(head_of his)" "$A"
}

@test "the states of a run that was moved away, or removed, are loaded into others" {
    two_experiments
    mkdir "$MNT/runs/new" "$MNT/runs/newer" "$MNT/archive"
    mv "$R" "$MNT/archive/r"
    load_state "$A" "$MNT/runs/new/"
    equal "$(cat "$MNT/runs/new/config.yaml" "$MNT/runs/new/data/b.txt")/$(latest new)" $'lr: 0.1 # of A\nb/step_3.safetensors'
    rm -r "$MNT/archive/r"
    load_state "$B" "$MNT/runs/newer/"
    equal "$(cat "$MNT/runs/newer/config.yaml")/$(latest newer)" "lr: 0.2/step_4.safetensors"
}

@test "what was closed to others is not loaded by them from versions that were open" {
    require_user
    printf 'lr: 0.1\n' >"$R/config.yaml"
    weights "$R/step_1.safetensors" 1
    A=$(head_of)
    printf 'lr: 0.2\n' >"$R/config.yaml"
    chmod 600 "$R/config.yaml"
    weights "$R/step_2.safetensors" 2
    rm "$R/config.yaml"
    mkdir -m 777 "$MNT/runs/his"
    as_nobody bash -c "echo x >'$MNT/runs/his/config.yaml'"
    not as_nobody cat "$MNT/.expfs/history/runs/r/config.yaml/1.yaml" 2>/dev/null
    not as_nobody bash -c "echo $A >'$MNT/branches/his/HEAD'" 2>/dev/null
    checkpoint_dir 5 1 optimizer.txt
    C=$(hash_of "$R/checkpoint-5")
    checkpoint_dir 5 2 optimizer.txt
    chmod 600 "$R/checkpoint-5/optimizer.txt"
    wait_until test -d "$MNT/.expfs/history/runs/r/checkpoint-5/2"
    rm -r "$R/checkpoint-5"
    not as_nobody bash -c "echo $C@5 >'$MNT/branches/his/HEAD'" 2>/dev/null
    equal "$(cat "$MNT/runs/his/config.yaml")" x
    echo $C@5 >"$MNT/branches/his/HEAD"
}

@test "a directory checkpoint that another one loads is complete" {
    require_user
    echo 'lr: 0.1' >"$R/config.yaml"
    checkpoint_dir 5 1 optimizer.txt
    A=$(head_of)
    mkdir -m 777 "$MNT/runs/his"
    as_nobody bash -c "echo x >'$MNT/runs/his/config.yaml'"
    as_nobody bash -c "echo $A >'$MNT/branches/his/HEAD'"
    equal "$(head_of his)/$(pending his)/$(latest his)" "$A//checkpoint-5"
    equal "$(stat -c %u "$MNT/runs/his/checkpoint-5/optimizer.txt")" "$(id -u nobody)"
    equal "$(hash_of "$MNT/runs/his/checkpoint-5")" "$A"
}

@test "the checkpoint of another run that is loaded belongs to its experiment" {
    two_experiments
    "$EXPFS" branch new --from "$A@2" --store "$STORE" 3>&-
    equal "$(hash_of "$MNT/runs/new/step_2.safetensors")" "$A"
}

@test "a checkpoint that is loaded has the metrics that it had" {
    checkpoint_dir 5 1
    echo '{"global_step": 5, "log_history": [{"step": 5, "eval_loss": 0.5}]}' >"$R/checkpoint-5/trainer_state.json"
    weights "$R/step_7.safetensors" 7
    setfattr -n user.expfs.metric.eval_loss -v 0.25 "$R/step_7.safetensors"
    echo 'lr: 0.1' >"$R/config.yaml"
    "$EXPFS" commit "$R/" 3>&-
    for n in 5 7; do
        "$EXPFS" branch "new$n" --from "r@$n" --store "$STORE" 3>&-
        equal "$(branch 'b["best"]["step"]' "new$n")" "$n"
    done
    equal "$(branch 'b["best"]["value"]' new5) $(branch 'b["best"]["value"]' new7)" "0.5 0.25"
}

@test "a directory that is no checkpoint here keeps its files, and is told" {
    local n other=$MNT/runs/other
    echo 'lr: 1' >"$R/config.yaml"
    for n in 100 200; do
        mkdir "$R/$n"
        echo "$n" >"$R/$n/array"
        echo '{}' >"$R/$n/_CHECKPOINT_METADATA"
    done
    A=$(head_of)
    mkdir -p "$other/200"
    echo precious >"$other/200/notes"
    not load_state "$A@200" "$other" 2>"$SCRATCH/error"
    grep -q 'runs/other/200/notes: history cannot keep what it holds' "$SCRATCH/error"
    equal "$(cat "$other/200/notes")" precious
}

@test "what is of another type is not replaced" {
    two_experiments
    rm "$R/config.yaml"
    ln -s ../elsewhere "$R/config.yaml"
    refused 3 "$EXPFS" load "$A" "$R/"
    [[ $MESSAGE == "expfs: /runs/r/config.yaml: something of another type stands there"* ]]
    equal "$(readlink "$R/config.yaml")/$(cat "$R/params.yaml")" "../elsewhere/more: 1"
}

@test "what is no experiment, or several, is refused" {
    two_experiments
    refused 1 "$EXPFS" load 0123456789 "$R/"
    refused 2 "$EXPFS" load nonsense "$R/"
    refused 2 "$EXPFS" load "$A@" "$R/"
    refused 1 "$EXPFS" load "$A" nobranch --store "$STORE"
    refused 2 "$EXPFS" load
}

@test "with commit: immediate a load is no edit, either" {
    umount_store
    echo 'commit: immediate' >"$STORE/config.yaml"
    mount_store
    two_experiments
    local count
    count=$(experiments)
    load_state "$A"
    equal "$(head_of)/$(pending)" "$A/"
    equal "$(experiments)" "$count"
    printf 'lr: 0.7\n' >"$R/config.yaml"
    [[ $(head_of) != "$A" ]]
    equal "$(parent_of "$(head_of)")" "$A"
}

# --- at once with others ---

@test "loads from all sides, while names in the run come, go and are listed, come to an end" {
    two_experiments
    local i pids=()
    for i in 1 2 3 4 5 6; do
        background bash -c "for k in \$(seq 30); do echo $A@2 >'$MNT/branches/r/HEAD'; echo $B >'$MNT/branches/r/HEAD'; done" 2>/dev/null
        pids+=("$BG")
    done
    for i in 1 2 3; do
        background bash -c "for k in \$(seq 200); do echo \$k >'$R/new-$i'; mv '$R/new-$i' '$R/data/$i.tmp'; ls -lR '$R' >/dev/null; rm '$R/data/$i.tmp'; done" 2>/dev/null
        pids+=("$BG")
    done
    wait "${pids[@]}" || true
    load_state "$A"
    is_a
    equal "$(head_of)/$(pending)" "$A/"
}

# --- death ---

@test "the daemon killed in the midst of loads leaves one whole state" {
    two_experiments
    local i rounds=8 head
    long && rounds=100
    for i in $(seq $rounds); do
        background bash -c "while :; do echo $A@2 >'$MNT/branches/r/HEAD' && echo $B >'$MNT/branches/r/HEAD' || exit 0; done" 2>/dev/null
        sleep "0.$((RANDOM % 4 + 1))"
        kill_daemon
        wait "$BG" 2>/dev/null || true
        mount_store -o allow_other
        head=$(head_of)
        equal "$(pending)" ""
        if [[ $head == "$A" ]]; then
            is_a
            equal "$(latest)" step_2.safetensors
        else
            equal "$head" "$B"
            equal "$(cat "$R/config.yaml" "$R/params.yaml" "$R/data/train/c.txt")" $'lr: 0.2\nmore: 1\nc'
            [[ ! -e $R/data/b.txt ]]
        fi
        umount_store
        "$EXPFS" fsck "$STORE" >/dev/null 3>&-
        mount_store -o allow_other
    done
}

@test "what lies in a closed directory of a checkpoint is closed in history and to a load" {
    echo 'lr: 0.1' >"$R/config.yaml"
    checkpoint_dir 10 1 open/shared.txt secret/opt.txt
    chmod 755 "$SCRATCH" "$MNT"
    chmod 700 "$R/checkpoint-10/secret"
    local a
    a=$(head_of)
    as_nobody cat "$MNT/.expfs/history/runs/r/checkpoint-10/1/open/shared.txt"
    ! as_nobody cat "$MNT/.expfs/history/runs/r/checkpoint-10/1/secret/opt.txt" || fail "it can be read"
    mkdir "$MNT/runs/n"
    chown nobody "$MNT/runs/n"
    as_nobody sh -c "echo 'lr: 0.2' >'$MNT/runs/n/config.yaml'"
    ! as_nobody sh -c "echo $a >'$MNT/branches/n/HEAD'" || fail "it can be loaded"
    not test -e "$MNT/runs/n/checkpoint-10"
}
