# expfs export where something is in the folder, or is named, that is not its own.

load export

@test "a file that another put there, or changed, is not replaced, and nothing else is written" {
    two
    mkdir "$X"
    echo theirs >"$X/latest.pt"
    refused 3 "$EXPFS" export "$R" "$X"
    [[ $MESSAGE == *"$X/latest.pt: "*"move it away"* ]] || fail "$MESSAGE"
    holds latest.pt
    equal "$(cat "$X/latest.pt")" theirs
    mv "$X/latest.pt" "$SCRATCH/away"
    export_run
    save step_3.pt 3
    save ../../other.pt 9
    cp "$MNT/other.pt" "$SCRATCH/unknown"
    echo more >>"$SCRATCH/unknown"
    cp "$SCRATCH/unknown" "$X/best.pt"
    refused 3 "$EXPFS" export "$R" "$X"
    cmp "$X/best.pt" "$SCRATCH/unknown"
    cmp "$X/latest.pt" "$R/step_2.pt"
}

@test "a file with content that the store has may be replaced, whoever put it there" {
    two
    mkdir "$X"
    cp "$R/step_1.pt" "$X/latest.pt"
    says 'of["latest.pt"]' written
    cmp "$X/latest.pt" "$R/step_2.pt"
}

@test "conflict copies, temporaries of sync tools and other files are left alone" {
    local names=("latest.sync-conflict-20260101-120000-ABCDEFG.pt" "latest (conflicted copy).pt" "latest (1).pt" ".~tmp1234.tmp" \
        ".syncthing.latest.pt.tmp" "desktop.ini" "best.txt" "latest.pt.part" ".stfolder")
    local name
    two
    mkdir "$X"
    for name in "${names[@]}"; do cp "$R/step_1.pt" "$X/$name"; done
    export_run
    save step_3.safetensors.pt 3
    export_run
    for name in "${names[@]}"; do cmp "$X/$name" "$R/step_1.pt"; done
    holds "${names[@]}" latest.pt best.pt
}

@test "without its memory, or with a broken one, nothing is written again and other extensions still go" {
    local file
    two
    export_run
    rm -r "$STORE/exports"
    says 'a["written"]' 0
    file=$(echo "$STORE"/exports/*.json)
    for text in '' '{' '[]' '{"format": 99, "files": {}}' '{"format": 1, "files": {"latest.pt": 7, "best.pt": [{"size": "x"}]}}'; do
        printf '%s' "$text" >"$file"
        says 'a["written"]' 0
    done
    rm "$file"
    mkfifo "$file"
    timeout 20 "$EXPFS" export "$R" "$X" 3>&-
    rm "$file"
    mkdir "$file"
    says 'a["written"]' 0
    "$EXPFS" fsck "$STORE" 2>/dev/null || true
    rm -r "$STORE/exports"
    sleep 0.02
    checkpoint safetensors "$R/step_9.safetensors" 9000 9
    export_run
    holds latest.safetensors best.pt
}

@test "a store in which nothing can be written is exported from all the same" {
    require_user
    chmod 700 "$SCRATCH/mnt" 2>/dev/null || true
    two
    export_run
    rm -r "$STORE/exports"
    touch "$STORE/exports"
    save step_3.pt 3
    says 'of["latest.pt"]' written
    says 'a["written"]' 0
    rm "$STORE/exports"
}

@test "an export to a folder where another is at work is refused with its process" {
    two
    export_run
    exec 8<>"$(echo "$STORE"/exports/*.lock)"
    flock 8
    echo 4711 >&8
    refused 3 "$EXPFS" export "$R" "$X"
    [[ $MESSAGE == *4711* ]] || fail "$MESSAGE"
    exec 8>&-
    export_run
}

@test "a folder in the mount or in the store is refused, and so are wrong options" {
    two
    refused 2 "$EXPFS" export "$R" "$MNT/folder"
    refused 2 "$EXPFS" export "$R" "$STORE/folder"
    refused 2 "$EXPFS" export "$R"
    refused 2 "$EXPFS" export "$R" "$X" --layout round
    refused 2 "$EXPFS" export "$R" "$X" --files config,all
    refused 2 "$EXPFS" export "$R" "$X" --every 10s
    refused 2 "$EXPFS" export "$R" "$X" --watch --every soon
    refused 2 "$EXPFS" export "$R" "$X" --watch --every-steps 0
    refused 3 "$EXPFS" export "$R" "$SCRATCH/not/there"
    refused 1 "$EXPFS" export "$MNT/runs/none" "$X"
}

@test "a best or latest of another extension that is not ours is told, named and left, and the rest is exported" {
    save step_1.pt 1
    mkdir "$X"
    echo theirs >"$X/latest.ckpt"
    refused 3 "$EXPFS" export "$R" "$X"
    [[ $MESSAGE == *"$X/latest.ckpt: was not put there by export; what is latest is latest.pt; move it away"* ]] || fail "$MESSAGE"
    rm "$X/latest.ckpt"
    echo theirs >"$X/best.pt"
    refused 3 "$EXPFS" export "$R" "$X"
    [[ $MESSAGE == *"$X/best.pt: was not put there by export, and r has no best; move it away"* ]] || fail "$MESSAGE"
    cmp "$X/latest.pt" "$R/step_1.pt"
    equal "$(cat "$X/best.pt")" theirs
    equal "$(WHAT='of["best.pt"], of["latest.pt"]' export_json 2>/dev/null)" "('refused', 'unchanged')"
    rm "$X/best.pt"
    export_run
    losses 1 0.5
    export_run
    rm "$R/metrics.jsonl"
    says 'of["best.pt"]' kept
    [[ $(export_run 2>&1) == *"$X/best.pt: is what was best when it was exported; r has none now"* ]] || fail "$(export_run 2>&1)"
}

@test "a folder that has the export of another run, or another layout, stays as it is until that is moved away" {
    local other=$MNT/runs/other
    two
    export_run
    mkdir "$other"
    checkpoint zip "$other/step_9.pt" 20000 9
    refused 3 "$EXPFS" export "$other" "$X"
    [[ $MESSAGE == *"$X: has an export of another run, r (latest.pt, best.pt); export to another folder, or move these away first"* ||
        $MESSAGE == *"$X: has an export of another run, r (best.pt, latest.pt); export to another folder, or move these away first"* ]] || fail "$MESSAGE"
    refused 3 "$EXPFS" export "$R" "$X" --layout plain
    [[ $MESSAGE == *"in the layout pair"* ]] || fail "$MESSAGE"
    cmp "$X/latest.pt" "$R/step_2.pt"
    mv "$R" "$MNT/runs/renamed"
    "$EXPFS" export renamed "$X" --store "$STORE" 3>&-
    rm -r "$MNT/runs/renamed"
    "$EXPFS" export renamed "$X" --store "$STORE" 3>&-
    mkdir "$MNT/runs/renamed"
    checkpoint zip "$MNT/runs/renamed/step_5.pt" 20000 5
    refused 3 "$EXPFS" export "$MNT/runs/renamed" "$X"
    [[ $MESSAGE == *"has an export of a former run at /runs/renamed ("* ]] || fail "$MESSAGE"
    mkdir "$SCRATCH/away"
    mv "$X"/* "$SCRATCH/away"
    "$EXPFS" export "$other" "$X" 3>&-
    cmp "$X/latest.pt" "$other/step_9.pt"
}

@test "a folder of which its memory names no run, as a former version wrote it, is told once" {
    two
    export_run
    python3 -c 'import json, sys; m = json.load(open(sys.argv[1])); del m["origin"]; json.dump(m, open(sys.argv[1], "w"))' "$STORE"/exports/*.json
    refused 0 "$EXPFS" export "$R" "$X"
    [[ $MESSAGE == *"noted no run ("*"; it counts as one of r from now on" ]] || fail "$MESSAGE"
    equal "$(export_run 2>&1 >/dev/null)" ""
}

@test "a directory that becomes a branch while it is exported keeps its folder" {
    mkdir "$R/sub"
    echo text >"$R/sub/any"
    export_run --layout plain
    save step_1.pt 1
    export_run --layout plain
    cmp "$X/step_1.pt" "$R/step_1.pt"
}

@test "who names what is not mounted, a file or a view is told what to name" {
    two
    mkdir "$SCRATCH/none"
    refused 3 "$EXPFS" export "$SCRATCH/none/runs/r" "$X"
    [[ $MESSAGE == *"$SCRATCH/none/runs/r: nothing is mounted on $SCRATCH/none; mount the store: expfs mount STORE $SCRATCH/none, or name it by --store" ]] || fail "$MESSAGE"
    echo file >"$SCRATCH/file"
    refused 3 "$EXPFS" export "$R" "$SCRATCH/file"
    [[ $MESSAGE == *"$SCRATCH/file: is a file, or lies in one; name a directory" ]] || fail "$MESSAGE"
    refused 3 "$EXPFS" export "$R" "$SCRATCH/file/folder"
    for view in models/0123 "$R/.expfs/step" branches/none; do
        refused 1 "$EXPFS" export "$MNT/${view#"$MNT"/}" "$X"
        [[ $MESSAGE == *"lies in a view; name a run"* || $MESSAGE == *"none: there is no such branch"* ]] || fail "$view: $MESSAGE"
    done
    refused 1 "$EXPFS" export "$R/.expfsx/y" "$X"
    [[ $MESSAGE == *"/runs/r/.expfsx/y: there is no such directory"* ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" show "$MNT/runs/my.expfs/.expfs/history/step_1.pt"
    [[ $MESSAGE == *"lies in the view of history"* ]] || fail "$MESSAGE"
    "$EXPFS" export "$V" "$X"
    cmp "$X/latest.pt" "$R/step_2.pt"
}
