# Copies of runs, and what comes back to its path: to which experiment these checkpoints belong.

load lib
load status
load experiments

# trained: R went through two experiments, the first with steps 1 and 2, the second with step 3. The inode of its configuration
# is a late one, and cp goes by that.
trained() {
    mkdir "$R/checkpoint-1"
    echo "lr: 0.1" >"$R/config.yaml"
    weights "$R/checkpoint-1/model.safetensors" a 1
    echo '{}' >"$R/checkpoint-1/trainer_state.json"
    weights "$R/step_2.safetensors" a 2
    FIRST=$(head_of r)
    sed -i 's/0.1/0.2/' "$R/config.yaml"
    weights "$R/step_3.safetensors" a 3
    SECOND=$(head_of r)
    EXPERIMENTS=$(ls "$MNT/experiments")
}

@test "a copy of a run makes no experiment that never was, in whatever order its files come and by whatever copies them" {
    local name
    trained
    cp -r "$R" "$MNT/runs/r.cp"
    cp -a "$R" "$MNT/runs/r.archive"
    require_command rsync tar
    rsync -a "$R/" "$MNT/runs/r.rsync"
    mkdir "$MNT/runs/r.tar" "$MNT/runs/r.last"
    tar -C "$R" -c . | tar -C "$MNT/runs/r.tar" -x
    cp -r "$R/checkpoint-1" "$R"/step* "$MNT/runs/r.last"
    cp "$R/config.yaml" "$MNT/runs/r.last"
    cp -r "$MNT/runs/r.last" "$MNT/runs/r.again"
    for name in cp archive rsync tar last again; do
        equal "$(head_of "r.$name")" "$SECOND" "HEAD of $name"
        equal "$(xattr "$MNT/runs/r.$name/step_2.safetensors" user.expfs.hash)" "$SECOND" "$name"
        equal "$(cat "$MNT/branches/r.$name/pending")" "" "pending in $name"
    done
    equal "$(ls "$MNT/experiments")" "$EXPERIMENTS"
    "$EXPFS" branch n --from r.last@2 --store "$STORE"
    cmp "$R/config.yaml" "$MNT/runs/n/config.yaml"
    "$EXPFS" load "$SECOND@2" r.last --store "$STORE"
    cmp "$R/config.yaml" "$MNT/runs/r.last/config.yaml"
}

@test "a training that begins without a configuration keeps the experiment that it began as" {
    weights "$R/step_1.safetensors" a 1
    echo "lr: 0.1" >"$R/config.yaml"
    weights "$R/step_2.safetensors" a 2
    equal "$(xattr "$R/step_1.safetensors" user.expfs.hash | cut -c 1-8)" 00000000
    not equal "$(xattr "$R/step_2.safetensors" user.expfs.hash | cut -c 1-8)" 00000000
}

# belongs NAME HASH: of the run r; and the branch is where it was
belongs() {
    equal "$(xattr "$R/$1" user.expfs.hash)" "$2" "hash of $1"
    equal "$(head_of r)" "$SECOND" "HEAD"
    equal "$(ls "$MNT/experiments")" "$EXPERIMENTS"
}

@test "what comes back to its path belongs to the experiment in which it was saved, and commits nothing" {
    local edit
    trained
    "$EXPFS" select "$R/step_2.safetensors" --name frozen >/dev/null
    for edit in false true; do # pending
        if $edit; then echo "lr: 0.9" >"$R/config.yaml"; fi
        rm "$R/step_2.safetensors"
        "$EXPFS" restore "$R/step_2.safetensors"
        belongs step_2.safetensors "$FIRST"
        : >"$R/step_2.safetensors"
        "$EXPFS" restore "$R/step_2.safetensors"
        belongs step_2.safetensors "$FIRST"
        rm "$R/step_2.safetensors"
        (cd "$R" && "$EXPFS" restore frozen)
        belongs step_2.safetensors "$FIRST"
        rm -r "$R/checkpoint-1"
        "$EXPFS" restore "$R/checkpoint-1"
        belongs checkpoint-1 "$FIRST"
        cp "$R/step_3.safetensors" "$R/step_2.safetensors"
        cp "$MNT/.expfs/history/runs/r/step_2.safetensors/1.safetensors" "$R/step_2.safetensors"
        belongs step_2.safetensors "$FIRST"
    done
    grep -q HP "$MNT/branches/r/pending"
    "$EXPFS" branch y --from r@2 --store "$STORE"
    equal "$(cat "$MNT/runs/y/config.yaml")" "lr: 0.1"
}

@test "what a run saves again with the bytes of an older checkpoint belongs to what lies there now" {
    trained
    weights "$R/step_2.safetensors" a 2
    equal "$(xattr "$R/step_2.safetensors" user.expfs.hash)" "$SECOND"
}

@test "what is copied out of history takes no space, and is whole after a kill" {
    head -c 3000000 /dev/urandom >"$R/step_1.pt"
    cp "$R/step_1.pt" "$SCRATCH/saved"
    rm "$R/step_1.pt"
    cp "$MNT/.expfs/history/runs/r/step_1.pt/1.pt" "$R/back.pt"
    kill_daemon
    mount_store
    cmp "$SCRATCH/saved" "$R/back.pt"
    "$EXPFS" status "$MNT" --json | python3 -c 'import json, sys; assert json.load(sys.stdin)["space"]["stored"] < 5000000'
}
