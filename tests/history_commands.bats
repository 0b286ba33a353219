# expfs history, restore and forget.

load history

# --- expfs history ---

@test "expfs history tells number, time, size, completeness, step, digest and place of each version" {
    save "$R/step_7.pt" 1
    checkpoint torn-zip "$R/step_7.pt" $SIZE 2
    equal "$(answer history "$R/step_7.pt" 'r["path"], r["role"], r["there"], [(v["n"], v["complete"], v["held"], v["step"]) for v in r["versions"]]')" \
        "('/runs/r/step_7.pt', 'WEIGHTS', True, [(1, True, False, 7), (2, False, True, 7)])"
    equal "$(answer history "$R/step_7.pt" 'r["versions"][0]["size"], r["versions"][1]["digest"]')" \
        "($(stat -c %s "$SCRATCH/1"), '$(xattr "$R/step_7.pt" user.expfs.digest)')"
    local found
    found=$(answer history "$R/step_7.pt" 'r["versions"][0]["found"]')
    cmp "$MNT$found" "$SCRATCH/1"
    equal "$(answer history "$R/step_7.pt" 'r["versions"][1]["mtime"]')" "$(TZ=UTC date -r "$R/step_7.pt" +%Y-%m-%dT%H:%M:%S.%NZ)"
    "$EXPFS" history "$R/step_7.pt" >"$SCRATCH/out"
    grep -q '^ *1 .* complete .* 7 .*/.expfs/history/runs/r/step_7.pt/1.pt$' "$SCRATCH/out"
    grep -q '^\* *2 .* incomplete ' "$SCRATCH/out"
    equal "$(sed 's|/.expfs.*||; s|found at||' "$SCRATCH/out" | awk '{ print length }' | sort -u | wc -l)" 1 "widths of lines"
}

@test "expfs history knows what is gone, a link to it, a place in a mount and one in a store that is not mounted" {
    save "$R/step_7.pt" 1
    save_dir "$R/checkpoint-9" 2
    equal "$(answer history "$MNT/branches/r/latest" 'r["path"]')" /runs/r/checkpoint-9
    rm -r "$R"
    equal "$(answer history "$R/step_7.pt" 'r["there"], len(r["versions"])')" "(False, 1)"
    equal "$(cd "$MNT/runs" && answer history ./r//checkpoint-9/ 'r["path"], r["versions"][0]["directory"], r["versions"][0]["digest"]')" \
        "('/runs/r/checkpoint-9', True, None)"
    equal "$(answer history /runs/r/step_7.pt --store "$STORE" 'r["path"]')" /runs/r/step_7.pt
    umount_store
    equal "$(answer history runs/r/step_7.pt --store "$STORE" 'r["versions"][0]["complete"]')" True
    EXPFS_STORE=$STORE "$EXPFS" history /runs/r/step_7.pt | grep -q complete
}

@test "of a path whose versions were forgotten, is not whole or not closed yet no command says that it had none" {
    local c
    save_dir "$R/checkpoint-5" 1
    rm -r "$R/checkpoint-5"
    "$EXPFS" forget "$R/checkpoint-5" >/dev/null 3>&-
    for c in history forget restore show verify select; do
        refused 1 "$EXPFS" $c "$R/checkpoint-5"
        equal "$MESSAGE" "expfs: /runs/r/checkpoint-5: is not there, and has no version: it had none, or they were forgotten; look for another spelling"
    done
    mkdir "$R/checkpoint-6"
    refused 1 "$EXPFS" history "$R/checkpoint-6"
    equal "$MESSAGE" "expfs: /runs/r/checkpoint-6: was not complete yet; expfs status says what it lacks"
    exec 7>"$R/last.pt"
    refused 1 "$EXPFS" history "$R/last.pt" 7>&-
    exec 7>&-
    equal "$MESSAGE" "expfs: /runs/r/last.pt: has no version yet: nobody has closed it who wrote it; wait for that"
}

@test "latest and best, where there is no file or selection of that name, are told as the views that they may be meant for" {
    local name
    save "$R/step_1.pt" 1
    for name in latest best; do
        cd "$R"
        refused 1 "$EXPFS" select "$name"
        equal "${MESSAGE#*spelling; }" "no selection has that name; that of the checkpoints in a directory is .expfs/$name there"
    done
}

@test "expfs history, restore and forget say what they do not know" {
    save "$R/last.pt" 1
    echo x >"$R/notes.txt"
    refused 1 "$EXPFS" history "$R/nothing.pt"
    [[ $MESSAGE == *"/runs/r/nothing.pt: is not there, and has no version: it had none, or they were forgotten; look for another spelling" ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" history "$R/notes.txt"
    [[ $MESSAGE == *"/runs/r/notes.txt: has no role, and so no versions; see roles: in config.yaml" ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" history "$R"
    [[ $MESSAGE == *"is a directory that is no checkpoint"* ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" restore "$R/last.pt@2"
    [[ $MESSAGE == *"has no version 2; see: expfs history" ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" forget "$R/last.pt@2"
    refused 1 "$EXPFS" restore "$R/nothing.pt"
    refused 1 "$EXPFS" forget "$R/nothing.pt"
    refused 2 "$EXPFS" history
    refused 2 "$EXPFS" forget
    refused 2 "$EXPFS" restore
    refused 2 "$EXPFS" restore a b c
    refused 2 "$EXPFS" history "$R/last.pt" --nonsense
    refused 3 "$EXPFS" history "$SCRATCH/1"
    refused 3 "$EXPFS" restore "$SCRATCH/1"
    [[ $MESSAGE == *"is in no expfs mount; mount the store first: expfs mount STORE MNT" ]] || fail "$MESSAGE"
    refused 2 "$EXPFS" history "$R/last.pt@1"
    equal "$MESSAGE" "expfs: /runs/r/last.pt@1: history takes no @N; see: expfs help history"
    umount_store
    EXPFS_STORE=$STORE refused 3 "$EXPFS" restore "$R/last.pt"
    [[ $MESSAGE == *"mount the store: expfs mount STORE $MNT"* ]] || fail "$MESSAGE"
}

@test "an @ without a number behind it never means all versions" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    local c text
    for c in forget restore; do
        refused 2 "$EXPFS" $c "$R/last.pt@"
        equal "$MESSAGE" "expfs: $R/last.pt@: a version is wanted after @; see: expfs help $c"
        for text in x 1,2 0 -1 1x 1234567890123456789; do
            refused 2 "$EXPFS" $c "$R/last.pt@$text"
            equal "$MESSAGE" "expfs: /runs/r/last.pt@$text: $text is no version number; see: expfs help $c"
        done
        refused 1 "$EXPFS" $c "$R/nothing@x"
        [[ $MESSAGE == *"/runs/r/nothing@x: is not there, and has no version"* ]] || fail "$MESSAGE"
    done
    refused 2 "$EXPFS" forget /runs/r/last.pt@ --store "$STORE"
    cmp "$R/last.pt" "$SCRATCH/2"
    equal "$(versions last.pt)" "1.pt 2.pt "
}

@test "a path that ends in @, with digits or without, is written with one more @" {
    mkdir "$R/data"
    local name
    for name in rows@2 rows@ rows@x rows@0; do
        echo one >"$R/data/$name"
        echo two >"$R/data/$name"
    done
    "$EXPFS" restore "$R/data/rows@2@1" >/dev/null
    equal "$(cat "$R/data/rows@2")" one
    "$EXPFS" restore "$R/data/rows@2@" >/dev/null
    equal "$(cat "$R/data/rows@2")" two
    refused 1 "$EXPFS" forget "$R/data/rows@2"
    equal "$(answer forget "$R/data/rows@2@" 'r["path"], r["forgotten"]')" "('/runs/r/data/rows@2', [1, 2, 3])"
    equal "$(answer forget "$R/data/rows@@" 'r["path"], r["forgotten"]')" "('/runs/r/data/rows@', [1])"
    equal "$(answer forget "$R/data/rows@x" 'r["path"], r["forgotten"]')" "('/runs/r/data/rows@x', [1])"
    equal "$(answer forget "$R/data/rows@0@1" 'r["path"], r["forgotten"]')" "('/runs/r/data/rows@0', [1])"
    equal "$(answer history "$R/data/rows@2" 'r["path"]')" /runs/r/data/rows@2
}

@test "expfs show takes @N, a step of an experiment and a path of the view history as the other commands do" {
    local of='r["version"], r["versions"], r["held"], r["last"], r["digest"], r["step"]' first
    echo "lr: 0.1" >"$R/config.yaml"
    save "$R/step_7.pt" 1
    first=$(xattr "$R/step_7.pt" user.expfs.digest)
    "$EXPFS" select "$R/step_7.pt" --name one >/dev/null 3>&-
    save "$R/step_7.pt" 2
    equal "$(answer show "$R/step_7.pt@1" "$of")" "(1, 2, False, False, '$first', 7)"
    equal "$(cd "$R" && answer show step_7.pt@1 "$of")" "(1, 2, False, False, '$first', 7)"
    equal "$(answer show "$H/step_7.pt/1.pt" "$of")" "(1, 2, False, False, '$first', 7)"
    equal "$(answer show "$R/step_7.pt@2" 'r["version"], r["held"], r["last"], len(r["selections"])')" "(2, True, True, 0)"
    equal "$(answer show "$R/step_7.pt" 'r["version"], len(r["selections"])')" "(2, 1)"
    equal "$(cd "$R" && answer show "$(cat "$MNT/branches/r/HEAD")@7" 'r["path"], r["version"]')" "('/runs/r/step_7.pt', 1)"
    "$EXPFS" show "$R/step_7.pt@1" | grep -qx 'version    1 of 2'
    refused 1 "$EXPFS" show "$R/step_7.pt@3"
    equal "$MESSAGE" "expfs: /runs/r/step_7.pt: has no version 3; see: expfs history"
    refused 1 "$EXPFS" show "$R/nothing.pt@1"
    [[ $MESSAGE == *"/runs/r/nothing.pt: is not there, and has no version: it had none, or they were forgotten; look for another spelling" ]] || fail "$MESSAGE"
}

# --- expfs restore ---

@test "expfs restore brings the newest complete checkpoint back, and leaves one that is whole as it is" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    checkpoint torn-zip "$R/last.pt" $SIZE 3
    chmod 640 "$R/last.pt"
    "$EXPFS" restore "$R/last.pt" >"$SCRATCH/out"
    grep -q '/runs/r/last.pt: version 2 restored' "$SCRATCH/out"
    cmp "$R/last.pt" "$SCRATCH/2"
    equal "$(versions last.pt)" "1.pt 2.pt 3.pt 4.pt "
    equal "$(readlink -f "$MNT/branches/r/latest")" "$R/last.pt"
    "$EXPFS" restore "$R/last.pt" | grep -q 'holds version 4 already'
    equal "$(versions last.pt)" "1.pt 2.pt 3.pt 4.pt "
    rm "$R/last.pt"
    "$EXPFS" restore "$R/last.pt" >/dev/null
    cmp "$R/last.pt" "$SCRATCH/2"
    "$EXPFS" restore "$R/last.pt@1" >/dev/null
    cmp "$R/last.pt" "$SCRATCH/1"
    equal "$(ls -A "$R")" last.pt "what is left in the directory"
}

@test "expfs restore leaves a checkpoint with the experiment in which it was saved, and an edit pending" {
    echo "lr: 0.1" >"$R/config.yaml"
    save "$R/step_1.pt" 1
    local was
    was=$(xattr "$R/step_1.pt" user.expfs.hash)
    echo "lr: 0.2" >"$R/config.yaml"
    rm "$R/step_1.pt"
    "$EXPFS" restore "$R/step_1.pt" >/dev/null
    equal "$(xattr "$R/step_1.pt" user.expfs.hash)" "$was"
    equal "$(cat "$MNT/branches/r/HEAD")" "$was"
    grep -q HP "$MNT/branches/r/pending"
}

@test "expfs restore without a number brings of another file the newest version that differs, and takes no space" {
    head -c 3000000 /dev/urandom >"$R/config.yaml"
    cp "$R/config.yaml" "$SCRATCH/before"
    echo "lr: 2" >"$R/config.yaml"
    local stored
    stored=$(space stored)
    "$EXPFS" restore "$R/config.yaml" >/dev/null
    cmp "$R/config.yaml" "$SCRATCH/before"
    equal "$(space stored)" "$stored" "bytes stored"
    "$EXPFS" restore "$R/config.yaml" >/dev/null
    equal "$(cat "$R/config.yaml")" "lr: 2"
}

@test "expfs restore to another place keeps mode and time outside the mount, and makes a version of now in it" {
    save "$R/last.pt" 1
    chmod 640 "$R/last.pt"
    touch -d '2024-05-06 07:08:09.123456789' "$R/last.pt"
    local of
    of=$(stat -c '%a %y' "$R/last.pt")
    save "$R/last.pt" 2
    "$EXPFS" restore "$R/last.pt@1" "$SCRATCH/copy.pt" >/dev/null
    equal "$(stat -c '%a %y' "$SCRATCH/copy.pt")" "$of"
    cmp "$SCRATCH/copy.pt" "$SCRATCH/1"
    mkdir "$SCRATCH/there"
    "$EXPFS" restore "$R/last.pt@1" "$SCRATCH/there" >/dev/null
    cmp "$SCRATCH/there/last.pt" "$SCRATCH/1"
    "$EXPFS" restore "$R/last.pt@1" "$R/old.pt" >/dev/null
    equal "$(readlink -f "$MNT/branches/r/latest")" "$R/old.pt"
    equal "$(stat -c %a "$R/old.pt")" 640
    equal "$(ls -A "$SCRATCH/there" "$R" | grep -c restore)" 0 "what is left beside"
}

@test "expfs restore brings a directory back, whole, and leaves beside it what history does not have" {
    save_dir "$R/checkpoint-5" 1
    cp -r "$R/checkpoint-5" "$SCRATCH/one"
    test -e "$H/checkpoint-5/1"
    save_dir "$R/checkpoint-5" 2
    test -e "$H/checkpoint-5/2"
    "$EXPFS" restore "$R/checkpoint-5@1" >/dev/null
    diff -r "$R/checkpoint-5" "$SCRATCH/one"
    equal "$(ls -A "$R")" checkpoint-5
    equal "$(versions checkpoint-5)" "1 2 3 "
    : >"$R/checkpoint-5/model.bin"
    equal "$(answer restore "$R/checkpoint-5" 'r["n"], r["restored"], ".checkpoint-5.restore-" in r["left"]')" "(3, True, True)"
    diff -r "$R/checkpoint-5" "$SCRATCH/one"
    equal "$(find "$R" -maxdepth 1 -name '.checkpoint-5.restore-*.tmp' | wc -l)" 1
    equal "$(readlink -f "$MNT/branches/r/latest")" "$R/checkpoint-5"
    rm -r "$R"
    "$EXPFS" restore "$R/checkpoint-5" "$SCRATCH/two" >/dev/null
    diff -r "$SCRATCH/two" "$SCRATCH/one"
    equal "$(stat -c %a "$SCRATCH/two" "$SCRATCH/two/sub" "$SCRATCH/two/model.bin" | tr '\n' ' ')" \
        "$(stat -c %a "$SCRATCH/one" "$SCRATCH/one/sub" "$SCRATCH/one/model.bin" | tr '\n' ' ')"
    mkdir -p "$SCRATCH/three/checkpoint-5"
    refused 3 "$EXPFS" restore "$R/checkpoint-5" "$SCRATCH/three"
    [[ $MESSAGE == *"is there already"* ]] || fail "$MESSAGE"
    equal "$(ls -A "$SCRATCH/three")" checkpoint-5
}

@test "expfs restore to another place replaces nothing that is there" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    mkdir "$SCRATCH/there"
    echo mine | tee "$SCRATCH/file" "$SCRATCH/there/last.pt" "$R/notes.txt" >/dev/null
    ln -s nowhere "$SCRATCH/link"
    local dest
    for dest in "$SCRATCH/file" "$SCRATCH/there" "$SCRATCH/link" "$R/notes.txt"; do
        refused 3 "$EXPFS" restore "$R/last.pt@1" "$dest"
        [[ ! -d $dest ]] || dest=$dest/last.pt
        equal "$MESSAGE" "expfs: $dest: is there already; remove it first, or name another"
    done
    equal "$(cat "$SCRATCH/file" "$SCRATCH/there/last.pt" "$R/notes.txt")" $'mine\nmine\nmine'
    equal "$(readlink "$SCRATCH/link")" nowhere
    equal "$(ls -A "$SCRATCH" "$SCRATCH/there" "$R" | grep -c restore)" 0 "what is left beside"
    refused 3 "$EXPFS" restore "$R/last.pt@1" /dev/null/x
    equal "$MESSAGE" "expfs: /dev/null/x: the directory above it is none; name another place"
}

@test "expfs restore that fails leaves nothing, and says what it was about" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    refused 3 "$EXPFS" restore "$R/last.pt@1" "$SCRATCH/absent/dir"
    [[ $MESSAGE == *"$SCRATCH/absent/dir: No such file or directory"* ]] || fail "$MESSAGE"
    refused 3 "$EXPFS" restore "$R/last.pt@1" "$H/last.pt/9.pt"
    [[ $MESSAGE == *"is read-only"* ]] || fail "$MESSAGE"
    rm "$R/last.pt"
    mkdir "$R/last.pt"
    refused 3 "$EXPFS" restore "$R/last.pt@1"
    [[ $MESSAGE == *"/runs/r/last.pt: is a directory"* ]] || fail "$MESSAGE"
    equal "$(ls -A "$R" "$R/last.pt" | grep -c restore)" 0
    require_loop
    loop_disk small 4
    head -c 8000000 /dev/urandom >"$R/config.yaml"
    refused 3 "$EXPFS" restore "$R/config.yaml@1" "$SCRATCH/small/x"
    [[ $MESSAGE == *"No space left on device; make room"* ]] || fail "$MESSAGE"
    equal "$(ls -A "$SCRATCH/small")" lost+found
}

@test "a directory without a marker that is restored is complete at once" {
    mkdir "$R/checkpoint-1" "$R/checkpoint-2"
    local i
    for i in 1 2; do
        checkpoint zip "$R/checkpoint-$i/model.npz" $SIZE $i
        checkpoint zip "$R/checkpoint-$i/optimizer.npz" $SIZE 1$i
    done
    wait_until test -e "$H/checkpoint-1/1"
    wait_until test -e "$H/checkpoint-2/1"
    rm -r "$R"/checkpoint-?
    not test -e "$MNT/branches/r/latest"
    "$EXPFS" restore "$R/checkpoint-1" >/dev/null
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/checkpoint-1
}

@test "expfs restore works in a bind mount of a part of the tree" {
    require_root
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    mkdir "$SCRATCH/bind"
    mount --bind "$MNT/runs" "$SCRATCH/bind"
    "$EXPFS" restore "$SCRATCH/bind/r/last.pt@1" >/dev/null || { umount "$SCRATCH/bind"; return 1; }
    umount "$SCRATCH/bind"
    cmp "$R/last.pt" "$SCRATCH/1"
}

@test "the command that brings back what was in a removed directory names the version or the selection that was asked for" {
    local command n
    save "$R/step_1.pt" 1
    "$EXPFS" select "$R/step_1.pt" --name frozen >/dev/null 3>&-
    save "$R/step_1.pt" 2
    rm -r "$R"
    mkdir "$R"
    save "$R/step_5.pt" 5
    for n in frozen "$MNT/runs/r~1/step_1.pt@1" "$R/step_1.pt@1"; do
        [[ $n != frozen ]] || n="r~1:frozen"
        cd "$MNT"
        "$EXPFS" restore "$n" 2>"$SCRATCH/err" >&2 3>&- && fail "restored"
        cd /
        command=$(grep -o 'expfs restore .*' "$SCRATCH/err")
        equal "$command" "expfs restore $MNT/runs/r~1/step_1.pt@1 $R/step_1.pt"
        PATH=${EXPFS%/*}:$PATH bash -c "$command" >/dev/null 3>&-
        cmp "$R/step_1.pt" "$SCRATCH/1"
        rm "$R/step_1.pt"
        forget_now "$R/step_1.pt"
    done
    rm -r "$R"
    "$EXPFS" restore "$MNT/runs/r~1/step_1.pt" 2>"$SCRATCH/err" >&2 3>&- && fail "restored"
    equal "$(grep -o ': mkdir.*' "$SCRATCH/err")" ": mkdir -p $R && expfs restore $MNT/runs/r~1/step_1.pt@2 $R/step_1.pt"
}

forget_now() { "$EXPFS" forget "$1" >/dev/null 3>&-; }

# --- expfs forget ---

@test "expfs forget lets a version go and frees what nothing else has" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    save "$R/last.pt" 3
    sync "$R/last.pt" # until then what was before is needed for a power cut
    cp "$SCRATCH/1" "$R/keep.tmp"
    local stored
    stored=$(space stored)
    equal "$(answer forget "$R/last.pt@1" 'r["forgotten"], r["kept"], r["freed"]')" "([1], [], 0)"
    equal "$(answer forget "$R/last.pt@2" 'r["freed"]')" "$(stat -c %s "$SCRATCH/2")"
    equal "$(versions last.pt)" "3.pt "
    (($(space stored) < stored)) || fail "stored: $(space stored), before: $stored"
    cmp "$R/keep.tmp" "$SCRATCH/1"
    save "$R/last.pt" 4
    equal "$(versions last.pt)" "3.pt 4.pt " "numbers are not used again"
}

@test "expfs forget counts as freed what was removed just before" {
    local size
    size=$(save "$R/model_1.pt" 1 && stat -c %s "$R/model_1.pt")
    rm "$R/model_1.pt"
    equal "$(answer forget "$R/model_1.pt" 'r["forgotten"], r["freed"]')" "([1], $size)"
    save "$R/model_1.pt" 2
    mv "$R/model_1.pt" "$R/model_2.pt"
    rm "$R/model_2.pt"
    equal "$(answer forget "$R/model_1.pt" 'r["freed"]')" 0
    equal "$(answer forget "$R/model_2.pt" 'r["freed"]')" "$(stat -c %s "$SCRATCH/2")"
    save_dir "$R/checkpoint-5" 4
    test -e "$H/checkpoint-5/1"
    size=$(find "$R/checkpoint-5" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')
    rm -r "$R/checkpoint-5"
    equal "$(answer forget "$R/checkpoint-5" 'r["freed"]')" "$size"
}

@test "expfs forget refuses what the path holds and what latest needs, and says so" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    refused 1 "$EXPFS" forget "$R/last.pt@2"
    [[ $MESSAGE == *"version 2 is needed: it is what the path holds" ]] || fail "$MESSAGE"
    checkpoint torn-zip "$R/last.pt" $SIZE 3
    refused 1 "$EXPFS" forget "$R/last.pt@2"
    [[ $MESSAGE == *"version 2 is needed: it is the last complete one"* ]] || fail "$MESSAGE"
    equal "$(answer forget "$R/last.pt" 'r["forgotten"], [k["n"] for k in r["kept"]]')" "([1], [2, 3])"
    cmp "$MNT/branches/r/latest" "$SCRATCH/2"
    equal "$(answer forget "$R/last.pt" 'r["forgotten"]')" "[]"
    save_dir "$R/checkpoint-5" 4
    test -e "$H/checkpoint-5/1"
    : >"$R/checkpoint-5/model.bin"
    refused 1 "$EXPFS" forget "$R/checkpoint-5@1"
    grep -q '"seed": 4' "$R/.expfs/step/5/trainer_state.json"
}

@test "expfs forget of a checkpoint that is being written keeps the one before" {
    save "$R/last.pt" 1
    save "$R/last.pt" 2
    killed_in_overwrite
    refused 1 "$EXPFS" forget "$R/last.pt@2"
    equal "$(answer forget "$R/last.pt" 'r["forgotten"]')" "[1]"
    cmp "$MNT/branches/r/latest" "$SCRATCH/2"
}

@test "expfs forget of what is gone takes all of it, and the paths that have nothing left" {
    mkdir -p "$R/a/b"
    save "$R/a/b/last.pt" 1
    save "$R/a/best.pt" 2
    save_dir "$R/checkpoint-5" 3
    test -e "$H/checkpoint-5/1"
    echo x >"$R/config.yaml"
    rm -r "$R/a" "$R/checkpoint-5"
    "$EXPFS" forget "$R/a/b/last.pt" | grep -q '1 version forgotten'
    not test -e "$H/a/b"
    test -e "$H/a/best.pt/1.pt"
    "$EXPFS" forget "$R/a/best.pt@1" >/dev/null
    not test -e "$H/a"
    "$EXPFS" forget "$R/checkpoint-5" >/dev/null
    equal "$(ls "$H")" config.yaml
    refused 1 "$EXPFS" history "$R/checkpoint-5"
    rm -r "$R"
    umount_store
    "$EXPFS" forget /runs/r/config.yaml --store "$STORE" >/dev/null
    equal "$(find "$STORE/objects" -type f | wc -l)" 0 "contents left"
}
