# Labels where it is not plain which of two checkpoints is wrong, and those that only look wrong.

load lib
load weights

setup() { mount_run; }

teardown() { cleanup; }

# saved NAME WEIGHTS: one after the other, each is read before the next one
saved() {
    save "$1" "{'model': {'x': w($2)}}"
    wait_read "$1"
}

@test "of a run that is copied by name the copy that was saved late is told, not the checkpoint that is right" {
    saved best_epoch_7.pt 9
    saved epoch_7.pt 7
    saved epoch_9.pt 9
    equal "$(labels)" "/runs/r/best_epoch_7.pt labelled epoch 7, holds epoch 9: its weights are those of /runs/r/epoch_9.pt"
    equal "$(verdict 10 "$R/best_epoch_7.pt")" RECOVER
    equal "$(field 'a["instead"]["path"]' "$R/best_epoch_7.pt")" /runs/r/epoch_7.pt
    equal "$(verdict 13 "$R/epoch_7.pt")" HOLD # nothing else that is right has its label
    saved copy_epoch_7.pt 7
    equal "$(verdict 0 "$R/copy_epoch_7.pt")" ACCEPT
}

@test "one that came when the run was past its label is wrong before the one that it has the weights of" {
    saved epoch_8.pt 8
    saved best_epoch_7.pt 9
    saved epoch_9.pt 9
    equal "$(labels)" "/runs/r/best_epoch_7.pt labelled epoch 7, holds epoch 9: its weights are those of /runs/r/epoch_9.pt"
}

@test "that other weights get its label later does not make a checkpoint wrong" {
    saved epoch_9.pt 9
    saved late_epoch_9.pt 11
    saved best_epoch_7.pt 9
    equal "$(labels)" "/runs/r/best_epoch_7.pt labelled epoch 7, holds epoch 9: its weights are those of /runs/r/epoch_9.pt"
}

@test "the same tensors under other names, or in other numbers, are other weights" {
    save step_1.pt '{"model": {"a": w(1), "b": w(2)}}'
    save step_2.pt '{"model": {"a": w(2), "b": w(1)}}'
    save step_3.pt '{"model": {"a": w(5), "b": w(6), "c": w(6)}}'
    save step_4.pt '{"model": {"a": w(5), "b": w(5), "c": w(6)}}'
    wait_read step_{1..4}.pt
    equal "$(labels)" ""
    equal "$(field 'a["holds"]' "$R/step_2.pt")" "[]"
}

@test "a loop that counts from 0 in names and from 1 inside has no wrong labels" {
    local e
    for e in 0 1 2 3; do
        save epoch_$e.pt "{'epoch': $((e + 1)), 'model': {'x': w($e)}}"
        save last.pt "{'epoch': $((e + 1)), 'model': {'x': w($e)}, 'best': 1}"
        wait_read epoch_$e.pt last.pt
    done
    save late.pt "{'epoch': 2, 'model': {'x': w(3)}}"
    save best_epoch_0.pt "{'epoch': 3, 'model': {'x': w(2)}}"
    wait_read late.pt best_epoch_0.pt
    equal "$(labels | sort | cut -d : -f 1)" "/runs/r/best_epoch_0.pt labelled epoch 0, holds epoch 2
/runs/r/late.pt labelled epoch 2, holds epoch 3"
    equal "$(verdict 10 "$R/late.pt")" RECOVER
    equal "$(field 'a["reference"]["path"], a["reference"]["version"]' "$R/late.pt")" "('/runs/r/last.pt', 2)"
    save at_once.pt "{'epoch': 2, 'model': {'x': w(1)}}"
    equal "$(verdict 0 "$R/at_once.pt")" ACCEPT
}

@test "what was found of a checkpoint stays known when what it holds is forgotten" {
    saved step_7.pt 7
    saved step_9.pt 9
    saved late_step_7.pt 9
    rm "$R/step_9.pt"
    "$EXPFS" forget "$R/step_9.pt" >/dev/null
    saved later_step_7.pt 9
    equal "$(labels)" "/runs/r/late_step_7.pt labelled step 7, holds step 9
/runs/r/later_step_7.pt labelled step 7, holds step 9"
    saved again_step_9.pt 9
    equal "$(labels | wc -l)" 2
}

@test "a run that is renamed, or removed and made anew, keeps its labels to itself" {
    saved step_7.pt 7
    saved step_9.pt 9
    mv "$R" "$MNT/runs/s"
    R=$MNT/runs/s
    saved late_step_7.pt 9
    equal "$(labels)" "/runs/s/late_step_7.pt labelled step 7, holds step 9: its weights are those of /runs/s/step_9.pt"
    rm -r "$R"
    mkdir "$R"
    saved step_1.pt 9
    equal "$(labels)" ""
}

@test "of what a user may not read nobody tells him whose weights it holds" {
    require_user
    umount_store
    mount_store -o allow_other
    chmod 755 "$MNT" "$STORE"
    saved step_7.pt 7
    saved step_9.pt 9
    saved late_step_7.pt 9
    mkdir "$R/private"
    saved private/late_step_7.pt 9
    told() { as_nobody cat "$MNT/.expfs/status.json" | python3 -c 'import json, sys
print([w["path"] for w in json.load(sys.stdin)["warnings"] if w["kind"] == "label"])'; }
    equal "$(told)" "['/runs/r/late_step_7.pt', '/runs/r/private/late_step_7.pt']"
    chmod 700 "$R/private"
    equal "$(told)" "['/runs/r/late_step_7.pt']"
    equal "$(as_nobody grep labelled "$MNT/branches/r/log")" \
        "label      /runs/r/late_step_7.pt: labelled step 7, holds step 9: its weights are those of /runs/r/step_9.pt"
    chmod 600 "$R/step_9.pt"
    equal "$(as_nobody grep labelled "$MNT/branches/r/log")" "label      /runs/r/late_step_7.pt: labelled step 7, holds step 9"
    chmod 600 "$R/late_step_7.pt"
    equal "$(told)" "[]"
    ! as_nobody grep labelled "$MNT/branches/r/log"
    equal "$(grep -c labelled "$MNT/branches/r/log")" 2
}

@test "a step among the arrays of a file is a label, not a weight" {
    local arrays=$EXPFS_SRCDIR/tests/inner_step.py
    python3 "$arrays" "$R/step_7.npz" '{"step": 7}' seven
    python3 "$arrays" "$R/step_9.npz" '{"step": 9}' nine
    python3 "$arrays" "$R/best.npz" '{"step": 7}' nine
    python3 "$arrays" "$R/good.npz" '{"step": 7}' seven
    wait_read step_7.npz step_9.npz best.npz good.npz
    equal "$(labels)" "/runs/r/best.npz labelled step 7, holds step 9: its weights are those of /runs/r/step_9.npz"
    equal "$(verdict 10 "$R/best.npz")" RECOVER
    equal "$(verdict 0 "$R/good.npz")" ACCEPT
    equal "$(verdict 0 "$R/best.npz" --against "$R/step_9.npz")" ACCEPT
    save only.pt '{"model": {"step": t("int64", [], b"12345678")}}'
    wait_read only.pt
    equal "$(weights only.pt 'w["why"]')" "no tensors of a model in it"
}
