# expfs export --layout plain: a directory as it is.

load export

plain() { export_run --layout plain "$@"; }

# same_tree A B: names, kinds, modes, times, link targets and contents
same_tree() {
    diff -r --no-dereference "$1" "$2" && diff <(tree_of "$1") <(tree_of "$2")
}
tree_of() { (cd "$1" && find . -mindepth 1 -printf '%P %y %m %n %l %T@\n' | awk '$2 == "d" { $4 = "" } { print }' | sort); }

@test "a directory is exported with its modes, times, links and holes" {
    mkdir -p "$R/a/b" "$R/empty"
    echo one >"$R/a/one"
    chmod 640 "$R/a/one"
    touch -d '2021-02-03 04:05:06.123456789' "$R/a/one"
    ln "$R/a/one" "$R/a/b/two"
    ln -s ../a/one "$R/a/link"
    ln -s nowhere "$R/a/broken"
    ln -s b "$R/a/dir"
    truncate -s 3M "$R/sparse"
    echo end >>"$R/sparse"
    : >"$R/nothing"
    chmod 750 "$R/a"
    touch -d '2020-01-01' "$R/a" "$R/empty"
    plain
    same_tree "$R" "$X"
    (($(stat -c %b "$X/sparse") < 100)) || fail "no hole: $(stat -c %b "$X/sparse") blocks"
    equal "$(stat -c %i "$X/a/one")" "$(stat -c %i "$X/a/b/two")"
    [[ $(plain) == "0 B written"* ]] || fail "$(plain)"
    umount_store
    "$EXPFS" export /runs/r "$X.2" --store "$STORE" --layout plain
    same_tree "$X" "$X.2"
}

@test "last.ckpt as a link between versions is a link that resolves wherever the folder goes" {
    save step_9.pt 9
    ln -s step_9.pt "$R/last.ckpt"
    plain
    mv "$X" "$SCRATCH/elsewhere"
    cmp "$SCRATCH/elsewhere/last.ckpt" "$R/step_9.pt"
    equal "$(readlink "$SCRATCH/elsewhere/last.ckpt")" step_9.pt
}

@test "a link that leads out of the directory is exported as what it leads to, but not out of the mount" {
    echo outside >"$SCRATCH/outside"
    echo above >"$MNT/runs/above"
    mkdir "$R/sub"
    ln -s "$SCRATCH/outside" "$R/absolute"
    ln -s ../../above "$R/sub/above"
    ln -s ../gone "$R/gone"
    ln -s / "$R/top"
    plain 2>"$SCRATCH/told"
    equal "$(cat "$X/sub/above")" above
    [[ ! -L $X/absolute && ! -e $X/absolute && ! -e $X/gone && ! -e $X/top ]] || fail "$(ls -l "$X")"
    equal "$(sort "$SCRATCH/told" | sed 's/;.*//')" $'expfs: absolute: leads out of the mount\nexpfs: gone: leads outside, to what cannot be read\nexpfs: top: leads out of the mount'
    [[ $(plain 2>/dev/null) == "0 B written"* ]] || fail "$(plain)"
}

@test "what changed is written, and nothing else; what was deleted goes, if export put it there" {
    mkdir "$R/a"
    echo one >"$R/a/one"
    echo two >"$R/a/two"
    echo three >"$R/three"
    plain
    echo own >"$X/own"
    echo own >"$X/a/own"
    rm "$R/a/one"
    echo changed >"$R/three"
    says 'of["a/two"], of["three"], of["a/one"]' "('unchanged', 'written', 'removed')" --layout plain
    holds a a/own a/two own three
    rm -r "$R/a"
    plain
    holds a a/own own three
    rm -r "$X/a" "$X/own"
    rm "$R/three"
    echo two >"$R/three.2"
    ln "$R/three.2" "$R/three.3"
    plain
    same_tree "$R" "$X"
}

@test "a directory where a file was, and a file where a directory was, take its place" {
    mkdir "$R/dir"
    echo 1 >"$R/dir/x"
    echo 2 >"$R/file"
    plain
    rm -r "$R/dir" "$R/file"
    mkdir "$R/file"
    echo 3 >"$R/file/y"
    echo 4 >"$R/dir"
    plain
    same_tree "$R" "$X"
    rm -r "$R"/*
    ln -s nowhere "$R/file"
    ln -s nowhere "$R/dir"
    plain
    same_tree "$R" "$X"
    rm -r "$R"/*
    mkdir "$R/file"
    echo 5 >"$R/file/z"
    echo 6 >"$R/dir"
    plain
    same_tree "$R" "$X"
    rm -r "$R"/*
    mkdir -p "$R/dir" "$R/file/z"
    plain
    same_tree "$R" "$X"
}

@test "a directory that is to become a file stays as it is while something of another is in it" {
    mkdir -p "$R/dir/sub"
    echo 1 >"$R/dir/sub/x"
    plain
    echo own >"$X/dir/sub/own"
    rm -r "$R/dir"
    echo 2 >"$R/dir"
    refused 3 "$EXPFS" export "$R" "$X" --layout plain
    equal "$(cat "$X/dir/sub/x" "$X/dir/sub/own")" $'1\nown'
    rm "$X/dir/sub/own"
    plain
    same_tree "$R" "$X"
}

@test "content that changes with its size and times as before is exported" {
    echo aaaa >"$R/file"
    touch -d '2024-01-01' "$R/file"
    plain
    echo bbbb >"$R/file"
    touch -d '2024-01-01' "$R/file"
    plain
    equal "$(cat "$X/file")" bbbb
    touch "$R/file"
    says 'a["written"], of["file"]' "(0, 'touched')" --layout plain
    same_tree "$R" "$X"
}

@test "an empty file renamed into place is there, and no temporary of the run that is gone" {
    local i
    for i in 1 2 3 4 5 6; do
        : >"$R/.x$i.tmp"
        mv "$R/.x$i.tmp" "$R/x_$i"
        mv "$R/x_$i" "$R/y_$i"
        ((i % 3)) || rm "$R/y_$i"
    done
    plain
    holds y_1 y_2 y_4 y_5
}

@test "names that sync tools refuse are mapped, told once each, and none is merged" {
    local names=('epoch=3:val.pt' 'a?.txt' 'x.' 'x ' 'CON.txt' 'Best.txt' 'best.txt' '100%41' $'m\xff.txt' 'modèle' $'mode\xcc\x80le')
    local name
    for name in "${names[@]}"; do echo "$name" >"$R/$name"; done
    mkdir "$R/a:b" "$R/A:B"
    echo deep >"$R/a:b/c|d"
    plain 2>"$SCRATCH/told"
    holds 'epoch=3%3Aval.pt' 'a%3F.txt' 'x%2E' 'x%20' '%43ON.txt' 'Best.txt' '%62est.txt' '100%2541' 'm%FF.txt' 'modèle' $'mode\xcc\x80le' \
        '%61%3Ab' 'A%3AB' '%61%3Ab/c%7Cd'
    equal "$(wc -l <"$SCRATCH/told")" 11
    equal "$(cat "$X/%62est.txt")" best.txt
    says 'sorted(m["as"] for m in a["mapped"])[0]' '%43ON.txt' --layout plain 2>/dev/null
}

@test "a name that there is no room to map is told and left out, and the rest is exported" {
    local long
    long=$(printf 'n%.0s' {1..254}):
    echo long >"$R/$long"
    echo short >"$R/short"
    refused 3 "$EXPFS" export "$R" "$X" --layout plain
    [[ $MESSAGE == *"$long"*"left out"* ]] || fail "$MESSAGE"
    holds short
}

@test "of a tree that is too deep the rest is exported, and what is not is named, with its exit status" {
    local deep
    deep=$R/$(printf 'd/%.0s' {1..70})
    mkdir -p "$deep"
    echo deep >"$deep/file"
    echo short >"$R/short"
    refused 3 "$EXPFS" export "$R" "$X" --layout plain
    [[ $MESSAGE == *"/d: lies in more than 64 directories; it is left out"* ]] || fail "$MESSAGE"
    equal "$(cat "$X/short")" short
    equal "$("$EXPFS" export "$R" "$X" --layout plain --json 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["whole"])')" False
}

@test "a device and a pipe are told and left out" {
    mkfifo "$R/pipe"
    echo file >"$R/file"
    plain 2>"$SCRATCH/told"
    holds file
    equal "$(cat "$SCRATCH/told")" "expfs: pipe: is no file; it is left out"
}

@test "the top is exported without views" {
    save step_1.pt 1
    "$EXPFS" export "$MNT" "$X" --layout plain
    cmp "$X/runs/r/step_1.pt" "$R/step_1.pt"
    [[ -d $X/branches && -z $(ls -A "$X/branches") ]] || fail "$(ls -A "$X/branches")"
}

# where_not CALLS COMMAND…: runs it where the file system of the folder does not know these calls
where_not() {
    local calls=$1
    shift
    traced -f -o /dev/null -e "trace=$calls" -e "inject=$calls:error=EPERM" "$@"
}

@test "a folder without links, modes, times or exchange, as on FAT, gets plain files" {
    local none=linkat,symlinkat,fchmod,utimensat,renameat2
    echo one >"$R/One"
    ln "$R/One" "$R/hard"
    ln -s One "$R/soft"
    where_not $none "$EXPFS" export "$R" "$X" --layout plain
    equal "$(cat "$X/One" "$X/hard" "$X/soft" | tr '\n' ' ')" "one one one "
    equal "$(find "$X" -type l -o -links +1 -type f)" ""
    [[ $(where_not $none "$EXPFS" export "$R" "$X" --layout plain) == "0 B written"* ]]
    mkdir -p "$R/a/b"
    echo 1 >"$R/a/b/c"
    echo 2 >"$R/a/d"
    where_not $none "$EXPFS" export "$R" "$X" --layout plain
    rm -r "$R/a/b" "$R/a/d"
    mkdir "$R/a/d"
    echo 3 >"$R/a/d/e"
    echo 4 >"$R/a/b"
    where_not $none "$EXPFS" export "$R" "$X" --layout plain
    equal "$(cat "$X/a/d/e" "$X/a/b") $(ls -A "$X")" $'3\n4 One\na\nhard\nsoft'
    set_of 1 1
    where_not $none "$EXPFS" export "$R" "$X.2"
    diff -r "$X.2/latest" "$R/checkpoint-1"
    echo own >"$X.2/latest/own"
    set_of 2 2
    where_not $none "$EXPFS" export "$R" "$X.2"
    diff -r -x own "$X.2/latest" "$R/checkpoint-2"
    equal "$(cat "$X.2/latest/own") $(ls -A "$X.2")" "own latest"
    [[ $(where_not $none "$EXPFS" export "$R" "$X.2") == *"0 B written"* ]]
}

@test "a run that was removed takes nothing out of the folder" {
    two
    echo "lr: 1" >"$R/config.yaml"
    plain
    "$EXPFS" export "$R" "$X.pair" --files config
    rm -r "$R"
    refused 1 "$EXPFS" export r "$X" --layout plain --store "$STORE"
    holds config.yaml metrics.jsonl step_1.pt step_2.pt
    "$EXPFS" export r "$X.pair" --files config --store "$STORE"
    equal "$(cat "$X.pair/config.yaml")" "lr: 1"
    umount_store
    refused 1 "$EXPFS" export r "$X" --layout plain --store "$STORE"
    holds config.yaml metrics.jsonl step_1.pt step_2.pt
}

@test "a file that goes while the export is at work is said to have changed" {
    echo one >"$R/one"
    echo two >"$R/two"
    background traced -o /dev/null -e trace=fsync -e inject=fsync:delay_enter=1500000:when=1 "$EXPFS" export "$R" "$X" --layout plain 2>"$SCRATCH/told"
    wait_until test -e "$X/.expfs-part-one"
    rm "$R/two"
    not wait "$BG"
    grep -q 'two: was changed while the export went on' "$SCRATCH/told"
    plain
    holds one
}

@test "a file that was renamed in the run goes from the folder when the new name is there, not before" {
    require_root
    mkdir "$X"
    mount -t tmpfs -o size=3m none "$X"
    LOOPS+=("$X")
    mkdir "$R/sub"
    head -c 2000000 /dev/urandom >"$R/sub/a"
    cp "$R/sub/a" "$SCRATCH/a"
    plain
    mv "$R/sub/a" "$R/sub/b"
    refused 3 "$EXPFS" export "$R" "$X" --layout plain
    cmp "$X/sub/a" "$SCRATCH/a"
    mount -o remount,size=8m "$X"
    plain
    same_tree "$R" "$X"
}
