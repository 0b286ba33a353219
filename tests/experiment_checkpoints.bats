# Which experiment a checkpoint belongs to, and the line of a branch.

load experiments

# --- which experiment a checkpoint belongs to ---

@test "a checkpoint belongs to what lay there when its first byte was written, and an edit during the save stays pending" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w 1 "echo 'lr: 0.2' >$R/config.yaml"
    local second
    second=$(hp '{"lr": 0.2}')$(model w)$NONE
    equal "$(head_of)" "$(hp '{"lr": 0.1}')$(model w)$NONE"
    equal "$(pending)" "HP:$second"
    weights "$R/step_2.safetensors" w 2
    equal "$(head_of)/$(pending)" "$second/:None"
}

@test "the same holds for a file that is overwritten, and for one that is renamed into place" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/last.safetensors" w 1
    echo 'lr: 0.2' >"$R/config.yaml"
    weights "$R/last.safetensors" w 2 "echo 'lr: 0.3' >$R/config.yaml"
    equal "$(head_of)" "$(hp '{"lr": 0.2}')$(model w)$NONE"
    weights "$R/x.tmp" w 3 "echo 'lr: 0.4' >$R/config.yaml"
    mv "$R/x.tmp" "$R/last.safetensors"
    equal "$(head_of)" "$(hp '{"lr": 0.3}')$(model w)$NONE"
    equal "$(hash_of "$R/last.safetensors")" "$(head_of)"
}

@test "a checkpoint directory belongs to what lay there when the first of its new files was begun" {
    echo 'lr: 0.1' >"$R/config.yaml"
    mkdir "$R/checkpoint-1"
    weights "$R/checkpoint-1/model.safetensors" w
    echo 'lr: 0.2' >"$R/config.yaml"
    echo '{}' >"$R/checkpoint-1/trainer_state.json"
    equal "$(head_of)" "$(hp '{"lr": 0.1}')$(model w)$NONE"
    touch "$R/checkpoint-1/trainer_state.json"
    equal "$(hash_of "$R/checkpoint-1")" "$(hp '{"lr": 0.1}')$(model w)$NONE"
    weights "$R/checkpoint-1/model.safetensors" w 2
    equal "$(head_of)" "$(hp '{"lr": 0.2}')$(model w)$NONE"
    equal "$(hash_of "$R/checkpoint-1")" "$(head_of)"
}

@test "a checkpoint that completes after a later one's stands before that on the line" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w 1 "
        echo 'lr: 0.2' >$R/config.yaml
        $(declare -f weights)
        weights $R/step_2.safetensors w 2
        getfattr -n user.expfs.hash $R/step_2.safetensors >/dev/null"
    equal "$(hash_of "$R/step_2.safetensors")" "$(head_of)"
    equal "$(head_of)" "$(hp '{"lr": 0.2}')$(model w)$NONE"
    equal "$(hash_of "$R/step_1.safetensors")" "$(hp '{"lr": 0.1}')$(model w)$NONE"
    equal "$(line)" "$(hp '{"lr": 0.1}')$(model w)$NONE
$(hp '{"lr": 0.2}')$(model w)$NONE"
}

@test "of saves that follow each other at once each belongs to its own configuration" {
    local i
    for i in 1 2 3 4; do
        echo "lr: 0.$i" >"$R/config.yaml"
        weights "$R/last.safetensors" w $i
    done
    equal "$(line | wc -l)" 4
    equal "$(row "SELECT count(DISTINCT experiment) FROM version WHERE complete=1")" 4
}

@test "equal bytes saved under another configuration belong to both" {
    local h=$MNT/.expfs/history/runs/r/step_2.safetensors a b
    a=$(hp '{"lr": 0.1}')$(model w)$NONE
    b=$(hp '{"lr": 0.2}')$(model w)$NONE
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    weights "$R/step_2.safetensors" w
    setfattr -n user.expfs.metric.loss -v 0.5 "$R/step_2.safetensors"
    weights "$R/step_3.safetensors" w
    echo 'lr: 0.2' >"$R/config.yaml"
    weights "$R/step_2.safetensors" w
    equal "$(hash_of "$R/step_2.safetensors")" "$b"
    equal "$(ls "$h")" $'1.safetensors\n2.safetensors'
    equal "$(ls "$MNT/experiments/$a/step")/$(ls "$MNT/experiments/$b/step")" $'1\n2\n3/2'
    equal "$(readlink "$MNT/experiments/$a/latest")" "../../runs/r/step_3.safetensors"
    weights "$R/step_2.safetensors" w
    equal "$(ls "$h")" $'1.safetensors\n2.safetensors' "saved again where it belongs"
    "$EXPFS" load "$a@2" "$R"
    equal "$(hash_of "$R/step_2.safetensors")" "$a"
    umount_store
    equal "$(row "SELECT count(*), count(DISTINCT v.experiment) FROM version v JOIN metric m ON m.of=v.id WHERE m.name=CAST('loss' AS BLOB)")" "3 2"
    "$EXPFS" fsck "$STORE"
}

@test "the same holds for a checkpoint directory, and before anybody asked" {
    local i s
    for i in 0.1 0.2; do
        echo "lr: $i" >"$R/config.yaml"
        mkdir -p "$R/checkpoint-5"
        weights "$R/step_2.safetensors" w
        weights "$R/checkpoint-5/model.safetensors" w 5
        echo '{"global_step": 5}' >"$R/checkpoint-5/trainer_state.json"
        readlink "$R/.expfs/latest"
    done
    for i in 0.1 0.2; do
        s=$MNT/experiments/$(hp "{\"lr\": $i}")$(model w)$NONE/step
        equal "$(ls "$s")" $'2\n5' "$i"
        equal "$(ls "$s/5/")" $'model.safetensors\ntrainer_state.json' "$i"
    done
    weights "$R/checkpoint-5/model.safetensors" w 5
    echo '{"global_step": 5}' >"$R/checkpoint-5/trainer_state.json"
    weights "$R/step_2.safetensors" w
    equal "$(ls "$MNT/.expfs/history/runs/r/checkpoint-5")" $'1\n2'
    equal "$(ls "$MNT/.expfs/history/runs/r/step_2.safetensors" | wc -l)" 2
    umount_store
    "$EXPFS" fsck "$STORE"
}

@test "two kinds of weights do not make a branch go to and fro" {
    local i
    echo 'lr: 0.1' >"$R/config.yaml"
    for i in 1 2 3; do
        weights "$R/model_$i.safetensors" w $i
        weights "$R/ema_step_$i.safetensors" ema.w $i
    done
    equal "$(pending)" ":None"
    equal "$(hash_of "$R/model_3.safetensors")" "$(hp '{"lr": 0.1}')$(model w)$NONE"
    equal "$(hash_of "$R/ema_step_3.safetensors")" "$(hp '{"lr": 0.1}')$(model ema.w)$NONE"
    equal "$(line | wc -l)" 2
}

@test "equal configurations in two runs are one experiment" {
    mkdir "$MNT/runs/s"
    echo 'lr: 0.1' | tee "$R/config.yaml" >"$MNT/runs/s/config.yaml"
    weights "$R/step_1.safetensors" w
    weights "$MNT/runs/s/step_1.safetensors" w 1
    equal "$(head_of)" "$(head_of s)"
    umount_store
    equal "$(row "SELECT count(*) FROM experiment")/$(row "SELECT count(*) FROM line")" 1/2
}

@test "a renamed run keeps its line" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    local was
    was=$(head_of)
    mv "$R" "$MNT/runs/s"
    equal "$(head_of s)/$(pending s)" "$was/:None"
    echo 'lr: 0.2' >"$MNT/runs/s/config.yaml"
    weights "$MNT/runs/s/step_2.safetensors" w 1
    equal "$(line s)" "$was
$(hp '{"lr": 0.2}')$(model w)$NONE"
}

@test "checkpoints of a run that is renamed right after the save belong to what the run held" {
    local i
    mkdir -p "$MNT/runs/s" "$MNT/old"
    for i in r s; do
        echo 'lr: 0.1' >"$MNT/runs/$i/config.yaml"
        mkdir "$MNT/runs/$i/sub"
        weights "$MNT/runs/$i/sub/step_1.safetensors" w
    done
    mv "$R" "$MNT/old/r"
    mv "$MNT/runs" "$MNT/other"
    for i in old/r other/s; do
        equal "$(hash_of "$MNT/$i/sub/step_1.safetensors")" "$(hp '{"lr": 0.1}')$(model w)$NONE" "$i"
    done
    mkdir "$MNT/runs"
    mv "$MNT/old/r" "$R"
    equal "$(head_of)" "$(hp '{"lr": 0.1}')$(model w)$NONE"
}

@test "a configuration that does not parse keeps what it was, and status tells of it" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    equal "$(warnings)" ""
    printf 'lr: [0.2\n' >"$R/config.yaml"
    equal "$(pending)/$(warnings)" ":None/hp-unparsable=/runs/r/config.yaml"
    weights "$R/step_2.safetensors" w 1
    equal "$(hash_of "$R/step_2.safetensors")" "$(hash_of "$R/step_1.safetensors")"
    echo 'lr: 0.2' >"$R/config.yaml"
    equal "$(pending)/$(warnings)" "HP:$(hp '{"lr": 0.2}')$(model w)$NONE/"
}

# --- directories that change ---

dir_checkpoint() { # N SEED
    mkdir -p "$R/checkpoint-$1"
    weights "$R/checkpoint-$1/model.safetensors" w "$2"
    weights "$R/checkpoint-$1/optimizer.safetensors" m "$2"
    echo "{\"global_step\": $1}" >"$R/checkpoint-$1/trainer_state.json"
}

latest() { readlink "$MNT/branches/r/latest"; }

@test "a checkpoint directory is complete again when all its weights are saved anew, and mixed when only some are for long" {
    echo 'lr: 1' >"$R/config.yaml"
    dir_checkpoint 5 1
    equal "$(latest)" ../../runs/r/checkpoint-5
    local first
    first=$(head_of)
    echo 'lr: 2' >"$R/config.yaml"
    weights "$R/checkpoint-5/model.safetensors" w 2
    equal "$(latest)" ../../.expfs/history/runs/r/checkpoint-5/1
    cmp "$MNT/branches/r/latest/optimizer.safetensors" "$R/checkpoint-5/optimizer.safetensors"
    equal "$(head_of)" "$first"
    sleep 10.5
    equal "$(latest)" ../../.expfs/history/runs/r/checkpoint-5/1
    equal "$(warnings)" mixed=/runs/r/checkpoint-5
    equal "$(head_of)" "$first"
    weights "$R/checkpoint-5/optimizer.safetensors" m 2
    equal "$(latest)" ../../runs/r/checkpoint-5
    equal "$(warnings)" ""
    [[ $(head_of) == "$(hp '{"lr": 2}')"* ]]
    echo note >"$R/checkpoint-5/README.md"
    equal "$(latest)" ../../runs/r/checkpoint-5
}

@test "files that a complete checkpoint loses make no other experiment" {
    echo 'lr: 1' >"$R/config.yaml"
    dir_checkpoint 5 1
    dir_checkpoint 10 2
    local first
    first=$(head_of)
    rm "$R/checkpoint-5/model.safetensors"
    sleep 10.5
    latest >/dev/null
    equal "$(head_of)" "$first"
    equal "$(hash_of "$R/checkpoint-5")" "$first"
    rm "$R/checkpoint-5/optimizer.safetensors"
    sleep 10.5
    latest >/dev/null
    equal "$(head_of)" "$first"
    equal "$(line | wc -l)" 1
}
