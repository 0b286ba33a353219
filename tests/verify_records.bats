# What expfs verify holds a checkpoint against, and what it never does.

load lib
load weights

setup() { mount_run; }

teardown() { cleanup; }

# saved NAME WEIGHTS
saved() { save "$1" "{'model': {'x': w($2)}}"; }

@test "a file is not verified against itself under the name that it had before" {
    save tmp.pt '{"epoch": 7, "model": {"x": w(9)}}'
    wait_read tmp.pt
    mv "$R/tmp.pt" "$R/best_epoch_7.pt"
    equal "$(verdict 13 "$R/best_epoch_7.pt")" HOLD
    refused 2 "$EXPFS" verify "$R/best_epoch_7.pt" --against "$R/tmp.pt@1"
    ln "$R/best_epoch_7.pt" "$R/hard_epoch_7.pt"
    rm "$R/best_epoch_7.pt"
    equal "$(verdict 13 "$R/hard_epoch_7.pt")" HOLD
    refused 2 "$EXPFS" verify "$R/hard_epoch_7.pt" --against "$R/best_epoch_7.pt@1"
}

@test "a directory is not verified against itself before files came beside its model, or under the name that it had before" {
    mkdir "$R/step_5"
    save step_5/model.safetensors '{"a": w(1)}'
    mkdir "$R/checkpoint-5"
    save checkpoint-5/model.safetensors '{"a": w(1)}'
    echo '{"global_step": 5, "log_history": []}' >"$R/checkpoint-5/trainer_state.json"
    wait_read checkpoint-5
    echo more >"$R/checkpoint-5/README"
    wait_until test -e "$R/.expfs/history/checkpoint-5/2"
    equal "$(verdict 13 "$R/checkpoint-5")" HOLD
    refused 2 "$EXPFS" verify "$R/checkpoint-5" --against "$R/checkpoint-5@1"
    mv "$R/checkpoint-5" "$R/checkpoint-6"
    wait_until test -e "$R/.expfs/history/checkpoint-6/1"
    refused 2 "$EXPFS" verify "$R/checkpoint-6" --against "$R/checkpoint-5@1"
}

@test "a directory that was removed and brought back is verified against what was brought back" {
    mkdir "$R/checkpoint-5"
    save checkpoint-5/model.safetensors '{"a": w(1)}'
    echo '{"global_step": 5, "log_history": []}' >"$R/checkpoint-5/trainer_state.json"
    wait_read checkpoint-5
    rm -r "$R/checkpoint-5"
    "$EXPFS" restore "$R/checkpoint-5" 3>&-
    wait_read checkpoint-5
    equal "$(verdict 0 "$R/checkpoint-5" --against "$R/checkpoint-5@1")" ACCEPT
}

@test "nor against the file of the store that has its content" {
    saved step_7.pt 7
    saved copy_step_7.pt 8
    local object
    object=$(grep -rl --include='*' archive/data.pkl "$STORE" | while read -r f; do cmp -s "$f" "$R/step_7.pt" && echo "$f"; done | head -n 1)
    [[ $object ]] || fail "no object"
    refused 2 "$EXPFS" verify "$R/step_7.pt" --against "$object"
}

@test "two that are late alike are not the record of each other when what is right was forgotten" {
    saved step_7.pt 7
    saved step_9.pt 9
    saved late_step_7.pt 9
    save later_step_7.pt '{"model": {"x": w(9)}, "more": 1}'
    wait_read step_7.pt step_9.pt late_step_7.pt later_step_7.pt
    rm "$R/step_7.pt" "$R/step_9.pt"
    "$EXPFS" forget "$R/step_7.pt" >/dev/null
    "$EXPFS" forget "$R/step_9.pt" >/dev/null
    local n
    for n in late later; do
        equal "$(verdict 13 "$R/${n}_step_7.pt")" HOLD # the run is past it, as the weights themselves tell
    done
}

@test "a training is not sent back to a checkpoint whose own label is wrong" {
    echo 'lr: 0.1' >"$R/config.yaml"
    local all='"optimizer": {"m": w(0)}, "rng": {"torch": t("uint8", [4], b"abcd")}, "sampler": {"at": 5}'
    save step_2.pt "{'model': {'x': w(2)}, $all}"
    save step_4.pt "{'model': {'x': w(4)}, $all}"
    save late_step_4.pt "{'model': {'x': w(9)}, $all}"
    saved step_7.pt 7
    saved step_9.pt 9
    saved late_step_7.pt 9
    wait_read step_2.pt late_step_4.pt step_9.pt late_step_7.pt
    rm "$R/step_7.pt"
    "$EXPFS" forget "$R/step_7.pt" >/dev/null
    equal "$(verdict 12 "$R/late_step_7.pt")" RERUN
    equal "$(field 'a["instead"]["path"]' "$R/late_step_7.pt")" /runs/r/step_4.pt
}

@test "what a file outside is to be recovered from equals all of it, and is not the candidate" {
    save step_1.pt '{"model": {"a": w(1)}, "optimizer": {"m": w(2)}}'
    save "$SCRATCH/out.pt" '{"model": {"a": w(1)}, "optimizer": {"m": w(3)}}'
    equal "$(verdict 11 "$R/step_1.pt" --against "$SCRATCH/out.pt")" RECAPTURE
    save other.pt '{"step": 0, "model": {"a": w(1)}, "optimizer": {"m": w(3)}}'
    equal "$(verdict 10 "$R/step_1.pt" --against "$SCRATCH/out.pt")" RECOVER
    equal "$(field 'a["instead"]["path"]' "$R/step_1.pt" --against "$SCRATCH/out.pt")" /runs/r/other.pt
}

@test "a run that began anew with another configuration has other steps of the same numbers" {
    echo 'lr: 0.1' >"$R/config.yaml"
    saved step_7.pt 7
    saved step_9.pt 9
    wait_read step_9.pt
    rm "$R"/*.pt
    echo 'lr: 0.2' >"$R/config.yaml"
    saved step_7.pt 17
    equal "$(verdict 13 "$R/step_7.pt")" HOLD
    saved best_step_7.pt 17
    equal "$(verdict 0 "$R/best_step_7.pt")" ACCEPT
    saved step_9.pt 19
    saved late_step_7.pt 19
    equal "$(verdict 10 "$R/late_step_7.pt")" RECOVER
    equal "$(field 'a["instead"]["path"], a["instead"]["version"]' "$R/late_step_7.pt")" "('/runs/r/step_7.pt', 2)"
}

@test "a step of an experiment is what was committed under it first, not what was saved late under its name" {
    echo 'lr: 0.1' >"$R/config.yaml"
    saved step_7.pt 7
    saved step_9.pt 9
    saved late_step_7.pt 9
    local hash
    hash=$(cat "$MNT/branches/r/HEAD")
    equal "$(verdict 10 "$R/late_step_7.pt" --against "$hash@7")" RECOVER
    equal "$(verdict 0 "$R/step_9.pt" --against "$R/late_step_7.pt")" ACCEPT
}

@test "a checkpoint whose later ones cannot be read is not to be saved again" {
    saved step_7.pt 7
    saved late_step_7.pt 8
    save "$SCRATCH/six.pt" '{"model": {"x": w(6)}}'
    equal "$(verdict 11 "$R/late_step_7.pt" --against "$SCRATCH/six.pt")" RECAPTURE
    echo no tensors >"$R/step_9.pt"
    equal "$(verdict 13 "$R/late_step_7.pt" --against "$SCRATCH/six.pt")" HOLD
}

@test "tensors of an optimizer that cannot be told leave it open, where all else is the same" {
    save step_1.pt '{"model": {"a": w(1)}, "optimizer": {(0, 1): w(1), (1, 0): w(2)}}'
    save copy_step_1.pt '{"model": {"a": w(1)}, "optimizer": {(0, 1): w(1), (1, 0): w(2)}, "more": 1}'
    save other_step_1.pt '{"model": {"a": w(2)}, "optimizer": {(0, 1): w(1), (1, 0): w(2)}}'
    equal "$(verdict 13 "$R/copy_step_1.pt")" HOLD
    equal "$(verdict 10 "$R/other_step_1.pt")" RECOVER
}

@test "what a run saved before it went back to an earlier step is no record of what it saves after that" {
    echo 'lr: 0.1' >"$R/config.yaml"
    local n hash
    for n in 1 2 3; do
        saved step_$n.pt $n
        save epoch_$n.pt "{'epoch': $n, 'model': {'x': w(10$n)}}"
    done
    wait_read step_3.pt epoch_3.pt
    saved copy_step_1.pt 1
    hash=$(cat "$MNT/branches/r/HEAD")
    "$EXPFS" load "$hash@1" "$R" >/dev/null
    saved step_2.pt 12
    save epoch_2.pt "{'epoch': 2, 'model': {'x': w(112)}}"
    equal "$(verdict 13 "$R/step_2.pt")" HOLD
    equal "$(verdict 13 "$R/epoch_2.pt")" HOLD
    saved copy_step_2.pt 12
    equal "$(verdict 0 "$R/copy_step_2.pt")" ACCEPT
    save "$SCRATCH/six.pt" '{"model": {"x": w(6)}}'
    equal "$(verdict 11 "$R/step_2.pt" --against "$SCRATCH/six.pt")" RECAPTURE # step 3 is left, too
    equal "$(verdict 13 "$R/copy_step_1.pt" --against "$SCRATCH/six.pt")" HOLD
    saved more_step_1.pt 1
    equal "$(verdict 0 "$R/more_step_1.pt")" ACCEPT # what was before that step counts
}
