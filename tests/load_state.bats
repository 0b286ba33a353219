# Loading a state into a run, of this or another one: expfs load and expfs branch.

load load_state

# --- what comes back ---

@test "a load brings the files of an experiment back bit for bit, and takes those away that it did not have" {
    two_experiments
    run load_state "$A"
    equal "$status" 0
    equal "$output" "/runs/r: $A, /runs/r/step_3.safetensors, step 3"
    is_a
}

@test "weights, files without a role and directories stay" {
    two_experiments
    echo notes >"$R/notes.txt"
    load_state "$A"
    equal "$(cat "$R/notes.txt")" notes
    ls "$R"/step_{1,2,3,4}.safetensors
    weights "$SCRATCH/4" 4
    cmp "$SCRATCH/4" "$R/step_4.safetensors"
}

@test "what was there stays in history" {
    two_experiments
    load_state "$A"
    equal "$(versions config.yaml)" "1.yaml 2.yaml 3.yaml "
    equal "$(cat "$MNT/.expfs/history/runs/r/config.yaml/2.yaml")" "lr: 0.2"
    equal "$(cat "$MNT/.expfs/history/runs/r/params.yaml/1.yaml")" "more: 1"
    equal "$(cat "$MNT/.expfs/history/runs/r/data/train/c.txt/1.txt")" c
    load_state "$B"
    equal "$(cat "$R/config.yaml" "$R/params.yaml" "$R/data/train/c.txt")" $'lr: 0.2\nmore: 1\nc'
    [[ ! -e $R/data/b.txt ]]
}

@test "an edit that was never committed is in history, too" {
    two_experiments
    printf 'lr: 0.9\n' >"$R/config.yaml"
    load_state "$A"
    equal "$(cat "$MNT/.expfs/history/runs/r/config.yaml/3.yaml")" "lr: 0.9"
    is_a
}

@test "HEAD is the loaded experiment, and nothing is pending" {
    two_experiments
    load_state "$A"
    equal "$(cat "$MNT/branches/r/HEAD")" "$A"
    equal "$(cat "$MNT/branches/r/pending")" ""
    remount
    equal "$(head_of)/$(pending)" "$A/"
    equal "$(hash_of "$R/config.yaml")" "$A"
}

@test "nothing is copied: the store has no more objects and bytes than before" {
    two_experiments
    local objects stored
    objects=$(objects)
    stored=$(space stored)
    load_state "$A"
    load_state "$B"
    load_state "$A"
    equal "$(objects)" "$objects"
    equal "$(space stored)" "$stored"
}

@test "files that are as the state had them are not touched" {
    two_experiments
    local was
    was=$(stat -c '%i %Z' "$R/data/train/a.txt" "$R/step_3.safetensors")
    load_state "$A"
    equal "$(stat -c '%i %Z' "$R/data/train/a.txt" "$R/step_3.safetensors")" "$was"
    equal "$(versions data/train/a.txt)" "1.txt "
}

@test "who has a file open reads on what it was, and another name of it keeps it" {
    two_experiments
    ln "$R/config.yaml" "$MNT/d/mine"
    exec 7<"$R/config.yaml"
    load_state "$A"
    equal "$(cat <&7)" "lr: 0.2"
    equal "$(cat "$MNT/d/mine")" "lr: 0.2"
    equal "$(stat -c %h "$MNT/d/mine")" 1
    exec 7<&-
}

@test "a directory that was removed is made again as it was" {
    two_experiments
    rm -r "$R/data"
    load_state "$A"
    is_a
    equal "$(stat -c %a "$R/data/train")" "$(stat -c %a "$SCRATCH/a/data/train")"
}

@test "names that the kernel knew, or knew to be missing, are found as they are now" {
    two_experiments
    local i
    for i in 1 2 3; do
        [[ ! -e $R/data/b.txt && -e $R/params.yaml ]]
        stat "$R/config.yaml" "$R" "$R/data" >"$SCRATCH/stat"
        load_state "$A"
        [[ -e $R/data/b.txt && ! -e $R/params.yaml ]]
        is_a
        load_state "$B"
        [[ ! -e $R/data/b.txt && -e $R/params.yaml ]]
        equal "$(cat "$R/config.yaml")" "lr: 0.2"
    done
}

# --- other runs ---

@test "the state of another run comes with paths of this one" {
    two_experiments
    mkdir "$MNT/runs/other"
    echo 'own: 1' >"$MNT/runs/other/hparams.yaml"
    load_state "$A@2" "$MNT/runs/other/"
    diff -r "$SCRATCH/a/data" "$MNT/runs/other/data"
    equal "$(ls "$MNT/runs/other" | tr '\n' ' ')" "config.yaml data step_2.safetensors "
    equal "$(head_of other)/$(pending other)/$(latest other)/$(steps other)" "$A//step_2.safetensors/2 "
    equal "$(readlink "$MNT/experiments/$A/latest")" ../../runs/r/step_3.safetensors
    equal "$(head_of)" "$B"
    weights "$MNT/runs/other/step_8.safetensors" 8
    equal "$(parent_of "$(head_of other)")" "$A"
    equal "$(steps other)" "2 8 "
}

@test "branch begins a run with a state, and the old branch stays" {
    two_experiments
    run "$EXPFS" branch "$MNT/runs/new" --from "$A@1" 3>&-
    equal "$status" 0
    equal "$output" "/runs/new: $A, /runs/new/step_1.safetensors, step 1"
    equal "$(head_of new)/$(pending new)/$(steps new)" "$A//1 "
    equal "$(head_of)/$(steps)" "$B/1 2 3 4 "
    cmp "$SCRATCH/a/config.yaml" "$MNT/runs/new/config.yaml"
    weights "$MNT/runs/new/step_2.safetensors" 22
    equal "$(parent_of "$(head_of new)")" "$A"
}

@test "branch begins with the head of a branch, or one of its checkpoints" {
    two_experiments
    (cd "$MNT" && "$EXPFS" branch n1 --from r 3>&-)
    "$EXPFS" branch n2 --from r@2 --store "$STORE" 3>&-
    "$EXPFS" branch n3 --from "${A:0:7}" --store "$STORE" 3>&-
    equal "$(head_of n1)/$(latest n1)" "$B/step_4.safetensors"
    equal "$(head_of n2)/$(latest n2)" "$A/step_2.safetensors"
    equal "$(head_of n3)/$(latest n3)" "$A/step_3.safetensors"
    equal "$("$EXPFS" branch --store "$STORE" 3>&- | sed 's/ .*//' | tr '\n' ' ')" "n1 n2 n3 r "
    refused 1 "$EXPFS" branch n4 --from r@9 --store "$STORE"
    equal "$MESSAGE" "expfs: r@9: the branch has no checkpoint of step 9; it has 1 2 3 4"
    refused 1 "$EXPFS" branch n4 --from nobody --store "$STORE"
    [[ ! -e $MNT/runs/n4 ]]
}

@test "branch begins with what a path leads to: a checkpoint, a version of one, a run, a view" {
    local n=0 from
    two_experiments
    for from in branches/r/step/0 runs/r/step_1.safetensors@1 experiments/"$A"/step/1 .expfs/history/runs/r/step_1.safetensors/1.safetensors; do
        "$EXPFS" branch "n$((++n))" --from "$MNT/$from" 3>&-
        equal "$(head_of "n$n")/$(latest "n$n")" "$A/step_1.safetensors" "from $from"
    done
    for from in runs/r branches/r branches/r/run branches/r/latest; do
        n=$((n + 1))
        (cd "$MNT" && "$EXPFS" branch "n$n" --from "./$from" 3>&-)
        equal "$(head_of "n$n")/$(latest "n$n")" "$B/step_4.safetensors" "from $from"
    done
    "$EXPFS" branch "n$((++n))" --from "$MNT/experiments/$A" 3>&-
    equal "$(latest "n$n")" step_3.safetensors
    refused 1 "$EXPFS" branch new --from "$R/config.yaml"
    [[ $MESSAGE == *"/runs/r/config.yaml: is no checkpoint with a step and an experiment; "* ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" branch new --from "$MNT/branches/nobody"
    refused 1 "$EXPFS" branch new --from "$MNT/data"
    refused 2 "$EXPFS" branch '' --from "$R"
    not test -e "$MNT/runs/new"
}

@test "branch begins with a step that the branch had, though its checkpoint was deleted or written over" {
    two_experiments
    rm "$R/step_2.safetensors"
    "$EXPFS" branch n1 --from r@2 --store "$STORE" 3>&-
    equal "$(head_of n1)/$(latest n1)" "$A/step_2.safetensors"
    weights "$SCRATCH/2" 2
    cmp "$SCRATCH/2" "$MNT/runs/n1/step_2.safetensors"
    mv "$R/step_4.safetensors" "$SCRATCH/4"
    "$EXPFS" branch n2 --from r@4 --store "$STORE" 3>&-
    equal "$(head_of n2)/$(latest n2)" "$B/step_4.safetensors"
    refused 1 "$EXPFS" branch n3 --from r@9 --store "$STORE"
}

@test "branch from a branch begins with its own latest checkpoint, though another run is further at the same experiment" {
    two_experiments
    mkdir "$MNT/runs/far"
    cp -r "$R/config.yaml" "$R/params.yaml" "$R/data" "$MNT/runs/far"
    weights "$MNT/runs/far/step_9.safetensors" 9
    equal "$(head_of far)" "$(head_of r)"
    "$EXPFS" branch n1 --from r --store "$STORE" 3>&-
    equal "$(latest n1)" step_4.safetensors
    "$EXPFS" branch n2 --from far --store "$STORE" 3>&-
    equal "$(latest n2)" step_9.safetensors
}

# The weights of a run are those of its own seeds.
same_steps_in_two_runs() {
    local i
    two_experiments
    for i in 3 4; do
        mkdir "$MNT/runs/far" 2>/dev/null || true
        cp -r "$R/config.yaml" "$R/params.yaml" "$R/data" "$MNT/runs/far"
        weights "$MNT/runs/far/step_$i.safetensors" "9$i"
    done
    equal "$(head_of far)" "$(head_of r)"
}

# has PATH SEED: it holds these weights
has() {
    weights "$SCRATCH/expected" "$2"
    cmp "$SCRATCH/expected" "$1"
}

@test "branch from a step of a branch begins with its own checkpoint of it, deleted too, before that of another run" {
    same_steps_in_two_runs
    "$EXPFS" branch n1 --from r@4 --store "$STORE" 3>&-
    has "$MNT/runs/n1/step_4.safetensors" 4
    "$EXPFS" branch n2 --from far@4 --store "$STORE" 3>&-
    has "$MNT/runs/n2/step_4.safetensors" 94
    "$EXPFS" branch n3 --from r@3 --store "$STORE" 3>&-
    has "$MNT/runs/n3/step_3.safetensors" 3
    equal "$(head_of n3)" "$A"
    rm "$R"/step_[34].safetensors
    "$EXPFS" branch n4 --from r@4 --store "$STORE" 3>&-
    has "$MNT/runs/n4/step_4.safetensors" 4
    "$EXPFS" branch n5 --from r@3 --store "$STORE" 3>&-
    has "$MNT/runs/n5/step_3.safetensors" 3
    equal "$(head_of n5)" "$A"
}

@test "a step of an experiment is loaded as the run into which it comes has it, and else as the last one that made it" {
    same_steps_in_two_runs
    load_state "$B@4"
    has "$R/step_4.safetensors" 4
    load_state "$B@4" "$MNT/runs/far/"
    has "$MNT/runs/far/step_4.safetensors" 94
    "$EXPFS" branch new --from "$B@4" --store "$STORE" 3>&-
    has "$MNT/runs/new/step_4.safetensors" 94
}

@test "branch refuses a run that is there, and what is no name of one" {
    two_experiments
    refused 3 "$EXPFS" branch "$MNT/runs/r" --from "$A"
    equal "$MESSAGE" "expfs: runs/r: is there already; name another"
    refused 2 "$EXPFS" branch "$MNT/x" --from "$A"
    refused 2 "$EXPFS" branch .hidden --from "$A" --store "$STORE"
    refused 2 "$EXPFS" branch new
    equal "$(head_of)" "$B"
}

@test "load and branch work while the store is not mounted" {
    two_experiments
    umount_store
    "$EXPFS" load "$A@1" r --store "$STORE" 3>&-
    "$EXPFS" branch new --from "$B" --store "$STORE" 3>&-
    mount_store
    is_a
    equal "$(head_of)/$(pending)/$(steps)" "$A//1 "
    equal "$(head_of new)/$(latest new)" "$B/step_4.safetensors"
}

@test "a state is loaded into the top of the mount as into any run" {
    R=$MNT two_experiments_at_the_top
}
two_experiments_at_the_top() {
    printf 'lr: 0.1\n' >"$R/config.yaml"
    mkdir -p "$R/data/train"
    echo a >"$R/data/train/a.txt"
    weights "$R/step_1.safetensors" 1
    A=$(head_of main)
    printf 'lr: 0.2\n' >"$R/config.yaml"
    rm -r "$R/data/train"
    weights "$R/step_2.safetensors" 2
    echo "$A" >"$MNT/branches/main/HEAD"
    equal "$(cat "$R/config.yaml" "$R/data/train/a.txt")" $'lr: 0.1\na'
    equal "$(head_of main)/$(pending main)/$(steps main)" "$A//1 "
    ls "$R/data/${A:16}"
}

@test "a mount that is read-only takes no load" {
    two_experiments
    umount_store
    mount_store -o ro
    refused 3 "$EXPFS" load "$A" "$R/"
    [[ $MESSAGE == *"the mount is read-only" ]]
    equal "$(errno_of bash -c "echo $A >'$MNT/branches/r/HEAD'")" "Read-only file system"
}

# --- at once with others ---

@test "what the kernel does not take in after a load is told until it does" {
    local pid
    require_root
    two_experiments
    pid=$(daemon_pid)
    # One thread of the daemon stands still, as one does that waits for a directory
    background python3 - "$(grep -l expfs-notifier /proc/"$pid"/task/*/comm | cut -d / -f 5)" "$SCRATCH/stopped" <<'PY'
import ctypes, sys, time
ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
tid = int(sys.argv[1])
for request in 0x4206, 0x4207: # PTRACE_SEIZE, PTRACE_INTERRUPT
    assert ptrace(request, tid, None, None) == 0, ctypes.get_errno()
open(sys.argv[2], "w")
time.sleep(600)
PY
    wait_until test -e "$SCRATCH/stopped"
    load_state "$A"
    grep 'the kernel does not take in that [0-9]* names' "$STORE/log"
    "$EXPFS" status "$MNT" 3>&- | grep 'the kernel does not know yet'
    kill -KILL "$BG"
    wait_until grep 'the kernel has taken in' "$STORE/log"
    not grep 'the kernel does not know yet' <("$EXPFS" status "$MNT" 3>&-)
    diff -r "$SCRATCH/a/data" "$R/data"
}

@test "loads from all sides, while names in the run come, go and are listed, come to an end" {
    two_experiments
    local i pids=()
    for i in 1 2 3 4 5 6; do
        background bash -c "for k in \$(seq 30); do echo $A@2 >'$MNT/branches/r/HEAD'; echo $B >'$MNT/branches/r/HEAD'; done" 2>/dev/null
        pids+=("$BG")
    done
    for i in 1 2 3; do
        background bash -c "for k in \$(seq 200); do echo \$k >'$R/new-$i'; mv '$R/new-$i' '$R/data/$i.tmp'; ls -lR '$R' >/dev/null; rm '$R/data/$i.tmp'; done" 2>/dev/null
        pids+=("$BG")
    done
    wait "${pids[@]}" || true
    load_state "$A"
    is_a
    equal "$(head_of)/$(pending)" "$A/"
}

# --- death ---

@test "a load replaces hundreds of files that were being changed when the daemon was killed" {
    local i files=(data/{1..150})
    mkdir "$R/data"
    for i in "${files[@]}"; do echo "$i" >"$R/$i"; done
    weights "$R/step_5.safetensors" 5
    A=$(head_of)
    background python3 -c '
import os, sys, time
os.chdir(sys.argv[1])
files = [open(f, "r+b", buffering=0) for f in sys.argv[2:]]
for f in files: f.write(b"other")
os.mkdir("written")
time.sleep(600)' "$R" "${files[@]}"
    wait_until test -d "$R/written"
    kill_daemon
    kill -KILL "$BG"
    fusermount3 -uz "$MNT"
    mount_store
    load_state "$A"
    for i in "${files[@]}"; do equal "$(cat "$R/$i")" "$i"; done
}

@test "the daemon killed in the midst of loads leaves one whole state" {
    two_experiments
    local i rounds=8 head
    long && rounds=100
    for i in $(seq $rounds); do
        background bash -c "while :; do echo $A@2 >'$MNT/branches/r/HEAD' && echo $B >'$MNT/branches/r/HEAD' || exit 0; done" 2>/dev/null
        sleep "0.$((RANDOM % 4 + 1))"
        kill_daemon
        wait "$BG" 2>/dev/null || true
        mount_store -o allow_other
        head=$(head_of)
        equal "$(pending)" ""
        if [[ $head == "$A" ]]; then
            is_a
            equal "$(latest)" step_2.safetensors
        else
            equal "$head" "$B"
            equal "$(cat "$R/config.yaml" "$R/params.yaml" "$R/data/train/c.txt")" $'lr: 0.2\nmore: 1\nc'
            [[ ! -e $R/data/b.txt ]]
        fi
        umount_store
        "$EXPFS" fsck "$STORE" >/dev/null 3>&-
        mount_store -o allow_other
    done
}

# closed_dir: a checkpoint that is a version, with two directories, one of which was closed since
closed_dir() {
    echo 'lr: 0.1' >"$R/config.yaml"
    checkpoint_dir 10 1 open/shared.txt secret/opt.txt
    chmod 755 "$SCRATCH" "$MNT"
    H=$MNT/.expfs/history/runs/r/checkpoint-10/1
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/checkpoint-10
    as_nobody cat "$H/secret/opt.txt"
    chmod 700 "$R/checkpoint-10/secret"
}

@test "what lies in a closed directory of a checkpoint is closed in history and to a load" {
    closed_dir
    local a
    a=$(head_of)
    as_nobody cat "$H/open/shared.txt"
    not as_nobody cat "$H/secret/opt.txt"
    mkdir "$MNT/runs/n"
    chown nobody "$MNT/runs/n"
    as_nobody sh -c "echo 'lr: 0.2' >'$MNT/runs/n/config.yaml'"
    not as_nobody sh -c "echo $a >'$MNT/branches/n/HEAD'"
    not test -e "$MNT/runs/n/checkpoint-10"
    chmod 755 "$R/checkpoint-10/secret"
    readlink "$MNT/branches/r/latest"
    as_nobody cat "$H/secret/opt.txt"
    as_nobody sh -c "echo $a >'$MNT/branches/n/HEAD'"
}

@test "what was closed in a checkpoint before it went stays closed, also while it is not judged" {
    closed_dir
    chmod 600 "$R/checkpoint-10/open/shared.txt"
    exec 7>>"$R/checkpoint-10/model.safetensors" # it cannot be judged
    echo >&7
    not as_nobody cat "$H/secret/opt.txt"
    not as_nobody cat "$H/open/shared.txt"
    exec 7>&-
    rm -r "$R/checkpoint-10"
    not as_nobody cat "$H/secret/opt.txt"
    not as_nobody cat "$H/open/shared.txt"
    as_nobody cat "$H/trainer_state.json"
}
