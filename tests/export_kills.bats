# expfs export that is killed, interrupted or fails between two steps: a whole pair is there.

load export

@test "killed at random it leaves each time a whole pair of known versions" {
    "$EXPFS_SRCDIR/tests/crash/exporter.py" --expfs "$EXPFS" --dir "$SCRATCH/crash" --rounds "$(long && echo 100 || echo 12)"
}

@test "killed at random where directories cannot take each other's place in one step it leaves a whole pair, too" {
    "$EXPFS_SRCDIR/tests/crash/exporter.py" --expfs "$EXPFS" --dir "$SCRATCH/crash" --no-exchange --rounds "$(long && echo 100 || echo 12)"
}

@test "killed at each rename of a directory's place being taken, in one step or two, it leaves a whole one" {
    local when call
    set_of 1 1
    export_run
    cp -r "$X" "$SCRATCH/old"
    set_of 2 2
    for call in renameat2 renameat; do
        for when in 1 2 3 4; do
            rm -rf "$X" "$STORE/exports"
            cp -rp "$SCRATCH/old" "$X"
            traced -f -o /dev/null -e trace=renameat,renameat2 -e inject=$call:signal=KILL:when=$when \
                $([[ $call == renameat ]] && echo -e inject=renameat2:error=EINVAL) "$EXPFS" export "$R" "$X" || true
            diff -rq "$X/latest" "$R/checkpoint-1" || diff -rq "$X/latest" "$R/checkpoint-2" || diff -rq "$X/.expfs-old-latest" "$R/checkpoint-1"
            export_run
            diff -r "$X/latest" "$R/checkpoint-2"
            equal "$(ls -A "$X")" latest
        done
    done
}

@test "a latest that was one file is there until the directory of its name is, and the other way round" {
    set_of 1 1
    export_run
    umount_store
    printf 'roles:\n  WEIGHTS: ["state_<n>"]\n' >"$STORE/config.yaml"
    mount_store
    rm -r "$R/checkpoint-1"
    save state_2 2
    traced -f -o /dev/null -e trace=renameat2,fsync -e inject=fsync:error=ENOSPC:when=1 "$EXPFS" export "$R" "$X" && fail "done"
    [[ -f $X/latest/model.safetensors ]] || fail "$(find "$X")"
    export_run
    holds latest
    cmp "$X/latest" "$R/state_2"
    set_of 3 3
    traced -f -o /dev/null -e trace=renameat2,fsync -e inject=fsync:error=ENOSPC:when=1 "$EXPFS" export "$R" "$X" && fail "done"
    cmp "$X/latest" "$R/state_2"
    export_run
    diff -r "$X/latest" "$R/checkpoint-3"
}

@test "a directory in a checkpoint that becomes a file leaves the former checkpoint whole until the new one is" {
    set_of 1 1
    export_run
    cp -r "$X" "$SCRATCH/old"
    set_of 2 2
    rm -r "$R/checkpoint-2/sub"
    echo '{}' >"$R/checkpoint-2/sub"
    traced -f -o /dev/null -e trace=fsync -e inject=fsync:error=ENOSPC:when=1 "$EXPFS" export "$R" "$X" && fail "done"
    diff -r "$X" "$SCRATCH/old"
    export_run
    diff -r "$X/latest" "$R/checkpoint-2"
}

@test "a directory that had to make room is kept while what has its name is not what export put there" {
    local when
    set_of 1 1
    export_run
    cp -r "$X/latest" "$SCRATCH/old"
    set_of 2 2
    for when in 2 3 4 5; do
        [[ ! -e $X/latest ]] || traced -f -o /dev/null -e trace=renameat,renameat2 -e inject=renameat2:error=EINVAL \
            -e inject=renameat:signal=KILL:when=$when "$EXPFS" export "$R" "$X" || true
    done
    [[ -d $X/.expfs-old-latest && ! -e $X/latest ]] || fail "$(ls -A "$X")"
    mkdir "$X/latest"
    cp "$SCRATCH/old/trainer_state.json" "$X/latest/"
    refused 3 "$EXPFS" export "$R" "$X"
    [[ $MESSAGE == *"$X/latest: another made it while an export was killed; what export had there is .expfs-old-latest; "* ]] || fail "$MESSAGE"
    diff -r "$X/.expfs-old-latest" "$SCRATCH/old"
    rm -r "$X/latest"
    export_run
    diff -r "$X/latest" "$R/checkpoint-2"
    equal "$(ls -A "$X")" latest
}

@test "an interrupted export leaves the pair as it was, and no temporaries" {
    require_command strace pgrep
    export ASAN_OPTIONS=detect_leaks=0
    two
    export_run
    cp -rp "$X" "$SCRATCH/old"
    save step_3.pt 3
    losses 3 0.1
    background strace -o /dev/null -e trace=fsync -e inject=fsync:delay_enter=2000000:when=1 "$EXPFS" export "$R" "$X" 2>"$SCRATCH/told"
    wait_until test -e "$X/.expfs-part-latest.pt"
    kill -INT "$(pgrep -P "$BG")"
    wait_until no_process "$BG"
    diff -r "$X" "$SCRATCH/old"
    [[ $(cat "$SCRATCH/told") == *"stopped; what was there before is as it was" ]] || fail "$(cat "$SCRATCH/told")"
    export_run
    cmp "$X/best.pt" "$R/step_3.pt"
}
