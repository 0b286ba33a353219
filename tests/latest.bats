# latest: the newest checkpoint that is whole, of files and of directories.

load views

# --- latest ---

@test "latest is the checkpoint completed last, not the last in text order" {
    local n
    for n in 9 10 99 100; do
        save "$R/step_$n.pt" "$n"
        latest_is "$R/step_$n.pt"
    done
    save "$R/step_1000000.pt" 1
    latest_is "$R/step_1000000.pt"
    touch -d '2030-01-01' "$R/step_9.pt"
    latest_is "$R/step_1000000.pt"
}

@test "after a resume from an earlier step the newly saved one is latest" {
    save "$R/step_5000.pt" 1
    save "$R/step_100.pt" 2
    latest_is "$R/step_100.pt"
    save "$R/step_200.pt" 3
    latest_is "$R/step_200.pt"
}

@test "copies with old times do not become latest" {
    save "$R/step_10.pt" 10
    mkdir "$SCRATCH/old"
    save "$SCRATCH/old/step_99.pt" 99
    touch -d '2020-01-01' "$SCRATCH/old/step_99.pt"
    cp -a "$SCRATCH/old/step_99.pt" "$R/"
    latest_is "$R/step_10.pt"
}

@test "a checkpoint that is moved here as soon as it was saved elsewhere is latest, also after a branch was begun" {
    local n
    mkdir "$SCRATCH/tmp"
    for n in 1 2 3; do
        save "$SCRATCH/tmp/step_$n.pt" "$n"
        sleep 0.02
        mv "$SCRATCH/tmp/step_$n.pt" "$R/"
        latest_is "$R/step_$n.pt"
        save "$R/step_1$n.pt" "1$n"
        latest_is "$R/step_1$n.pt"
    done
    echo "lr: 1" >"$R/config.yaml"
    save "$R/step_20.pt" 20
    "$EXPFS" branch "$MNT/runs/b" --from r@20 3>&-
    save "$SCRATCH/tmp/step_21.pt" 21
    sleep 0.02
    mv "$SCRATCH/tmp/step_21.pt" "$MNT/runs/b/"
    equal "$(readlink -f "$MNT/branches/b/latest")" "$MNT/runs/b/step_21.pt"
}

@test "each run has its own latest" {
    mkdir "$MNT/runs/b"
    save "$R/step_5000.pt" 1
    save "$MNT/runs/b/step_100.pt" 2
    equal "$(readlink -f "$MNT/branches/b/latest")" "$MNT/runs/b/step_100.pt"
    latest_is "$R/step_5000.pt"
    rm "$MNT/runs/b/step_100.pt"
    not test -e "$MNT/branches/b/latest"
    latest_is "$R/step_5000.pt"
}

@test "deleting latest makes it fall back at once, down to nothing" {
    local n
    for n in 1 2 3; do save "$R/step_$n.pt" $n; done
    rm "$R/step_3.pt"
    latest_is "$R/step_2.pt"
    mv "$R/step_2.pt" "$SCRATCH/away"
    latest_is "$R/step_1.pt"
    rm "$R/step_1.pt"
    no_latest
}

@test "a torn or empty file is never latest" {
    save "$R/step_1.pt" 1
    checkpoint torn-zip "$R/step_2.pt" $SIZE 2
    latest_is "$R/step_1.pt"
    checkpoint torn-safetensors "$R/step_3.safetensors" $SIZE 3
    latest_is "$R/step_1.pt"
    : >"$R/step_4.pt"
    latest_is "$R/step_1.pt"
    checkpoint zip "$R/step_2.pt" $SIZE 2
    latest_is "$R/step_2.pt"
    checkpoint safetensors "$R/step_3.safetensors" $SIZE 3
    latest_is "$R/step_3.safetensors"
}

@test "a checkpoint is not latest while it is written, and is when the last writer closes it" {
    save "$R/step_1.pt" 1
    save "$SCRATCH/whole" 2
    exec 7>"$R/step_2.pt"
    cat "$SCRATCH/whole" >&7
    latest_is "$R/step_1.pt"
    exec 8>>"$R/step_2.pt"
    exec 7>&-
    latest_is "$R/step_1.pt"
    exec 8>&-
    latest_is "$R/step_2.pt"
}

@test "a checkpoint that comes by rename or by link is latest" {
    save "$R/step_1.pt" 1
    save "$R/x.tmp" 2
    latest_is "$R/step_1.pt"
    mv "$R/x.tmp" "$R/step_2.pt"
    latest_is "$R/step_2.pt"
    save "$MNT/elsewhere" 3
    ln "$MNT/elsewhere" "$R/step_3.pt"
    latest_is "$R/step_3.pt"
}

@test "a job killed while overwriting its only checkpoint never makes the half of it latest" {
    save "$R/last.pt" 1
    latest_is "$R/last.pt"
    hold "$R/last.pt"
    local view
    for view in "$V/latest" "$R/.expfs/latest"; do
        [[ ! -e $view ]] || python3 -m zipfile -t "$view"
    done
    release
    for view in "$V/latest" "$R/.expfs/latest"; do
        [[ ! -e $view ]] || python3 -m zipfile -t "$view"
    done
    save "$R/last.pt" 2
    latest_is "$R/last.pt"
    save "$SCRATCH/wanted" 2
    cmp "$SCRATCH/wanted" "$V/latest"
}

@test "with the daemon killed in a save latest is the one before, also afterwards" {
    save "$R/step_1.pt" 1
    hold "$R/step_2.pt"
    kill_daemon
    release
    mount_store
    latest_is "$R/step_1.pt"
    equal "$(xattr "$R/step_2.pt" user.expfs.complete)" 0
    equal "$(xattr "$R/step_1.pt" user.expfs.complete)" 1
    remount
    latest_is "$R/step_1.pt"
}

@test "views are the same after a remount" {
    local n before
    for n in 3 1 2; do save "$R/step_$n.pt" $n; done
    before=$(readlink "$V/latest"; ls "$V/step")
    remount
    equal "$(readlink "$V/latest"; ls "$V/step")" "$before"
    latest_is "$R/step_2.pt"
}

@test "names without a step are checkpoints in the order in which they were completed" {
    save "$R/last.ckpt" 50
    save "$R/last-v1.ckpt" 90
    checkpoint torn-zip "$R/epoch=9-step=100.ckpt" $SIZE 100
    latest_is "$R/last-v1.ckpt"
    checkpoint safetensors "$R/model.safetensors" $SIZE 1
    latest_is "$R/model.safetensors"
}

@test "logs, databases, temporaries, conflict copies and projections are no checkpoints" {
    save "$R/step_1.pt" 1
    local name
    for name in run.log db.sqlite db.duckdb x.tmp y.part z.pt~ "step_9 (1).pt" "step_9.sync-conflict-20260101-000000-ABC.pt" \
        events.out.tfevents.1.host data.h5; do
        save "$R/$name" 2
    done
    mkdir -p "$R/projection" "$R/.ipynb_checkpoints"
    save "$R/projection/step_7.pt" 7
    save "$R/.ipynb_checkpoints/step_8.pt" 8
    latest_is "$R/step_1.pt"
    equal "$(ls "$V/step")" 1
}

@test "latest moves for readers who stay: an open file and a directory keep the old step" {
    save "$R/step_1.pt" 1
    exec 7<"$V/latest"
    save "$R/step_2.pt" 2
    latest_is "$R/step_2.pt"
    save "$SCRATCH/wanted" 1
    cmp "$SCRATCH/wanted" - <&7
    exec 7<&-
    mkdir "$R/checkpoint-10" "$R/checkpoint-20"
    local n
    for n in 10 20; do
        save "$R/checkpoint-$n/model.pt" $n
        save "$R/checkpoint-$n/optimizer.pt" $((n + 1))
        echo "$n" >"$R/checkpoint-$n/trainer_state.json"
        if ((n == 10)); then cd "$V/latest/"; fi
    done
    equal "$(cat trainer_state.json)" 10
    latest_is "$R/checkpoint-20"
    cd /
}

@test "a reader that resolves latest over and over meets only whole checkpoints" {
    save "$R/step_0.pt" 0
    background python3 - "$V/latest" "$SCRATCH/done" "$SCRATCH/bad" <<'PY'
import os, sys, zipfile
view, done, bad = sys.argv[1:]
n = 0
while not os.path.exists(done) or n == 0:
    try:
        with zipfile.ZipFile(view) as z: assert z.testzip() is None
        n += 1
    except Exception as e:
        open(bad, "a").write("%r\n" % e)
PY
    local reader=$BG n
    for n in $(seq 20); do save "$R/step_$n.pt" "$n"; done
    touch "$SCRATCH/done"
    wait "$reader"
    [[ ! -e $SCRATCH/bad ]] || fail "$(sort "$SCRATCH/bad" | uniq -c)"
    latest_is "$R/step_20.pt"
}

@test "a program's own latest is its own: link, loop, dead link or text" {
    save "$R/step_1.pt" 1
    save "$R/step_2.pt" 2
    ln -s step_1.pt "$R/latest.pt"
    ln -s last "$R/last"
    ln -s step_5 "$R/gone"
    printf 'step_1.pt' >"$R/latest"
    equal "$(errno_of cat "$R/last")" "Too many levels of symbolic links"
    equal "$(errno_of cat "$R/gone")" "No such file or directory"
    [[ $R/latest.pt -ef $R/step_1.pt ]]
    latest_is "$R/step_2.pt"
    equal "$(cat "$R/latest")" step_1.pt
    rm "$R/step_1.pt"
    latest_is "$R/step_2.pt"
    rm "$R/step_2.pt"
    no_latest
}

# --- directory checkpoints ---

@test "a directory checkpoint is latest when its tool's marker is there, not before" {
    mkdir "$R/checkpoint-500"
    checkpoint safetensors "$R/checkpoint-500/model.safetensors" $SIZE 1
    no_latest
    echo '{"global_step": 500}' >"$R/checkpoint-500/trainer_state.json"
    latest_is "$R/checkpoint-500"
    equal "$(ls "$V/step")" 500
}

@test "a directory checkpoint without a marker is complete when it holds the names of the one before" {
    local n
    mkdir "$R/checkpoint-10"
    save "$R/checkpoint-10/model.pt" 1
    save "$R/checkpoint-10/optim.pt" 2
    echo '{}' >"$R/checkpoint-10/trainer_state.json"
    latest_is "$R/checkpoint-10"

    mkdir "$R/checkpoint-20"
    save "$R/checkpoint-20/model.pt" 3
    latest_is "$R/checkpoint-10"
    hold "$R/checkpoint-20/optim.pt"
    latest_is "$R/checkpoint-10"
    release
    latest_is "$R/checkpoint-10"
    mkdir "$R/checkpoint-30"
    latest_is "$R/checkpoint-10"
    remount
    latest_is "$R/checkpoint-10"

    exec 7>"$R/checkpoint-20/trainer_state.json"
    echo '{}' >&7
    save "$R/checkpoint-20/optim.pt" 4
    latest_is "$R/checkpoint-10"
    exec 7>&-
    latest_is "$R/checkpoint-20"
}

@test "the same names as the one before complete a checkpoint although no marker says so" {
    mkdir "$R/global_step1" "$R/global_step2"
    save "$R/global_step1/mp_rank_00_model_states.pt" 1
    save "$R/global_step1/zero_pp_rank_0_optim_states.pt" 2
    printf 'global_step1\n' >"$R/latest"
    latest_is "$R/global_step1"
    save "$R/global_step2/mp_rank_00_model_states.pt" 3
    latest_is "$R/global_step1"
    save "$R/global_step2/zero_pp_rank_0_optim_states.pt" 4
    latest_is "$R/global_step2"
}

@test "a directory checkpoint without marker and predecessor is complete after a while of rest" {
    mkdir "$R/checkpoint-7"
    save "$R/checkpoint-7/model.pt" 1
    save "$R/checkpoint-7/optim.pt" 2
    wait_until test -e "$V/latest"
    latest_is "$R/checkpoint-7"
}

@test "Megatron's tracker names what is published, and nothing is while a shard is open" {
    mkdir "$R/iter_0000100" "$R/iter_0000200"
    save "$R/iter_0000100/shard0.pt" 1
    save "$R/iter_0000100/shard1.pt" 2
    printf 100 >"$R/latest_checkpointed_iteration.txt"
    latest_is "$R/iter_0000100"
    save "$R/iter_0000200/shard0.pt" 3
    save "$SCRATCH/shard1" 4
    exec 7>"$R/iter_0000200/shard1.pt"
    cat "$SCRATCH/shard1" >&7
    latest_is "$R/iter_0000100"
    printf 200 >"$R/latest_checkpointed_iteration.txt"
    latest_is "$R/iter_0000100"
    exec 7>&-
    latest_is "$R/iter_0000200"
    printf 999 >"$R/latest_checkpointed_iteration.txt"
    latest_is "$R/iter_0000200"
    rm "$R/latest_checkpointed_iteration.txt"
    latest_is "$R/iter_0000200"
    printf release >"$R/latest_checkpointed_iteration.txt"
    equal "$(cat "$R/latest_checkpointed_iteration.txt")" release
    latest_is "$R/iter_0000200"
}

@test "DeepSpeed's latest marks its directory, with a newline or without" {
    mkdir "$R/global_step100"
    save "$R/global_step100/mp_rank_00_model_states.pt" 1
    no_latest
    printf 'global_step100' >"$R/latest"
    latest_is "$R/global_step100"
    printf 'global_step100\n' >"$R/latest"
    latest_is "$R/global_step100"
    equal "$(cat "$R/latest")" global_step100
}

@test "a staged directory is a checkpoint when it is renamed to its name" {
    mkdir "$R/tmp-checkpoint-5"
    save "$R/tmp-checkpoint-5/model.pt" 1
    echo '{}' >"$R/tmp-checkpoint-5/trainer_state.json"
    not test -e "$R/.expfs/step/5"
    mv "$R/tmp-checkpoint-5" "$R/checkpoint-5"
    latest_is "$R/checkpoint-5"
    rm -r "$R/checkpoint-5"
    no_latest
}

@test "Orbax steps are directories of digits with a marker" {
    mkdir "$R/5" "$R/10"
    local n
    for n in 5 10; do
        bytes "$R/$n/array" 10000 $n
        echo '{}' >"$R/$n/_CHECKPOINT_METADATA"
    done
    latest_is "$R/10"
    equal "$(ls -U "$V/step" | tr '\n' ' ')" "5 10 "
}

@test "strays beside directory checkpoints are no error and never latest before it" {
    mkdir "$R/checkpoint-100" "$R/checkpoint-200"
    save "$R/checkpoint-100/model.pt" 1
    save "$R/checkpoint-100/optim.pt" 2
    echo '{}' >"$R/checkpoint-100/trainer_state.json"
    save "$R/checkpoint-200/model.pt" 3
    save "$R/checkpoint-200/model.pt.tmp" 3
    echo stray >"$R/checkpoint-abc"
    mkdir "$R/checkpoint-"
    latest_is "$R/checkpoint-100"
}
