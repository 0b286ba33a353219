# Which checkpoints a load brings back, and the line from which the run goes on.

load load_state

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

@test "the best of the branch is no version off its line of a file that is saved over and over" {
    local n
    for n in 1 2 3 4; do
        echo "lr: 0.$(((n + 1) / 2))" >"$R/config.yaml"
        weights "$R/last.safetensors" "$n"
        setfattr -n user.expfs.metric.val_loss -v "0.$((5 - n))" "$R/last.safetensors"
        [[ $n != 2 ]] || A=$(head_of)
    done
    best() { readlink "$MNT/branches/r/best" | sed 's,.*/\(runs/\),\1,'; }
    equal "$(best)" runs/r/last.safetensors
    load_state "$A"
    equal "$(best)" runs/r/last.safetensors
    weights "$R/last.safetensors" 5
    setfattr -n user.expfs.metric.val_loss -v 0.6 "$R/last.safetensors"
    equal "$(best)" runs/r/last.safetensors/5.safetensors
    load_state "$(hash_of "$R/last.safetensors")"
    equal "$(best)" runs/r/last.safetensors/5.safetensors
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
