# Of which run the checkpoint is that a load brings.

load load_state

# trained: a run with steps 50, 100 and 150, and another with a copy of what it had at step 100
trained() {
    echo "lr: 0.1" >"$R/config.yaml"
    for i in 50 100 150; do weights "$R/step_$i.safetensors" "$i"; done
    A=$(head_of)
    mkdir "$MNT/runs/copy"
    cp "$R/config.yaml" "$R/step_50.safetensors" "$MNT/runs/copy"
    cp "$R/step_100.safetensors" "$MNT/runs/copy"
    equal "$(head_of copy)" "$A"
}

@test "a load brings the run's own newest checkpoint of the experiment, whatever was copied later" {
    trained
    load_state "$A"
    equal "$(latest)" step_150.safetensors
    load_state "$A" "$MNT/runs/copy/"
    equal "$(latest copy)" step_100.safetensors
    rm "$R/step_150.safetensors"
    load_state "$A"
    equal "$(latest)" step_100.safetensors
}

@test "a load brings the run's own newest checkpoint, though another run is further at the same experiment" {
    trained
    mkdir "$MNT/runs/far"
    cp "$R/config.yaml" "$MNT/runs/far"
    weights "$MNT/runs/far/step_200.safetensors" 200
    equal "$(head_of far)" "$A"
    load_state "$A"
    equal "$(latest)" step_150.safetensors
    "$EXPFS" branch new --from "$A" --store "$STORE" 3>&-
    equal "$(latest new)" step_200.safetensors
}

@test "a branch from a hash begins with what was trained last, not with what was copied or loaded last" {
    trained
    "$EXPFS" branch n1 --from "$A@50" --store "$STORE" 3>&-
    echo "lr: 0.2" >"$MNT/runs/n1/config.yaml"
    weights "$MNT/runs/n1/step_200.safetensors" 200
    cp -r "$MNT/runs/n1" "$MNT/runs/n2"
    "$EXPFS" branch n3 --from "$A" --store "$STORE" 3>&-
    equal "$(latest n3)" step_150.safetensors
    cp "$R/step_50.safetensors" "$MNT/runs/n1/best.safetensors"
    "$EXPFS" branch n4 --from "$A" --store "$STORE" 3>&-
    equal "$(latest n4)" step_150.safetensors
}

@test "copies are as old as what they are of, in whatever order they came, also when that was deleted" {
    local name
    echo "lr: 0.1" >"$R/config.yaml"
    for i in 50 100 150; do checkpoint_dir "$i" "$i" optimizer.bin; done
    A=$(head_of)
    mkdir "$MNT/runs/copy"
    cp "$R/config.yaml" "$MNT/runs/copy"
    for name in checkpoint-150 checkpoint-50 checkpoint-100; do cp -r "$R/$name" "$MNT/runs/copy"; done
    equal "$(xattr "$MNT/runs/copy/checkpoint-100" user.expfs.hash)" "$A"
    "$EXPFS" branch n1 --from "$A" --store "$STORE" 3>&-
    equal "$(latest n1)" checkpoint-150
    rm -r "$R"/checkpoint-* "$MNT"/runs/n1/checkpoint-*
    "$EXPFS" branch n2 --from "$A" --store "$STORE" 3>&-
    equal "$(latest n2)" checkpoint-150
}

@test "of a step a load brings what was trained last, though what was trained before was copied since" {
    trained
    mkdir "$MNT/runs/far"
    cp "$R/config.yaml" "$MNT/runs/far"
    weights "$MNT/runs/far/step_100.safetensors" 9100
    equal "$(head_of far)" "$A"
    cp "$R/step_100.safetensors" "$MNT/runs/copy/step_100.safetensors"
    "$EXPFS" branch new --from "$A@100" --store "$STORE" 3>&-
    cmp "$MNT/runs/new/step_100.safetensors" "$MNT/runs/far/step_100.safetensors"
}
