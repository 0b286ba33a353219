# Where a training leaves the values of metrics, and for which checkpoint each of them speaks.

load best

@test "metrics.jsonl counts while it is being written, line by line, and broken lines are passed over" {
    steps 1 2 3
    {
        printf '{"step": 1, "val_loss": 0.5}\n\0\377 no line\n{"step": 2, "val_lo'
        wait_until test -e "$SCRATCH/go"
        printf 'ss": 0.25}\n[]\n{"step": 3, "val_loss": 0.1'
        wait_until test -e "$SCRATCH/end"
    } >"$R/metrics.jsonl" 3>&- &
    BG=$!
    wait_until test -L "$V/best"
    best_is "$R/step_1.pt"
    touch "$SCRATCH/go"
    wait_until test "$V/best" -ef "$R/step_2.pt"
    best_is "$R/step_2.pt"
    touch "$SCRATCH/end"
    wait "$BG"
    best_is "$R/step_2.pt"
    echo '}' >>"$R/metrics.jsonl"
    best_is "$R/step_3.pt"
}

@test "rows that have an epoch and no step are for checkpoints of just that number, and for none that count steps" {
    steps 100 200 300
    printf '{"epoch": %d, "val_loss": %s}\n' 1 0.5 2 0.25 3 0.75 >"$R/metrics.jsonl"
    printf 'epoch,val_loss\n4,0.125\n' >"$R/metrics.csv"
    cat "$R/metrics.csv" >/dev/null
    ! test -L "$V/best" || fail "best leads to $(readlink "$V/best")"
    steps 2 3
    best_is "$R/step_2.pt"
    printf '4,0.125\n5,0.0625\n' >>"$R/metrics.csv"
    steps 5
    best_is "$R/step_5.pt"
}

@test "a metrics file counts from its first line on, though nobody closed it yet" {
    steps 1 2
    background python3 -c 'import sys, time
f = open(sys.argv[1], "w", buffering=1)
f.write("step,val_loss\n1,0.5\n")
time.sleep(300)' "$R/metrics.csv"
    wait_until test -s "$R/metrics.csv"
    best_is "$R/step_1.pt"
    "$EXPFS" signal "$R" | grep -q ' 1  0.5 '
    kill -KILL "$BG"
    wait "$BG" 2>/dev/null || true
    best_is "$R/step_1.pt"
    kill_daemon
    mount_store
    best_is "$R/step_1.pt"
}

@test "a metrics file that is written anew counts as it is now" {
    steps 1 2 3
    printf '{"step": %d, "val_loss": %s}\n' 1 0.5 2 0.25 >"$R/metrics.jsonl"
    best_is "$R/step_2.pt"
    printf '{"step": %d, "val_loss": %s}\n' 1 0.1 2 0.75 3 0.35 >"$R/metrics.jsonl"
    best_is "$R/step_1.pt"
    python3 - "$R/metrics.jsonl" <<'P'
import sys
with open(sys.argv[1], "r+") as f:
    f.write('{"step": 1, "val_loss": 9.1}\n{"step": 2, "val_loss": 9.75}\n{"step": 3, "val_loss": 9.35}\n{"step": 2, "val_loss": 1}\n')
P
    best_is "$R/step_2.pt"
    rm "$R/metrics.jsonl"
    no_best
}

@test "a last line without its line break counts once nobody writes the file any more" {
    steps 1 2
    printf '{"step": 1, "val_loss": 0.5}\n{"step": 2, "val_loss": 0.25}' >"$R/metrics.jsonl"
    best_is "$R/step_2.pt"
    printf '\n{"step": 1, "val_loss": 0.125}' >>"$R/metrics.jsonl"
    best_is "$R/step_1.pt"
}

@test "a line of many MiB in a metrics file is passed over, and what follows it counts" {
    steps 1 2
    echo '{"step": 1, "val_loss": 0.5}' >"$R/metrics.jsonl"
    head -c 5000000 /dev/zero | tr '\0' x >>"$R/metrics.jsonl"
    best_is "$R/step_1.pt"
    printf 'yy\n{"step": 2, "val_loss": 0.25}\n' >>"$R/metrics.jsonl"
    best_is "$R/step_2.pt"
}

@test "metrics.csv counts, also with its header repeated, empty cells and a step one below that of the checkpoint" {
    mkdir "$R/version_0"
    save "$R/version_0/epoch=0-step=400.ckpt" 1
    save "$R/version_0/epoch=1-step=800.ckpt" 2
    printf 'epoch,step,train_loss,val_loss\n0,399,,0.25\n' >"$R/version_0/metrics.csv"
    printf 'epoch,step,train_loss,val_loss\n0,200,3.5,\n1,799,,0.5\n' >>"$R/version_0/metrics.csv"
    equal "$(readlink -f "$V/best")" "$R/version_0/epoch=0-step=400.ckpt"
    echo 1,799,,0.125 >>"$R/version_0/metrics.csv"
    equal "$(readlink -f "$V/best")" "$R/version_0/epoch=1-step=800.ckpt"
    equal "$(readlink -f "$R/version_0/.expfs/best")" "$R/version_0/epoch=1-step=800.ckpt"
}

@test "trainer_state.json in a checkpoint speaks for that checkpoint alone" {
    local n
    for n in 500 1000 1500; do
        mkdir "$R/checkpoint-$n"
        save "$R/checkpoint-$n/model.pt" $n
    done
    state() { # STEP of the checkpoint, then STEP EVAL_LOSS ...
        local to=$R/checkpoint-$1/trainer_state.json
        shift
        { printf '{"global_step": 1, "log_history": ['; printf '{"step": %d, "eval_loss": %s}, ' "$@"; printf '{"step": 1, "x": 0}]}'; } >"$to"
    }
    state 500 500 0.5
    state 1000 500 0.5 1000 0.25
    state 1500 500 0.01 1000 0.25
    best_is "$R/checkpoint-1000"
    state 1500 500 0.01 1500 0.125 2000 0.9
    best_is "$R/checkpoint-1500"
    rm -r "$R/checkpoint-1500"
    best_is "$R/checkpoint-1000"
}

@test "trainer_state.json of the run counts as its other curves do" {
    steps 1 2
    echo '{"log_history": [{"step": 1, "eval_loss": 0.25}, {"step": 2, "eval_loss": 0.5}, {"step": 2}, 7]}' >"$R/trainer_state.json"
    best_is "$R/step_1.pt"
    echo '{"log_history": [' >"$R/trainer_state.json"
    no_best
}

@test "a metric set by xattr counts before what curves say, until it is removed" {
    steps 1 2
    printf '{"step": %d, "val_loss": %s}\n' 1 0.5 2 0.25 >"$R/metrics.jsonl"
    metric "$R/step_1.pt" 0.125
    best_is "$R/step_1.pt"
    equal "$(xattr "$R/step_1.pt" user.expfs.metric.val_loss)" 0.125
    metric "$R/step_1.pt" 0.75
    best_is "$R/step_2.pt"
    setfattr -x user.expfs.metric.val_loss "$R/step_1.pt"
    metric "$R/step_2.pt" "no number"
    best_is "$R/step_2.pt"
    remount
    best_is "$R/step_2.pt"
    metric "$R/step_1.pt" "-1e3
"
    remount
    best_is "$R/step_1.pt"
}

@test "a metric that is set belongs to the content that was there, in whatever order it is saved" {
    # under a temporary name
    save "$SCRATCH/1.pt" 1
    save "$SCRATCH/2.pt" 2
    cp "$SCRATCH/1.pt" "$R/best.pt.tmp"
    metric "$R/best.pt.tmp" 0.1
    mv "$R/best.pt.tmp" "$R/best.pt"
    best_is "$R/best.pt"
    # the first worse one after a resume overwrites it, by rename and in place
    cp "$SCRATCH/2.pt" "$R/best.pt.tmp"
    mv "$R/best.pt.tmp" "$R/best.pt"
    metric "$R/best.pt" 0.5
    in_history best.pt 1
    cmp "$V/best" "$SCRATCH/1.pt"
    cp "$SCRATCH/1.pt" "$R/last.pt"
    cat "$SCRATCH/2.pt" >"$R/last.pt"
    metric "$R/last.pt" 0.7
    in_history best.pt 1
    # what is written over does not have the metric of what was there
    metric "$R/last.pt" 0.01
    best_is "$R/last.pt"
    cat "$SCRATCH/1.pt" >"$R/last.pt"
    in_history last.pt 2
    rm "$R/last.pt"
    in_history best.pt 1
    save "$R/last.pt" 9
    in_history best.pt 1
}

@test "a metric that is set while a checkpoint is being written is of what is written" {
    python3 - "$R/last.pt" "$SCRATCH" "$EXPFS_SRCDIR/tests/posix/checkpoint.py" <<'P'
import os, subprocess, sys
path, scratch, maker = sys.argv[1:]
def content(seed):
    subprocess.run([sys.executable, maker, "zip", scratch + "/x", "20000", seed], check=True)
    return open(scratch + "/x", "rb").read()
for seed, value in (("1", b"0.5"), ("2", b"0.25")):
    with open(path, "wb") as f:
        f.write(content(seed))
        os.setxattr(f.fileno(), "user.expfs.metric.loss", value)
        f.flush()
P
    best_is "$R/last.pt"
    "$EXPFS" status "$MNT" | grep -qx '            best /runs/r/last.pt, loss 0.25'
}

@test "a metric of a checkpoint directory is of the files that it has when it is set, or is complete next" {
    mkdir "$R/tmp-checkpoint-5"
    save "$R/tmp-checkpoint-5/model.pt" 1
    metric "$R/tmp-checkpoint-5" 0.5
    echo '{}' >"$R/tmp-checkpoint-5/trainer_state.json"
    mv "$R/tmp-checkpoint-5" "$R/checkpoint-5"
    mkdir "$R/checkpoint-6"
    save "$R/checkpoint-6/model.pt" 2
    echo '{}' >"$R/checkpoint-6/trainer_state.json"
    best_is "$R/checkpoint-5"
    metric "$R/checkpoint-6" 0.25
    best_is "$R/checkpoint-6"
    save "$R/checkpoint-6/model.pt" 3
    equal "$(readlink -f "$V/latest")" "$R/checkpoint-6"
    equal "$(readlink -f "$V/best")" "$MNT/.expfs/history/runs/r/checkpoint-6/1"
    metric "$R/checkpoint-6" 0.125
    best_is "$R/checkpoint-6"
}

@test "hard links, renames and copies with xattrs have the metric of their content" {
    save "$R/step_1.pt" 1
    metric "$R/step_1.pt" 0.5
    ln "$R/step_1.pt" "$R/step_9.pt"
    best_is "$R/step_9.pt"
    rm "$R/step_1.pt"
    mv "$R/step_9.pt" "$R/kept.pt"
    best_is "$R/kept.pt"
    cp --preserve=xattr "$R/kept.pt" "$R/copy.pt"
    rm "$R/kept.pt"
    best_is "$R/copy.pt"
}

@test "best of a directory is that of the checkpoints below it, with the curves of their runs" {
    mkdir -p "$R/a" "$MNT/runs/q"
    steps 1
    save "$R/a/step_2.pt" 2
    save "$MNT/runs/q/step_1.pt" 3
    printf '{"step": %d, "val_loss": %s}\n' 1 0.25 2 0.5 >"$R/metrics.jsonl"
    best_is "$R/step_1.pt"
    equal "$(readlink "$R/a/.expfs/best")" ../step_2.pt
    equal "$(readlink "$MNT/runs/.expfs/best")" ../r/step_1.pt
    echo '{"step": 1, "val_loss": 0.125}' >"$MNT/runs/q/metrics.jsonl"
    equal "$(readlink "$MNT/runs/.expfs/best")" ../q/step_1.pt
    equal "$(readlink "$MNT/.expfs/best")" ../runs/q/step_1.pt
    best_is "$R/step_1.pt"
}

@test "who may not look into a directory is led to the best that he may see" {
    require_user
    umount_store
    mount_store -o allow_other
    steps 1
    mkdir "$R/private"
    save "$R/private/step_2.pt" 2
    chmod 700 "$R/private"
    printf '{"step": %d, "val_loss": %s}\n' 1 0.5 2 0.25 >"$R/metrics.jsonl"
    equal "$(readlink -f "$V/best")" "$R/private/step_2.pt"
    equal "$(as_nobody readlink -f "$V/best")" "$R/step_1.pt"
    rm "$R/step_1.pt"
    not as_nobody test -L "$V/best"
    not grep -qx best <(as_nobody ls "$V")
}

@test "status shows the best of each branch" {
    steps 1 2
    "$EXPFS" status "$MNT" --json | python3 -c 'import json, sys; assert json.load(sys.stdin)["branches"][0]["best"] is None'
    printf '{"step": %d, "val_loss": %s}\n' 1 0.25 2 0.5 >"$R/metrics.jsonl"
    equal "$("$EXPFS" status "$MNT" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["branches"][0]["best"])')" \
        "{'path': '/runs/r/step_1.pt', 'step': 1, 'metric': 'val_loss', 'value': 0.25}"
    "$EXPFS" status "$MNT" | grep -qx '            best /runs/r/step_1.pt, val_loss 0.25'
}

@test "the best version is not forgotten" {
    save "$R/last.pt" 1
    metric "$R/last.pt" 0.5
    save "$R/last.pt" 2
    save "$R/last.pt" 3
    "$EXPFS" forget "$R/last.pt" | grep -q 'version 1 is kept: it is the best of its branch'
    in_history last.pt 1
    not "$EXPFS" forget "$R/last.pt@1" 2>"$SCRATCH/err"
    grep -q 'version 1 is needed: it is the best' "$SCRATCH/err"
    metric "$R/last.pt" 0.25
    "$EXPFS" forget "$R/last.pt@1"
    best_is "$R/last.pt"
}
