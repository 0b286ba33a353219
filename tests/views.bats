# branches/<name>/ and .expfs/ of each directory: read-only, never listed where programs look, never wrong.

load lib

setup() {
    scratch
    store_init
    mount_store
    R=$MNT/runs/r
    V=$MNT/branches/r
    mkdir "$R"
}
teardown() { cleanup; }

SIZE=200000

# save PATH SEED: a whole zip checkpoint
save() { checkpoint zip "$1" $SIZE "$2"; }

# latest_is PATH: both views of the run lead there and give its bytes
latest_is() {
    local view
    for view in "$V/latest" "$R/.expfs/latest"; do
        equal "$(stat -c %s "$view")" "$(readlink -n "$view" | wc -c)" "size of ${view#"$MNT"/}"
        equal "$(readlink -f "$view")" "$1" "${view#"$MNT"/}"
        equal "$(stat -Lc %i "$view")" "$(stat -c %i "$1")" "inode behind ${view#"$MNT"/}"
    done
}

# no_latest: there is none
no_latest() {
    local view
    for view in "$V/latest" "$R/.expfs/latest"; do
        [[ ! -L $view && ! -e $view ]] || fail "$view leads to $(readlink "$view")"
    done
}

# hold PATH: keeps the path open for writing in a background process until release
hold() {
    background python3 -c 'import sys, time; f = open(sys.argv[1], "wb"); f.write(b"PK\x03\x04 half"); f.flush(); open(sys.argv[2], "w").close(); time.sleep(300)' "$1" "$SCRATCH/held"
    HOLDER=$BG
    wait_until test -e "$SCRATCH/held"
    rm "$SCRATCH/held"
}

release() {
    kill -KILL "$HOLDER"
    wait "$HOLDER" 2>/dev/null || true
}

# --- the tree ---

@test "a branch of each run is shown once it holds a file with a role" {
    not test -e "$V"
    echo text >"$R/notes.txt"
    not test -e "$V"
    save "$R/step_1.pt" 1
    equal "$(ls "$V" | tr '\n' ' ')" "HEAD latest log manifest.yaml pending run step "
    grep -qx r <(ls "$MNT/branches")
    equal "$(readlink "$V/run")" ../../runs/r
    [[ $V/run/step_1.pt -ef $R/step_1.pt ]]
}

@test "the top of the mount is the branch main" {
    save "$MNT/step_3.pt" 1
    equal "$(readlink -f "$MNT/branches/main/latest")" "$MNT/step_3.pt"
    [[ $MNT/branches/main/run -ef $MNT ]]
    equal "$(readlink -f "$MNT/.expfs/latest")" "$MNT/step_3.pt"
    save "$R/step_9.pt" 2
    equal "$(readlink -f "$MNT/branches/main/latest")" "$MNT/step_3.pt" "a run's file belongs to the run"
    latest_is "$R/step_9.pt"
}

@test "a renamed run renames its branch, and a removed one shows no checkpoint that is gone" {
    save "$R/step_1.pt" 1
    mv "$R" "$MNT/runs/renamed"
    equal "$(readlink -f "$MNT/branches/renamed/latest")" "$MNT/runs/renamed/step_1.pt"
    not test -e "$V/latest"
    rm -r "$MNT/runs/renamed"
    not test -e "$MNT/branches/renamed/latest"
}

@test "a directory with a leading dot is no run" {
    mkdir "$MNT/runs/.hidden"
    save "$MNT/runs/.hidden/step_1.pt" 1
    not test -e "$MNT/branches/.hidden"
    equal "$(ls -A "$MNT/branches")" main
}

@test "links in views are relative and resolve when the mount is somewhere else" {
    save "$R/step_1.pt" 1
    mkdir "$R/checkpoint-5"
    echo '{}' >"$R/checkpoint-5/trainer_state.json"
    save "$R/checkpoint-5/model.pt" 2
    local link
    for link in "$V/latest" "$V/run" "$V/step/1" "$R/.expfs/latest" "$R/.expfs/step/5"; do
        [[ -L $link && $(readlink "$link") != /* ]] || fail "$link -> $(readlink "$link")"
        equal "$(stat -c %s "$link")" "$(readlink -n "$link" | wc -c)" "size of $link"
    done
    umount_store
    mkdir "$SCRATCH/elsewhere"
    MNT=$SCRATCH/elsewhere
    D=$MNT/d
    mount_store
    equal "$(readlink -f "$MNT/branches/r/latest")" "$MNT/runs/r/checkpoint-5"
    equal "$(readlink -f "$MNT/runs/r/.expfs/step/1")" "$MNT/runs/r/step_1.pt"
}

@test "latest works as a link, a file, a directory and a real path" {
    save "$R/step_1.pt" 1
    python3 - "$V/latest" "$R/step_1.pt" <<'PY'
import os, sys, zipfile
view, real = sys.argv[1:]
assert os.path.islink(view) and os.path.isfile(view) and os.path.realpath(view) == real
assert zipfile.ZipFile(view).testzip() is None
PY
    mkdir "$R/checkpoint-2"
    save "$R/checkpoint-2/model.pt" 2
    echo '{}' >"$R/checkpoint-2/trainer_state.json"
    python3 - "$V/latest" "$R/checkpoint-2" <<'PY'
import os, sys
view, real = sys.argv[1:]
assert os.path.isdir(view) and os.path.realpath(view) == real
assert sorted(os.listdir(view)) == ["model.pt", "trainer_state.json"]
assert os.path.exists(os.path.realpath(os.path.join(view, "model.pt")))
PY
}

# --- read-only, unlisted ---

@test "views answer EROFS to every change and rm -rf removes nothing" {
    save "$R/step_1.pt" 1
    local c before
    before=$(find "$MNT" | sort)
    for c in "touch $V/new" "mkdir $V/new" "rm $V/latest" "rmdir $V/step" "ln -s x $V/new" "mv $V/latest $V/other" \
        "rm $V/step/1" "touch $V/step/new" "rmdir $V" "mv $R/step_1.pt $V/new" "ln $R/step_1.pt $V/new" \
        "chmod 777 $V" "touch -d 2020-01-01 $V/step" "rm $R/.expfs/latest" "touch $R/.expfs/new" "mkdir $MNT/.expfs/new"; do
        # shellcheck disable=SC2086 # a command and its words
        equal "$(errno_of $c)" "Read-only file system" "$c"
    done
    run rm -rf "$V"
    ((status != 0)) || fail "rm -rf of a view succeeded"
    run rm -rf "$V/step"
    ((status != 0)) || fail "rm -rf of step/ succeeded"
    equal "$(find "$MNT" | sort)" "$before"
    latest_is "$R/step_1.pt"
}

@test "rm -rf of a run goes through although it has views, and removes them" {
    save "$R/step_1.pt" 1
    ls "$R/.expfs" >/dev/null
    rm -rf "$R"
    [[ ! -e $R ]]
    not test -e "$V/latest"
}

@test ".expfs exists everywhere, is listed nowhere, and can be neither made, renamed nor removed" {
    local dir c
    mkdir -p "$D/a"
    for dir in "$MNT" "$MNT/runs" "$R" "$D" "$D/a"; do
        [[ -d $dir/.expfs ]] || fail "no $dir/.expfs"
        not grep -qx .expfs <(ls -a "$dir")
    done
    for c in "mkdir $D/.expfs" "mkdir $D/a/.expfs"; do
        # shellcheck disable=SC2086 # a command and its words
        equal "$(errno_of $c)" "File exists" "$c"
    done
    for c in "rmdir $D/.expfs" "mv $D/.expfs $D/x" "mv -T $D/a $D/.expfs" "ln -sT x $D/.expfs"; do
        # shellcheck disable=SC2086 # a command and its words
        run errno_of $c
        equal "$status" 0 "$c fails"
    done
    [[ -d $D/.expfs && -d $D/a ]]
    rm -r "$D/a"
    rm -r "$D"
    mkdir "$D"
}

@test "a directory with nothing in it but .expfs can be removed" {
    mkdir "$D/empty"
    ls "$D/empty/.expfs" >/dev/null
    rmdir "$D/empty"
    [[ ! -e $D/empty/.expfs ]]
}

@test "what a program makes in branches/ stands in front of a view of that name" {
    mkdir "$MNT/branches/r"
    echo own >"$MNT/branches/r/latest"
    save "$R/step_1.pt" 1
    equal "$(cat "$MNT/branches/r/latest")" own
    equal "$(ls "$MNT/branches" | grep -cx r)" 1
    rm -r "$MNT/branches/r"
    latest_is "$R/step_1.pt"
}

@test "a walk of the whole mount ends, follows no cycle, and shows few more entries than there are" {
    local i
    for i in $(seq 30); do save "$R/step_$i.pt" "$i"; done
    local all real
    real=$(find "$MNT/runs" | wc -l)
    all=$(find "$MNT" | wc -l)
    ((all < real * 3 + 50)) || fail "$all entries for $real real ones"
    timeout 60 find -L "$MNT/branches" -type f 2>/dev/null | wc -l >/dev/null || true
    timeout 60 du -a "$MNT" >/dev/null
    timeout 60 grep -rq nothing-has-this "$MNT" || true
    timeout 60 ls -lR "$MNT" >/dev/null
    timeout 60 tar -C "$MNT" -cf - . | tar -tf - >/dev/null
}

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

# --- steps ---

@test "step/ lists the steps in the order of numbers" {
    local n
    for n in 100 9 10 99 1000000; do save "$R/step_$n.pt" $n; done
    equal "$(ls -U "$V/step" | tr '\n' ' ')" "9 10 99 100 1000000 "
    equal "$(ls -U "$R/.expfs/step" | tr '\n' ' ')" "9 10 99 100 1000000 "
}

@test "step/<n> is the nearest checkpoint, ties go to the higher, and padding does not matter" {
    local n
    for n in 10 20 100; do save "$R/step_$n.pt" $n; done
    local asked wanted
    while read -r asked wanted; do
        equal "$(readlink -f "$V/step/$asked")" "$R/step_$wanted.pt" "step/$asked of the branch"
        equal "$(readlink -f "$R/.expfs/step/$asked")" "$R/step_$wanted.pt" "step/$asked of the directory"
    done <<'EOT'
0 10
10 10
14 10
15 20
59 20
60 100
61 100
999999999999 100
99999999999999999999999 100
-1 10
-99999999999999999999999 10
EOT
    for asked in x - --1 1x 1.5 +1; do
        not test -e "$V/step/$asked"
    done
}

@test "step/<n> is the whole version when its checkpoint is torn, and the next nearest when it is deleted" {
    save "$R/step_10.pt" 1
    save "$R/step_20.pt" 2
    equal "$(readlink -f "$V/step/20")" "$R/step_20.pt"
    cp "$R/step_20.pt" "$SCRATCH/whole"
    checkpoint torn-zip "$R/step_20.pt" $SIZE 2
    equal "$(readlink -f "$V/step/20")" "$MNT/.expfs/history/runs/r/step_20.pt/1.pt"
    cmp "$V/step/20" "$SCRATCH/whole"
    rm "$R/step_20.pt"
    equal "$(readlink -f "$V/step/20")" "$R/step_10.pt"
    equal "$(ls "$V/step")" 10
    rm "$R/step_10.pt"
    not test -e "$V/step/20"
}

@test "a step with zeros before it is that number, and the width does not matter" {
    save "$R/0011223344556677889900aa_step_999900.pt" 1
    save "$R/0011223344556677889900aa_step_1000000.pt" 2
    latest_is "$R/0011223344556677889900aa_step_1000000.pt"
    equal "$(ls -U "$V/step" | tr '\n' ' ')" "999900 1000000 "
    local n
    for n in 100000 0900000; do
        mkdir -p "$D/dirs/$n"
        bytes "$D/dirs/$n/array" 1000 "$n"
        echo '{}' >"$D/dirs/$n/.metadata"
    done
    equal "$(ls -U "$D/dirs/.expfs/step" | tr '\n' ' ')" "100000 900000 "
    equal "$(readlink -f "$D/dirs/.expfs/step/900000")" "$D/dirs/0900000"
    equal "$(readlink -f "$D/dirs/.expfs/latest")" "$D/dirs/0900000"
}

@test "a step after an epoch is the step" {
    save "$R/epoch=2-step=700.ckpt" 1
    save "$R/epoch=10-step=3.ckpt" 2
    save "$R/iter-120000.pt" 3
    save "$R/iter-1080000.pt" 4
    equal "$(ls -U "$V/step" | tr '\n' ' ')" "3 700 120000 1080000 "
    latest_is "$R/iter-1080000.pt"
}

@test "WeightsLab's layout has its views below the top" {
    local dir=$MNT/checkpoints/models/b5a79a78 h=3dfd9bbfb5a79a78bb73166f
    mkdir -p "$dir"
    save "$dir/${h}_step_000010.pt" 1
    save "$dir/${h}_step_000020.pt" 2
    equal "$(readlink -f "$dir/.expfs/latest")" "$dir/${h}_step_000020.pt"
    equal "$(ls -U "$dir/.expfs/step" | tr '\n' ' ')" "10 20 "
    equal "$(readlink -f "$dir/.expfs/step/12")" "$dir/${h}_step_000010.pt"
}

# --- xattrs ---

@test "role, step, digest and complete are readable and not listed" {
    save "$R/step_12.pt" 1
    echo 'lr: 0.1' >"$R/config.yaml"
    checkpoint torn-zip "$R/step_13.pt" $SIZE 2
    equal "$(xattr "$R/step_12.pt" user.expfs.role)" WEIGHTS
    equal "$(xattr "$R/step_12.pt" user.expfs.step)" 12
    equal "$(xattr "$R/step_12.pt" user.expfs.complete)" 1
    equal "$(xattr "$R/step_13.pt" user.expfs.complete)" 0
    equal "$(xattr "$R/config.yaml" user.expfs.role)" HP
    equal "$(xattr "$R/config.yaml" user.expfs.step)" ""
    mkdir "$R/checkpoint-5"
    save "$R/checkpoint-5/model.pt" 3
    equal "$(xattr "$R/checkpoint-5" user.expfs.complete)" 0
    echo '{}' >"$R/checkpoint-5/trainer_state.json"
    equal "$(xattr "$R/checkpoint-5" user.expfs.complete)" 1
    equal "$(xattr "$R/checkpoint-5" user.expfs.role)" WEIGHTS
    equal "$(xattr "$R/checkpoint-5" user.expfs.step)" 5
    equal "$(xattr "$R/checkpoint-5/model.pt" user.expfs.step)" ""
    python3 - "$R" <<'PY'
import os, sys
for name in os.listdir(sys.argv[1]): assert os.listxattr(os.path.join(sys.argv[1], name)) == [], name
PY
    echo log >"$R/train.log"
    equal "$(xattr "$R/train.log" user.expfs.role)" ""
}

@test "user.expfs.digest is the XXH3-128 of the content and changes with it" {
    require_command xxh128sum
    save "$R/step_1.pt" 1
    equal "$(xattr "$R/step_1.pt" user.expfs.digest)" "$(xxh128sum <"$R/step_1.pt" | cut -d' ' -f1)"
    save "$R/step_1.pt" 2
    equal "$(xattr "$R/step_1.pt" user.expfs.digest)" "$(xxh128sum <"$R/step_1.pt" | cut -d' ' -f1)"
    printf x | dd of="$R/step_1.pt" bs=1 seek=100 conv=notrunc status=none
    equal "$(xattr "$R/step_1.pt" user.expfs.digest)" "$(xxh128sum <"$R/step_1.pt" | cut -d' ' -f1)"
    remount
    equal "$(xattr "$R/step_1.pt" user.expfs.digest)" "$(xxh128sum <"$R/step_1.pt" | cut -d' ' -f1)"
}

@test "user.expfs.sha256 is that of the content, of an empty file and of a large one too, and of none while it is written" {
    save "$R/step_1.pt" 1
    bytes "$R/last.pt" 9000001 2
    : >"$R/config.yaml"
    echo '{"loss": 1}' >"$R/metrics.jsonl"
    local f
    for f in step_1.pt last.pt config.yaml metrics.jsonl; do
        equal "$(xattr "$R/$f" user.expfs.sha256)" "$(sha256sum <"$R/$f" | cut -d' ' -f1)" "sha256 of $f"
    done
    printf x | dd of="$R/step_1.pt" bs=1 seek=100 conv=notrunc status=none
    equal "$(xattr "$R/step_1.pt" user.expfs.sha256)" "$(sha256sum <"$R/step_1.pt" | cut -d' ' -f1)"
    exec 7>>"$R/last.pt"
    echo more >&7
    equal "$(xattr "$R/last.pt" user.expfs.sha256)" ""
    exec 7>&-
    equal "$(xattr "$R/last.pt" user.expfs.sha256)" "$(sha256sum <"$R/last.pt" | cut -d' ' -f1)"
    echo log >"$R/train.log"
    mkdir "$R/checkpoint-5"
    equal "$(xattr "$R/train.log" user.expfs.sha256)$(xattr "$R/checkpoint-5" user.expfs.sha256)" ""
}

@test "user.expfs.version is the number of the version that the path holds" {
    echo 1 >"$R/config.yaml"
    equal "$(xattr "$R/config.yaml" user.expfs.version)" 1
    echo 2 >"$R/config.yaml"
    equal "$(xattr "$R/config.yaml" user.expfs.version)" 2
    exec 7>"$R/config.yaml"
    echo 3 >&7
    equal "$(xattr "$R/config.yaml" user.expfs.version)" ""
    exec 7>&-
    equal "$(xattr "$R/config.yaml" user.expfs.version)" 3
    remount
    equal "$(xattr "$R/config.yaml" user.expfs.version)" 3
    checkpoint torn-zip "$R/step_13.pt" $SIZE 2
    equal "$(xattr "$R/step_13.pt" user.expfs.version)" 1
    mkdir "$R/checkpoint-5"
    save "$R/checkpoint-5/model.pt" 3
    equal "$(xattr "$R/checkpoint-5" user.expfs.version)" ""
    echo '{}' >"$R/checkpoint-5/trainer_state.json"
    equal "$(xattr "$R/checkpoint-5" user.expfs.version)" 1
    echo '{"more": 1}' >"$R/checkpoint-5/trainer_state.json"
    equal "$(xattr "$R/checkpoint-5" user.expfs.version)" 2
    rm "$R/config.yaml"
    echo 4 >"$R/config.yaml"
    equal "$(xattr "$R/config.yaml" user.expfs.version)" 4
    mkdir -p "$R/orbax/1/d" "$R/orbax/2"
    touch "$R/orbax/1/_CHECKPOINT_METADATA"
    echo x >"$R/orbax/1/d/0"
    equal "$(xattr "$R/orbax/1" user.expfs.role) $(xattr "$R/orbax/1" user.expfs.step) $(xattr "$R/orbax/1" user.expfs.tier)" "WEIGHTS 1 hot"
}

@test "user.expfs.tier and user.expfs.stored_bytes tell of anything with a role, checkpoint directories too" {
    save "$R/step_1.pt" 1
    mkdir "$R/checkpoint-5" "$R/plain"
    save "$R/checkpoint-5/a.pt" 2
    save "$R/checkpoint-5/b.pt" 3
    equal "$(xattr "$R/step_1.pt" user.expfs.tier)/$(xattr "$R/checkpoint-5" user.expfs.tier)" hot/hot
    equal "$(xattr "$R/step_1.pt" user.expfs.stored_bytes)" "$(($(stat -c %b "$R/step_1.pt") * 512))"
    equal "$(xattr "$R/checkpoint-5" user.expfs.stored_bytes)" \
        "$((($(stat -c %b "$R/checkpoint-5/a.pt") + $(stat -c %b "$R/checkpoint-5/b.pt")) * 512))"
    equal "$(xattr "$R/plain" user.expfs.tier)$(xattr "$R/plain" user.expfs.stored_bytes)" ""
}

@test "user.expfs.note is set, read, listed and removed as any other, and goes with a copy" {
    save "$R/step_1.pt" 1
    python3 - "$R" <<'PY'
import os, shutil, sys
path, name = sys.argv[1] + "/step_1.pt", "user.expfs.note"
os.setxattr(path, name, "the good one: é".encode())
assert os.getxattr(path, name).decode() == "the good one: é"
assert os.listxattr(path) == [name]
shutil.copy2(path, sys.argv[1] + "/step_2.pt")
assert os.getxattr(sys.argv[1] + "/step_2.pt", name).decode() == "the good one: é"
os.removexattr(path, name)
assert os.listxattr(path) == []
PY
}

@test "xattrs of expfs cannot be set or removed, and copies do not carry them" {
    save "$R/step_1.pt" 1
    local name
    for name in role step digest complete sha256 version tier stored_bytes; do
        python3 - "$R/step_1.pt" "user.expfs.$name" <<'PY'
import os, sys
for call in (lambda: os.setxattr(sys.argv[1], sys.argv[2], b"9"), lambda: os.removexattr(sys.argv[1], sys.argv[2])):
    try: call()
    except OSError: continue
    raise SystemExit(sys.argv[2] + " was changed")
PY
    done
    equal "$(xattr "$R/step_1.pt" user.expfs.step)" 1
    cp -a "$R/step_1.pt" "$R/step_2.pt"
    equal "$(xattr "$R/step_2.pt" user.expfs.step)" 2
}
