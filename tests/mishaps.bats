# latest, best and step/ where people came to harm: copies, restarts, several runs, other programs' pointers.

load lib

setup() { mount_run; }
teardown() { cleanup; }

save() { checkpoint zip "$1" 20000 "$2"; }

# latest_is PATH [BRANCH]
latest_is() { equal "$(readlink -f "$MNT/branches/${2:-r}/latest")" "$1"; }

@test "copies with old times are older than all that was written here, in the order of their times, then of steps" {
    local n
    save "$R/step_1.pt" 1
    mkdir "$SCRATCH/old"
    for n in 10 20 30 40; do save "$SCRATCH/old/step_$n.pt" $n; done
    touch -d '2020-01-02' "$SCRATCH/old/step_10.pt"
    touch -d '2020-01-01' "$SCRATCH/old/step_20.pt" "$SCRATCH/old/step_30.pt"
    touch -d '2019-01-01' "$SCRATCH/old/step_40.pt"
    for n in 40 10 30 20; do cp -a "$SCRATCH/old/step_$n.pt" "$R"; done
    for n in 1 10 30 20 40; do
        latest_is "$R/step_$n.pt"
        remount
        latest_is "$R/step_$n.pt"
        rm "$R/step_$n.pt"
    done
    require_command rsync
    rsync -a "$SCRATCH/old/" "$R/"
    latest_is "$R/step_10.pt"
    save "$R/step_5.pt" 5
    latest_is "$R/step_5.pt"
}

@test "a directory checkpoint in which a file is open is not complete however long it rests" {
    mkdir "$R/checkpoint-7"
    save "$R/checkpoint-7/model.pt" 1
    save "$R/checkpoint-7/optim.pt" 2
    exec 7>>"$R/checkpoint-7/optim.pt"
    sleep 11 # it would be complete after ten
    not test -L "$V/latest"
    exec 7>&-
    latest_is "$R/checkpoint-7"
}

@test "a file belongs to the deepest run above it" {
    umount_store
    printf 'runs: ["/runs/*", "/runs/*/fold*"]\n' >"$STORE/config.yaml"
    mount_store
    mkdir -p "$R/fold1/deep" "$R/other"
    save "$R/step_9.pt" 9
    save "$R/other/step_8.pt" 8
    save "$R/fold1/deep/step_1.pt" 1
    echo 'lr: 1' >"$R/fold1/config.yaml"
    equal "$(ls "$MNT/branches" | tr '\n' ' ')" "r runs.r.fold1 "
    latest_is "$R/other/step_8.pt"
    latest_is "$R/fold1/deep/step_1.pt" runs.r.fold1
    equal "$(cat "$V/pending")" "" "the configuration of another run"
    equal "$(xattr "$R/fold1/deep/step_1.pt" user.expfs.branch)" runs.r.fold1
}

@test "the directories of views and runs are removed and made as any other" {
    local dir hash
    echo 'lr: 1' >"$R/config.yaml"
    save "$R/step_1.pt" 1
    hash=$(cat "$V/HEAD")
    for dir in branches experiments models HP data; do rmdir "$MNT/$dir"; done
    not test -e "$MNT/branches"
    equal "$(ls "$MNT" | tr '\n' ' ')" "d runs "
    for dir in branches experiments models HP data; do mkdir "$MNT/$dir"; done
    latest_is "$R/step_1.pt"
    equal "$(cat "$MNT/experiments/$hash/HP/config.yaml")" "lr: 1"
}

@test "checkpoints are found below directories that a metric's name made, and leave no directory behind" {
    mkdir "$R/epoch=3-val"
    save "$R/epoch=3-val/loss=0.31.ckpt" 1
    latest_is "$R/epoch=3-val/loss=0.31.ckpt"
    setfattr -n user.expfs.metric.val_loss -v 0.31 "$R/epoch=3-val/loss=0.31.ckpt"
    equal "$(readlink -f "$V/best")" "$R/epoch=3-val/loss=0.31.ckpt"
    rm -r "$R/epoch=3-val"
    not test -L "$V/latest"
    not test -L "$V/best"
    equal "$(ls "$R")" ""
}

@test "a run that is begun anew in another directory finds its checkpoint by its experiment" {
    local old=$MNT/runs/2026-01-01_10-00-00 new=$MNT/runs/2026-01-01_12-00-00
    mkdir "$old" "$new"
    echo layers | tee "$old/architecture.txt" >"$new/architecture.txt"
    echo 'lr: 1' | tee "$old/config.yaml" >"$new/config.yaml"
    save "$old/step_5.pt" 5
    local hash
    hash=$(tail -n 1 "$MNT/branches/${new##*/}/pending")
    equal "$(readlink -f "$MNT/experiments/$hash/latest")" "$old/step_5.pt"
    not test -L "$new/.expfs/latest"
    not test -L "$MNT/branches/${new##*/}/latest"
}

@test "which configuration made which step is told for each, with both texts" {
    local n a b
    printf 'lr: 1 # first\n' >"$R/config.yaml"
    for n in 1 2 3 4 5; do checkpoint safetensors "$R/step_$n.safetensors" 20000 $n; done
    a=$(cat "$V/HEAD")
    printf 'lr: 2 # second\n' >"$R/config.yaml"
    for n in 6 7 8; do checkpoint safetensors "$R/step_$n.safetensors" 20000 $n; done
    b=$(cat "$V/HEAD")
    equal "$(xattr "$R/step_4.safetensors" user.expfs.hash)/$(xattr "$R/step_7.safetensors" user.expfs.hash)" "$a/$b"
    cmp "$MNT/experiments/$a/HP/config.yaml" <(printf 'lr: 1 # first\n')
    cmp "$MNT/experiments/$b/HP/config.yaml" <(printf 'lr: 2 # second\n')
    equal "$(ls -U "$MNT/experiments/$a/step" | tr '\n' ' ')/$(ls -U "$MNT/experiments/$b/step" | tr '\n' ' ')" "1 2 3 4 5 /6 7 8 "
    equal "$(grep -E '^(changed|steps)' "$V/log" | tr -s ' ' | tr '\n' '/')" "changed lr: 1 -> 2/steps 6 ... 8 (3)/steps 1 ... 5 (5)/"
}

@test "what a program says of its best or latest is data, also where it leads nowhere" {
    local n
    for n in 1 2; do
        mkdir "$R/checkpoint-$n"
        save "$R/checkpoint-$n/model.pt" $n
        echo '{"global_step": '$n', "best_model_checkpoint": "elsewhere/checkpoint-1", "best_metric": 0.1, "log_history":
            [{"step": 1, "eval_loss": 0.5}, {"step": 2, "eval_loss": 0.25}]}' >"$R/checkpoint-$n/trainer_state.json"
    done
    printf 'global_step999' >"$R/latest"
    printf '12345' >"$R/latest_checkpointed_iteration.txt"
    latest_is "$R/checkpoint-2"
    equal "$(readlink -f "$V/best")" "$R/checkpoint-2"
    equal "$(cat "$R/latest" "$R/latest_checkpointed_iteration.txt")" global_step99912345
}

@test "two spellings of a step are told as one, and the newer is meant" {
    local n
    for n in 900000 0900000; do
        mkdir "$R/$n"
        bytes "$R/$n/array" 1000 1$n
        echo '{}' >"$R/$n/.metadata"
    done
    equal "$(ls "$V/step")" 900000
    equal "$(readlink -f "$V/step/900000")" "$R/0900000"
    "$EXPFS" status "$MNT" 3>&- | grep -q 'duplicate-step: /runs/r/'
}

@test "status answers with each of its keys" {
    echo 'lr: 1' >"$R/config.yaml"
    save "$R/step_7.pt" 7
    echo '{"step": 7, "val_loss": 0.5}' >"$R/metrics.jsonl"
    echo 'lr: 2' >"$R/config.yaml"
    "$EXPFS" status "$R" --json 3>&- | python3 -c '
import json, sys
store, mount, r = sys.argv[1], sys.argv[2], json.load(sys.stdin)
assert (r["store"], r["mount"], r["read_only"]) == (store, mount, False), r
assert (r["given_root"], r["effective_root"], r["roots"], r["multi_root"]) == ("/runs/r", "/runs/r", [], False), r
(b,) = r["branches"]
assert (b["name"], b["run"], len(b["head"])) == ("r", "/runs/r", 24), b
assert b["pending"]["components"] == ["HP"] and b["pending"]["hash"][8:] == b["head"][8:] and b["pending"]["hash"] != b["head"], b
assert (b["latest"]["path"], b["latest"]["step"]) == ("/runs/r/step_7.pt", 7), b
assert (b["best"]["path"], b["best"]["step"], b["best"]["metric"], b["best"]["value"]) == ("/runs/r/step_7.pt", 7, "val_loss", 0.5), b
assert r["warnings"] == [] and {"raw", "unique", "stored"} <= set(r["space"]), r' "$STORE" "$MNT"
    "$EXPFS" status "$R" 3>&- >"$SCRATCH/text"
    grep -q 'r: /runs/r/step_7.pt, step 7' "$SCRATCH/text"
    grep -q "head $(cat "$V/HEAD")" "$SCRATCH/text"
    grep -q "pending.*HP" "$SCRATCH/text"
}

@test "hash, branch and role of a file are told, not set, and of what has none there is none" {
    local name
    echo x >"$R/architecture.txt"
    mkdir "$R/data"
    echo x >"$R/data/a"
    echo '{}' >"$R/metrics.jsonl"
    equal "$(xattr "$R/architecture.txt" user.expfs.hash)" "" "before there is an experiment"
    save "$R/step_1.pt" 1
    for name in architecture.txt data/a step_1.pt; do
        equal "$(xattr "$R/$name" user.expfs.hash)" "$(cat "$V/HEAD")" "$name"
    done
    equal "$(xattr "$R/metrics.jsonl" user.expfs.hash)" ""
    equal "$(for name in architecture.txt data/a step_1.pt metrics.jsonl; do xattr "$R/$name" user.expfs.role; echo; done | tr '\n' ' ')" \
        "MODEL DATA WEIGHTS SIGNALS "
    for name in hash branch role; do
        not setfattr -n user.expfs.$name -v x "$R/step_1.pt" 2>/dev/null
        not setfattr -x user.expfs.$name "$R/step_1.pt" 2>/dev/null
    done
    equal "$(xattr "$R/step_1.pt" user.expfs.hash)" "$(cat "$V/HEAD")"
}
