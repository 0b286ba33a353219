# A line written to HEAD, what a load refuses, and to whom.

load load_state

@test "a line that is written to HEAD loads, and says by write or close what is wrong" {
    two_experiments
    echo "$A@2" >"$MNT/branches/r/HEAD"
    is_a
    equal "$(head_of)/$(latest)" "$A/step_2.safetensors"
    printf %s "$B" >"$MNT/branches/r/HEAD"
    equal "$(head_of)" "$B"
    python3 - "$MNT/branches/r/HEAD" "$A" <<'PY'
import errno, os, sys
path, a = sys.argv[1:]
def write(text):
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
for text, e in ("xyz\n", errno.EINVAL), (a + "\n" + a + "\n", errno.EINVAL), ("a" * 200, errno.EINVAL), \
               ("0" * 24 + "\n", errno.ENOENT), (a + "@77\n", errno.ENOENT), (a + "@", errno.EINVAL), \
               ("0" * 24, errno.ENOENT):
    try: write(text)
    except OSError as x: assert x.errno == e, (text, x)
    else: raise AssertionError(text)
write("")
PY
    equal "$(head_of)" "$B"
}

@test "a file that somebody writes is not replaced: EBUSY, and all is as it was" {
    two_experiments
    exec 7>>"$R/data/train/c.txt"
    echo more >&7
    refused 3 "$EXPFS" load "$A" "$R/"
    equal "$MESSAGE" "expfs: /runs/r/data/train/c.txt: is being written; wait until that is done"
    not bash -c "echo $A >'$MNT/branches/r/HEAD'" 2>"$SCRATCH/err"
    grep -q "Device or resource busy" "$SCRATCH/err"
    equal "$(cat "$R/config.yaml" "$R/params.yaml")" $'lr: 0.2\nmore: 1'
    exec 7>&-
    load_state "$A"
    is_a
    equal "$(cat "$MNT/.expfs/history/runs/r/data/train/c.txt/2.txt")" $'c\nmore'
}

@test "a file whose writer has just closed it is no reason to refuse" {
    two_experiments
    local i
    for i in $(seq 20); do
        echo "lr: $i" >"$R/config.yaml"
        load_state "$A"
        is_a
    done
}

@test "who may not write into the run cannot load, and what another one loads is his" {
    require_user
    two_experiments
    local nobody
    nobody=$(id -u nobody)
    not as_nobody bash -c "echo $A >'$MNT/branches/r/HEAD'" 2>/dev/null
    equal "$(stat -c %A "$MNT/branches/r/HEAD")" -rw-r--r--
    chmod 777 "$R"
    equal "$(stat -c %A "$MNT/branches/r/HEAD")" -rw-rw-rw-
    not as_nobody bash -c "echo $A >'$MNT/branches/r/HEAD'" 2>"$SCRATCH/err" # data/ is not his
    grep -q "Permission denied" "$SCRATCH/err"
    equal "$(head_of)" "$B"
    chmod 777 "$R/data" "$R/data/train"
    as_nobody bash -c "echo $A >'$MNT/branches/r/HEAD'"
    equal "$(head_of)/$(pending)/$(latest)" "$A//step_3.safetensors"
    equal "$(stat -c %u "$R/config.yaml")" "$nobody"
    diff -r "$SCRATCH/a/data" "$R/data"
    mkdir -m 777 "$MNT/runs/his"
    chmod 600 "$R/step_1.safetensors"
    as_nobody bash -c "echo x >'$MNT/runs/his/config.yaml'"
    not as_nobody bash -c "echo $A@1 >'$MNT/branches/his/HEAD'" 2>/dev/null # he may not read it
    as_nobody bash -c "echo $A@2 >'$MNT/branches/his/HEAD'"
    equal "$(head_of his)" "$A"
}

@test "the states of a run that was moved away, or removed, are loaded into others" {
    two_experiments
    mkdir "$MNT/runs/new" "$MNT/runs/newer" "$MNT/archive"
    mv "$R" "$MNT/archive/r"
    load_state "$A" "$MNT/runs/new/"
    equal "$(cat "$MNT/runs/new/config.yaml" "$MNT/runs/new/data/b.txt")/$(latest new)" $'lr: 0.1 # of A\nb/step_3.safetensors'
    rm -r "$MNT/archive/r"
    load_state "$B" "$MNT/runs/newer/"
    equal "$(cat "$MNT/runs/newer/config.yaml")/$(latest newer)" "lr: 0.2/step_4.safetensors"
}

@test "what was closed to others is not loaded by them from versions that were open" {
    require_user
    printf 'lr: 0.1\n' >"$R/config.yaml"
    weights "$R/step_1.safetensors" 1
    A=$(head_of)
    printf 'lr: 0.2\n' >"$R/config.yaml"
    chmod 600 "$R/config.yaml"
    weights "$R/step_2.safetensors" 2
    rm "$R/config.yaml"
    mkdir -m 777 "$MNT/runs/his"
    as_nobody bash -c "echo x >'$MNT/runs/his/config.yaml'"
    not as_nobody cat "$MNT/.expfs/history/runs/r/config.yaml/1.yaml" 2>/dev/null
    not as_nobody bash -c "echo $A >'$MNT/branches/his/HEAD'" 2>/dev/null
    checkpoint_dir 5 1 optimizer.txt
    C=$(hash_of "$R/checkpoint-5")
    checkpoint_dir 5 2 optimizer.txt
    chmod 600 "$R/checkpoint-5/optimizer.txt"
    wait_until test -d "$MNT/.expfs/history/runs/r/checkpoint-5/2"
    rm -r "$R/checkpoint-5"
    not as_nobody bash -c "echo $C@5 >'$MNT/branches/his/HEAD'" 2>/dev/null
    equal "$(cat "$MNT/runs/his/config.yaml")" x
    echo $C@5 >"$MNT/branches/his/HEAD"
}

@test "a directory checkpoint that another one loads is complete" {
    require_user
    echo 'lr: 0.1' >"$R/config.yaml"
    checkpoint_dir 5 1 optimizer.txt
    A=$(head_of)
    mkdir -m 777 "$MNT/runs/his"
    as_nobody bash -c "echo x >'$MNT/runs/his/config.yaml'"
    as_nobody bash -c "echo $A >'$MNT/branches/his/HEAD'"
    equal "$(head_of his)/$(pending his)/$(latest his)" "$A//checkpoint-5"
    equal "$(stat -c %u "$MNT/runs/his/checkpoint-5/optimizer.txt")" "$(id -u nobody)"
    equal "$(hash_of "$MNT/runs/his/checkpoint-5")" "$A"
}

@test "the checkpoint of another run that is loaded belongs to its experiment" {
    two_experiments
    "$EXPFS" branch new --from "$A@2" --store "$STORE" 3>&-
    equal "$(hash_of "$MNT/runs/new/step_2.safetensors")" "$A"
}

@test "a checkpoint that is loaded has the metrics that it had" {
    checkpoint_dir 5 1
    echo '{"global_step": 5, "log_history": [{"step": 5, "eval_loss": 0.5}]}' >"$R/checkpoint-5/trainer_state.json"
    weights "$R/step_7.safetensors" 7
    setfattr -n user.expfs.metric.eval_loss -v 0.25 "$R/step_7.safetensors"
    echo 'lr: 0.1' >"$R/config.yaml"
    "$EXPFS" commit "$R/" 3>&-
    for n in 5 7; do
        "$EXPFS" branch "new$n" --from "r@$n" --store "$STORE" 3>&-
        equal "$(branch 'b["best"]["step"]' "new$n")" "$n"
    done
    equal "$(branch 'b["best"]["value"]' new5) $(branch 'b["best"]["value"]' new7)" "0.5 0.25"
}

@test "a directory that is no checkpoint here keeps its files, and is told" {
    local n other=$MNT/runs/other
    echo 'lr: 1' >"$R/config.yaml"
    for n in 100 200; do
        mkdir "$R/$n"
        echo "$n" >"$R/$n/array"
        echo '{}' >"$R/$n/_CHECKPOINT_METADATA"
    done
    A=$(head_of)
    mkdir -p "$other/200"
    echo precious >"$other/200/notes"
    not load_state "$A@200" "$other" 2>"$SCRATCH/error"
    grep -q 'runs/other/200/notes: history cannot keep what it holds' "$SCRATCH/error"
    equal "$(cat "$other/200/notes")" precious
}

@test "what is of another type is not replaced" {
    two_experiments
    rm "$R/config.yaml"
    ln -s ../elsewhere "$R/config.yaml"
    refused 3 "$EXPFS" load "$A" "$R/"
    [[ $MESSAGE == "expfs: /runs/r/config.yaml: something of another type stands there"* ]]
    equal "$(readlink "$R/config.yaml")/$(cat "$R/params.yaml")" "../elsewhere/more: 1"
}

@test "what is no experiment, or several, is refused" {
    two_experiments
    refused 1 "$EXPFS" load 0123456789 "$R/"
    refused 2 "$EXPFS" load nonsense "$R/"
    refused 2 "$EXPFS" load "$A@" "$R/"
    refused 1 "$EXPFS" load "$A" nobranch --store "$STORE"
    [[ $MESSAGE == *"expfs branch nobranch --from $A" ]]
    refused 1 "$EXPFS" load "$A@1" "$MNT/runs/norun"
    [[ $MESSAGE == *"/norun: there is no such path"*"expfs branch NEW --from $A@1" ]]
    refused 2 "$EXPFS" load
}

@test "with commit: immediate a load is no edit, either" {
    umount_store
    echo 'commit: immediate' >"$STORE/config.yaml"
    mount_store
    two_experiments
    local count
    count=$(experiments)
    load_state "$A"
    equal "$(head_of)/$(pending)" "$A/"
    equal "$(experiments)" "$count"
    printf 'lr: 0.7\n' >"$R/config.yaml"
    [[ $(head_of) != "$A" ]]
    equal "$(parent_of "$(head_of)")" "$A"
}
