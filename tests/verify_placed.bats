# Which weights are in checkpoints that no run saved where they are: expfs branch and load put them there.

load lib
load weights

setup() {
    mount_run
    echo "lr: 0.1" >"$R/config.yaml"
}

teardown() { cleanup; }

# save PATH WEIGHTS: safetensors; below R
save() { python3 "$EXPFS_SRCDIR/tests/inner_step.py" "$R/$1" 'dict()' "$2"; }

save_dir() {
    mkdir "$R/checkpoint-$1"
    save "checkpoint-$1/model.safetensors" "$2"
    echo "{\"global_step\": $1, \"log_history\": []}" >"$R/checkpoint-$1/trainer_state.json"
    wait_until whole "$R/checkpoint-$1"
}
whole() { [[ $(xattr "$1" user.expfs.complete) == 1 ]]; }

@test "weights that branch put in place are read, and a late capture of the new run is told" {
    save step_7.safetensors state7
    save step_9.safetensors state9
    "$EXPFS" branch cont --from "r@9" --store "$STORE" >/dev/null 3>&-
    R=$MNT/runs/cont
    wait_read step_9.safetensors
    save best_step_9.safetensors state9
    save other_step_9.safetensors state10
    equal "$(verdict 0 "$R/best_step_9.safetensors")" ACCEPT
    equal "$(verdict 10 "$R/other_step_9.safetensors")" RECOVER
    equal "$(field 'a["instead"]["path"]' "$R/other_step_9.safetensors")" /runs/cont/step_9.safetensors
    save late_step_8.safetensors state9
    wait_read late_step_8.safetensors
    equal "$(labels)" "/runs/cont/late_step_8.safetensors labelled step 8, holds step 9: its weights are those of /runs/cont/step_9.safetensors"
}

@test "a late capture that branch brings along is told in the new run, which does not have what it holds" {
    save step_4.safetensors state4
    save step_5.safetensors state5
    save late_step_6.safetensors state5
    wait_read late_step_6.safetensors
    "$EXPFS" branch cont --from "r@6" --store "$STORE" >/dev/null 3>&-
    equal "$(labels | grep -c .)" 2
    labels | grep -qx "/runs/cont/late_step_6.safetensors labelled step 6, holds step 5: its weights are those of /runs/r/step_5.safetensors"
    R=$MNT/runs/cont
    save step_5.safetensors state5
    save late_step_7.safetensors state5
    wait_read step_5.safetensors late_step_7.safetensors
    equal "$(labels | cut -d : -f 1 | sort)" "/runs/cont/late_step_6.safetensors labelled step 6, holds step 5
/runs/cont/late_step_7.safetensors labelled step 7, holds step 5
/runs/r/late_step_6.safetensors labelled step 6, holds step 5"
    equal "$(verdict 0 "$R/late_step_6.safetensors" --against "$R/step_5.safetensors")" ACCEPT
}

@test "of several checkpoints of a step branch and load take one that holds it, not a late capture that was saved after it" {
    save step_4.safetensors state4
    save step_5.safetensors state5
    save late_step_4.safetensors state5
    save later_step_4.safetensors state5
    wait_read later_step_4.safetensors
    "$EXPFS" branch cont --from "r@4" --store "$STORE" >/dev/null 3>&-
    equal "$(ls "$MNT/runs/cont")" $'config.yaml\nstep_4.safetensors'
    rm "$R/step_4.safetensors" "$MNT/runs/cont/step_4.safetensors"
    "$EXPFS" branch only --from "r@4" --store "$STORE" >/dev/null 3>&-
    equal "$(ls "$MNT/runs/only")" $'config.yaml\nlater_step_4.safetensors'
}

@test "a directory that branch put in place is read" {
    save_dir 7 state7
    "$EXPFS" branch cont --from "r@7" --store "$STORE" >/dev/null 3>&-
    R=$MNT/runs/cont
    wait_read checkpoint-7
    save best_step_7.safetensors state7
    equal "$(verdict 0 "$R/best_step_7.safetensors")" ACCEPT
}

@test "a checkpoint that was removed, and that load brings back, is read" {
    save step_7.safetensors state7
    save_dir 8 state8
    local hash
    hash=$(cat "$MNT/branches/r/HEAD")
    rm -r "$R/step_7.safetensors" "$R/checkpoint-8"
    "$EXPFS" load "$hash@8" "$R/" >/dev/null 3>&-
    wait_read checkpoint-8
    "$EXPFS" load "$hash@7" "$R/" >/dev/null 3>&-
    wait_read step_7.safetensors
    verdict 13 "$R/step_7.safetensors"
}

@test "a complete version that is neither read nor waits to be, as of a store written before, is read by verify itself" {
    save step_7.safetensors state7
    save best_step_7.safetensors state9
    wait_read step_7.safetensors best_step_7.safetensors
    umount_store
    python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()' "$STORE/expfs.db" \
        'DELETE FROM holds WHERE version=(SELECT max(version) FROM holds)'
    equal "$(verdict 10 --store "$STORE" runs/r/best_step_7.safetensors)" RECOVER
    mount_store
    wait_read best_step_7.safetensors
}
