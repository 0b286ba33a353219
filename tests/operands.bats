# What stands where commands want a path or a branch: nothing, a view, a directory, what is not there.

load lib

setup() {
    mount_run
    echo 'lr: 0.1' >"$R/config.yaml"
    checkpoint zip "$R/step_1.pt" 1000 1
}
teardown() { cleanup; }

@test "a view of a branch stands for the branch where one may be named" {
    echo '{"step": 1, "loss": 2}' >"$R/metrics.jsonl"
    mkdir "$MNT/runs/other"
    echo 'lr: 0.2' >"$MNT/runs/other/config.yaml"
    "$EXPFS" commit "$V" 3>&- | grep -q '^r: '
    equal "$("$EXPFS" log "$V" 3>&-)" "$("$EXPFS" log r --store "$STORE" 3>&-)"
    equal "$(cd "$V" && "$EXPFS" log 3>&-)" "$("$EXPFS" log r --store "$STORE" 3>&-)"
    "$EXPFS" signal "$V" loss 3>&- | grep -q ' 2 *loss$'
    "$EXPFS" load "$(cat "$V/HEAD")" "$V" 3>&- | grep -q '^/runs/r: '
    rm -r "$R"
    equal "$("$EXPFS" log "$V" 3>&- | head -n 1)" "$("$EXPFS" log r --store "$STORE" 3>&- | head -n 1)"
    mkdir -p "$MNT/branches/own/deeper"
    not "$EXPFS" log "$MNT/branches/own/nothing" 3>&- 2>/dev/null
}

@test "where a view names no version, commands say what to give, as it is typed" {
    local c
    for c in du history verify show select restore forget "diff $R/step_1.pt"; do
        # shellcheck disable=SC2086 # several words
        refused 1 "$EXPFS" $c "$V"
        equal "$MESSAGE" "expfs: /branches/r: is a view of a branch; give a checkpoint that is found there, as $MNT/branches/r/latest, or its run, $R"
    done
    refused 1 "$EXPFS" history "$V/HEAD"
    refused 1 "$EXPFS" du "$MNT/branches/none"
    equal "$MESSAGE" "expfs: /branches/none: there is no such branch; expfs status shows them"
    for c in du history show log signal commit; do
        refused 1 "$EXPFS" $c "$MNT/experiments/$(cat "$V/HEAD")"
        [[ $MESSAGE == *": lies among views; give what a link there leads to"* ]] || fail "of $c: $MESSAGE"
    done
    rm -r "$R"
    refused 1 "$EXPFS" history "$V"
    [[ $MESSAGE == *"whose run was removed"*" $MNT/branches/r/latest, "*" $R" ]] || fail "$MESSAGE"
}

@test "without a path log and du tell of the working directory, with a store of all of it" {
    mkdir "$MNT/runs/other"
    echo 'lr: 0.2' >"$MNT/runs/other/config.yaml"
    "$EXPFS" commit "$MNT/runs/other" >/dev/null 3>&-
    equal "$(cd "$R" && "$EXPFS" log 3>&- | grep -c '^experiment')" 1
    equal "$(cd "$MNT" && "$EXPFS" log 3>&- | grep -c '^experiment')" 2
    equal "$(cd "$R" && "$EXPFS" log --store "$STORE" 3>&- | grep -c '^experiment')" 2
    equal "$(cd "$R" && "$EXPFS" du 3>&-)" "$("$EXPFS" du "$R" 3>&-)"
    equal "$(cd "$R" && "$EXPFS" du --store "$STORE" 3>&-)" "$("$EXPFS" du "$MNT" 3>&-)"
}

@test "branch without --from, and with an empty name, says what is wanted" {
    refused 2 "$EXPFS" branch "$MNT"
    [[ $MESSAGE == "expfs: branch: $MNT: --from is wanted, "*"expfs branch --store STORE" ]] || fail "$MESSAGE"
    refused 2 "$EXPFS" branch '' --from r --store "$STORE"
    equal "$MESSAGE" "expfs: branch: '': is no name of a run; give NAME, or PATH/runs/NAME"
}

@test "report says of a directory, of one that is not there and of a view that it writes no page there" {
    mkdir "$SCRATCH/dir"
    refused 2 "$EXPFS" report "$SCRATCH/dir/" --store "$STORE"
    equal "$MESSAGE" "expfs: $SCRATCH/dir/: is a directory; name the file: expfs report $SCRATCH/dir/report.html"
    refused 3 "$EXPFS" report "$SCRATCH/none/r.html" --store "$STORE"
    [[ $MESSAGE == "expfs: $SCRATCH/none: No such file or directory; "* ]] || fail "$MESSAGE"
    refused 2 "$EXPFS" report "$MNT/.expfs/report.html"
    [[ $MESSAGE == "expfs: $MNT/.expfs/report.html: $MNT/.expfs shows what is made up, and takes no file; "* ]] || fail "$MESSAGE"
}

@test "what is no path but a branch, the begin of a hash, or spelt otherwise is told as that" {
    local c
    cd "$MNT"
    for c in verify history select show; do
        refused 1 "$EXPFS" $c r
        equal "$MESSAGE" "expfs: /r: is not there, and has no version; of the branch r give a checkpoint, as $MNT/branches/r/latest"
    done
    for c in 6b 6b@1; do
        refused 1 "$EXPFS" show $c
        equal "$MESSAGE" "expfs: $c: nothing here has that name; of a hash give at least 4 characters"
    done
    refused 3 "$EXPFS" verify "$R/step_1.pt" --against "$SCRATCH/absent"
    [[ $MESSAGE == "expfs: $SCRATCH/absent: is not there, and in no expfs mount; "* ]] || fail "$MESSAGE"
}

@test "status takes the view of a branch for that, and says of other views what they are" {
    mkdir "$MNT/runs/other"
    echo "lr: 0.1" >"$MNT/runs/other/config.yaml"
    "$EXPFS" status "$V" 3>&- | grep '^branches\|^ *other' >"$SCRATCH/out"
    grep -q '^branches  r: ' "$SCRATCH/out"
    not grep other "$SCRATCH/out"
    rm -r "$R"
    "$EXPFS" status "$V" 3>&- | grep -q '^branches  r (removed): '
    refused 1 "$EXPFS" status "$MNT/.expfs"
    [[ $MESSAGE == "expfs: /.expfs: lies among views; "* ]] || fail "$MESSAGE"
}

@test "what was given in the wrong order, or is in the mount, is told as that" {
    mkdir "$SCRATCH/drive"
    refused 2 "$EXPFS" export "$SCRATCH/drive" "$R"
    equal "$MESSAGE" "expfs: $R: is in a mount, and $SCRATCH/drive in none; what is exported comes first, and the folder behind it"
    cd "$MNT"
    refused 3 "$EXPFS" import "$R"
    equal "$MESSAGE" "expfs: $R: is in this mount already; for a second one of it name another DEST"
    refused 3 "$EXPFS" init "$R/store"
    [[ $MESSAGE == "expfs: $R/store: is in the mount of a store, $STORE; "* ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" export wt "$SCRATCH/drive" --watch
    equal "$MESSAGE" "expfs: wt: there is no such branch yet; of a directory the first checkpoint is waited for: make $MNT/runs/wt, and name that"
}

@test "forget says how what a removed run left is named" {
    mkdir "$MNT/runs/gone"
    echo "lr: 0.1" >"$MNT/runs/gone/config.yaml"
    rm -r "$MNT/runs/gone"
    refused 1 "$EXPFS" forget "$MNT/runs/gone"
    [[ $MESSAGE == *"; name a path in it, as $MNT/runs/gone/NAME; those of which something is known are below $MNT/.expfs/history/runs/gone" ]] ||
        fail "$MESSAGE"
    refused 1 "$EXPFS" forget "$MNT/.expfs/history/runs/gone/config.yaml/1.yaml"
    [[ $MESSAGE == *": lies in the view of history; name the path whose versions these are: $MNT/runs/gone/config.yaml@1" ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" forget "$MNT/.expfs/history/runs/gone/config.yaml"
    [[ $MESSAGE == *" these are: $MNT/runs/gone/config.yaml" ]] || fail "$MESSAGE"
    "$EXPFS" forget "$MNT/runs/gone/config.yaml" 3>&-
    not ls "$MNT/branches/gone" 2>/dev/null
}

@test "export tells of a file that is called as a checkpoint and has no role, and of --files that there are none" {
    mkdir "$MNT/runs/own"
    echo "{}" >"$MNT/runs/own/config.json"
    echo "lr: 0.1" >"$MNT/runs/own/config.yaml"
    echo x >"$MNT/runs/own/step_100.pkl"
    refused 1 "$EXPFS" export "$MNT/runs/own" "$SCRATCH/drive"
    [[ $MESSAGE == *"by its name step_100.pkl could be one, and has no role: a pattern under roles: WEIGHTS: in $STORE/config.yaml makes it one" ]] ||
        fail "$MESSAGE"
    "$EXPFS" export "$R" "$SCRATCH/drive" --files data >/dev/null 2>"$SCRATCH/err" 3>&-
    grep -qx "expfs: /runs/r: has nothing for --files data; expfs-tree(7) says which files these are" "$SCRATCH/err"
}
