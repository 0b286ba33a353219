# expfs import: what it says of what comes.

load lib
load import

setup() {
    scratch
    store_init
    mount_store
    B=$MNT/branches
    S=$SCRATCH/source
    mkdir "$S"
}
teardown() { cleanup; }

steps() { ls -U "$B/$1/step" | tr '\n' ' '; }

@test "of what is called as a checkpoint is only what is whole is counted as one, and of the rest it is told" {
    hf_run "$S/hf"
    checkpoint zip "$S/hf/step_9.pt" 10000 1
    head -c 5000 "$S/hf/step_9.pt" >"$S/hf/foo.pt"
    cp "$S/hf/step_9.pt" "$S/hf/step_9 (1).pt"
    : >"$S/hf/checkpoint-200/optimizer.pt"
    "$EXPFS" import "$S/hf" "$MNT" --dry-run >"$SCRATCH/out" 3>&-
    grep -q '^run       /runs/hf: 2 checkpoints, steps 9 ... 100; 2 more not whole: foo.pt ...$' "$SCRATCH/out"
    import "$S/hf" "$MNT"
    equal "$(imported '[(p["checkpoints"], p["torn"], p["first_torn"]) for p in r["places"]]')" "[(2, 2, 'foo.pt')]"
    equal "$(steps hf)" "9 100 "
}

@test "a dry run says what would come and what is in the way, and writes nothing" {
    hf_run "$S/hf"
    wl "$S/hf/lab" dump $E1 0 5
    mkfifo "$S/hf/fifo"
    everything "$MNT/runs" >"$SCRATCH/before"
    "$EXPFS" import "$S/hf" "$MNT" --dry-run >"$SCRATCH/out" 3>&-
    grep -q '^/runs/hf: 17 files, .*, to be brought from' "$SCRATCH/out"
    grep -q '^root      /runs/hf/lab: 1 experiment, 2 checkpoints, steps 0 ... 5$' "$SCRATCH/out"
    grep -q '^run       /runs/hf: 2 checkpoints, steps 100 ... 200$' "$SCRATCH/out"
    grep -q '^left out  fifo: is a FIFO$' "$SCRATCH/out"
    everything "$MNT/runs" | diff "$SCRATCH/before" -
    import "$S/hf" "$MNT"
    echo "lr: 0.2" >"$MNT/runs/hf/config.yaml"
    refused 1 "$EXPFS" import "$S/hf" "$MNT" --dry-run
    grep -q '^differs   config.yaml$' "$SCRATCH/out"
}

@test "a configuration that is newer than checkpoints is told, and where the source is in a mount what it was before" {
    hf_run "$S/hf"
    old "$S/hf/config.yaml" 850
    "$EXPFS" import "$S/hf" "$MNT" >"$SCRATCH/out" 3>&-
    grep -q '^newer     /runs/hf/config.yaml: configuration newer than 1 of 2 checkpoints: ' "$SCRATCH/out"
    import "$MNT/runs/hf" "$MNT/runs/again" # of the same store, too
    equal "$(imported '[(p["newer"]["than"], p["newer"]["history"]) for p in r["places"]]')" \
        "[(1, '$MNT/runs/hf/.expfs/history/config.yaml')]"
    old "$S/hf/config.yaml" 1
    import "$S/hf" "$MNT/runs/older"
    equal "$(imported '[p["newer"] for p in r["places"]]')" "[None]"
    "$EXPFS" init "$SCRATCH/other"
    mkdir "$SCRATCH/from"
    "$EXPFS" mount "$SCRATCH/other" "$SCRATCH/from" 3>&-
    cp -r "$S/hf" "$SCRATCH/from/runs/hf"
    sleep 0.01
    echo "lr: 0.3" >"$SCRATCH/from/runs/hf/config.yaml"
    import "$SCRATCH/from/runs/hf" "$MNT/runs/moved"
    equal "$(imported '[(p["newer"]["than"], p["newer"]["history"]) for p in r["places"]]')" \
        "[(2, '$SCRATCH/from/runs/hf/.expfs/history/config.yaml')]"
    unmount_soon "$SCRATCH/from"
}

@test "a directory of several runs that becomes one run is told, with what makes a branch of each" {
    local run
    mkdir "$S/old"
    for run in r1 "my run"; do
        hf_run "$S/old/$run"
    done
    mkdir "$S/old/notes"
    echo text >"$S/old/notes/readme"
    "$EXPFS" import "$S/old" "$MNT" --dry-run >"$SCRATCH/out" 3>&-
    grep -qxF "runs      2 directories in it look like runs (my run, r1); for a branch of each: expfs import $S/old $MNT/runs" "$SCRATCH/out"
    import "$S/old" "$MNT"
    equal "$(imported 'r["runs"]["names"]')" "['my run', 'r1']"
    import "$S/old" "$MNT/runs"
    equal "$(imported 'r["runs"]["count"]')" 0
    equal "$(steps "my run")" "100 200 "
    import "$S/old/r1" "$MNT/runs/one"
    equal "$(imported 'r["runs"]["count"]')" 0
}
