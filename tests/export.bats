# expfs export: latest and best in a folder that a sync tool watches.

load export

# --- what is there ---

@test "export puts latest and best into a folder, whole and with their times, and nothing else" {
    two
    output=$(export_run)
    holds latest.pt best.pt
    is_same "$X/latest.pt" "$R/step_2.pt"
    is_same "$X/best.pt" "$R/step_1.pt"
    [[ $output == *"latest.pt: written"*"best.pt: written"* ]] || fail "$output"
}

@test "a second export writes nothing, and says so" {
    local before
    two
    export_run
    before=$(stamp "$X"/*)
    says '(a["written"], a["needed"], *of.values())' "(0, 0, 'unchanged', 'unchanged')"
    remount
    says '(a["written"], *of.values())' "(0, 'unchanged', 'unchanged')"
    equal "$(stamp "$X"/*)" "$before"
}

@test "a branch is named by its name, and the store by --store, mounted or not" {
    two
    "$EXPFS" export r "$X" --store "$STORE"
    is_same "$X/latest.pt" "$R/step_2.pt"
    cp -p "$R/step_2.pt" "$SCRATCH/two"
    save step_3.pt 3
    cp -p "$R/step_3.pt" "$SCRATCH/three"
    umount_store
    "$EXPFS" export r "$X" --store "$STORE"
    is_same "$X/latest.pt" "$SCRATCH/three"
    "$EXPFS" export r "$X.2" --store "$STORE"
    is_same "$X.2/latest.pt" "$SCRATCH/three"
    is_same "$X.2/best.pt" "$X/best.pt"
    refused 1 "$EXPFS" export none "$X" --store "$STORE"
}

@test "without a metric there is no best, and one that was exported stays when its metric is gone" {
    save step_1.pt 1
    export_run
    holds latest.pt
    losses 1 0.5
    export_run
    holds latest.pt best.pt
    rm "$R/metrics.jsonl"
    save step_2.pt 2
    export_run
    holds latest.pt best.pt
    cmp "$X/latest.pt" "$R/step_2.pt"
    cmp "$X/best.pt" "$R/step_1.pt"
}

@test "a run without a complete checkpoint exports nothing, and says so" {
    checkpoint torn-zip "$R/step_1.pt" 20000 1
    refused 1 "$EXPFS" export "$R" "$X"
    refused 1 "$EXPFS" export "$MNT" "$X"
    [[ $MESSAGE == "expfs: /: has no complete checkpoint"* ]] || fail "$MESSAGE"
    not test -e "$X"
    save step_2.pt 2
    export_run
    checkpoint torn-zip "$R/step_3.pt" 20000 3
    says 'of["latest.pt"]' unchanged
}

@test "a deleted best is exported from history, and an overwritten latest is the version that was whole" {
    two
    cp "$R/step_1.pt" "$SCRATCH/one"
    cp "$R/step_2.pt" "$SCRATCH/two"
    "$EXPFS" select "$R/step_1.pt"
    rm "$R/step_1.pt"
    checkpoint torn-zip "$R/step_2.pt" 20000 7
    export_run
    cmp "$X/latest.pt" "$SCRATCH/two"
    cmp "$X/best.pt" "$SCRATCH/one"
}

@test "a checkpoint that was only touched sends no content, and gives its time" {
    local before
    two
    export_run
    before=$(stat -c %i "$X"/*)
    touch -d 'tomorrow 07:08:09.123456789' "$R/step_2.pt"
    says '(a["written"], of["latest.pt"])' "(0, 'touched')"
    is_same "$X/latest.pt" "$R/step_2.pt"
    equal "$(stat -c %i "$X"/*)" "$before"
    says '(a["written"], of["latest.pt"])' "(0, 'unchanged')"
}

@test "content that changes with its size and time as before is exported" {
    save latest.pt 1
    export_run
    touch -r "$R/latest.pt" "$SCRATCH/time"
    save latest.pt 2
    touch -r "$SCRATCH/time" "$R/latest.pt"
    says 'of["latest.pt"]' written
    cmp "$X/latest.pt" "$R/latest.pt"
}

# state STEP: what a training goes on from; less NAME EXPRESSION: weights with less beside them
state() { less latest.pt "{'model': {'w': w($1)}, 'optimizer_state': {'m': w($1)}, 'rng': {'torch': w(3), 'python': w(4)}, 'step': $1}"; }
less() { python3 "$EXPFS_SRCDIR/tests/weights.py" "$R/$1" "$2"; }

@test "what is saved with less beside each state is not what latest is to be resumed from" {
    local n
    for n in 1 2; do
        state "$n"
        cp "$R/latest.pt" "$R/best.pt"
        less model_best.pt "{'model': {'w': w($n)}, 'optimizer_state': {'m': w($n)}, 'step': $n}"
        equal "$(readlink -f "$V/latest")" "$R/model_best.pt"
        export_run
        cmp "$X/latest.pt" "$R/latest.pt"
        less bare.pt "{'w': w($n)}"
        export_run
        cmp "$X/latest.pt" "$R/latest.pt"
    done
    less bare.pt "{'w': w(7)}"
    export_run
    cmp "$X/latest.pt" "$R/bare.pt"
    less model_best.pt "{'model': {'w': w(8)}, 'optimizer_state': {'m': w(8)}, 'step': 8}"
    export_run
    cmp "$X/latest.pt" "$R/model_best.pt"
}

# --- how it comes there ---

@test "what is new is written beside and renamed: who has the old file open reads it to its end" {
    two
    export_run
    exec 8<"$X/latest.pt"
    cp "$X/latest.pt" "$SCRATCH/old"
    save step_3.pt 3
    export_run
    cmp "$X/latest.pt" "$R/step_3.pt"
    cmp - "$SCRATCH/old" <&8
    exec 8<&-
}

@test "no file of the folder is opened to be written but temporaries" {
    two
    export_run
    save step_3.pt 3
    traced -f -e trace=openat,creat,truncate,open -o "$SCRATCH/trace" "$EXPFS" export "$R" "$X"
    grep -E 'O_(WRONLY|RDWR)' "$SCRATCH/trace" | grep -v ENOENT | grep -q 'expfs-part-latest.pt' || fail "no temporary"
    not grep -E 'O_(WRONLY|RDWR|TRUNC).*|creat\(|truncate\(' <(grep -E '"(latest|best)\.pt"' "$SCRATCH/trace")
    not grep -E '^[0-9]+ (creat|truncate)' "$SCRATCH/trace"
}

@test "a file of another extension goes once the new pair is whole" {
    two
    export_run
    sleep 0.02
    checkpoint safetensors "$R/step_9.safetensors" 9000 9
    output=$(export_run)
    holds latest.safetensors best.pt
    [[ $output == *"latest.pt: removed"* ]] || fail "$output"
    set_of 10 10
    export_run
    holds latest latest/model.safetensors latest/sub latest/sub/config.json latest/trainer_state.json best.pt
}

@test "what a killed export left goes with the next one, and a directory that it had put aside comes back" {
    set_of 1 1
    export_run
    mkdir "$X/.expfs-part-latest"
    echo half >"$X/.expfs-part-latest/model.safetensors"
    echo half >"$X/.expfs-part-best.pt"
    mv "$X/latest" "$X/.expfs-old-latest"
    says 'of["latest"]' unchanged
    [[ -z $(ls -A "$X" | grep expfs) ]] || fail "$(ls -A "$X")"
    cp -r "$X/latest" "$X/.expfs-old-latest"
    export_run
    [[ -z $(ls -A "$X" | grep expfs) ]] || fail "$(ls -A "$X")"
}

@test "however often an export fails, what it remembers does not grow" {
    local i
    two
    export_run
    for i in 1 2 3 4 5 6 7 8; do
        save step_3.pt 3$i
        traced -f -o /dev/null -e trace=renameat -e inject=renameat:error=EIO:when=2 "$EXPFS" export "$R" "$X" && fail "done"
    done
    (($(python3 -c 'import json, sys; print(max(len(l) for l in json.load(open(sys.argv[1]))["files"].values()))' "$STORE"/exports/*.json) <= 3)) ||
        fail "$(cat "$STORE"/exports/*.json)"
    export_run
    cmp "$X/latest.pt" "$R/step_3.pt"
}

# --- directories ---

@test "a checkpoint that is a directory is exported as one, and replaced as a whole" {
    set_of 1 1
    export_run
    diff -r "$X/latest" "$R/checkpoint-1"
    is_same "$X/latest/model.safetensors" "$R/checkpoint-1/model.safetensors"
    mkdir "$R/checkpoint-2"
    cp "$R/checkpoint-1/model.safetensors" "$R/checkpoint-2/"
    echo '{"global_step": 2}' >"$R/checkpoint-2/trainer_state.json"
    export_run
    diff -r "$X/latest" "$R/checkpoint-2"
    says '(a["written"], *of.values())' "(0, 'unchanged')"
}

@test "files that others put into an exported directory are in the next one, too" {
    set_of 1 1
    export_run
    echo mine >"$X/latest/desktop.ini"
    mkdir "$X/latest/own"
    echo deep >"$X/latest/own/notes.sync-conflict-1.txt"
    mkdir -p "$X/latest/empty/deep"
    says 'of["latest"]' unchanged
    set_of 2 2
    says 'of["latest"]' written
    [[ -d $X/latest/empty/deep ]] || fail "$(find "$X/latest")"
    equal "$(cat "$X/latest/desktop.ini")$(cat "$X/latest/own/notes.sync-conflict-1.txt")" minedeep
    cmp "$X/latest/model.safetensors" "$R/checkpoint-2/model.safetensors"
    equal "$(stat -c %h "$X/latest/desktop.ini")" 1
    checkpoint zip "$R/step_9.pt" 20000 9
    refused 3 "$EXPFS" export "$R" "$X"
    [[ $MESSAGE == *"$X/latest: was not put there by export; what is latest is latest.pt; "* ]] || fail "$MESSAGE"
    holds latest.pt latest latest/desktop.ini latest/empty latest/empty/deep latest/own latest/own/notes.sync-conflict-1.txt
}

@test "a checkpoint of which a file has no name in the folder is not exported without it, and the former one stays" {
    local long
    long=$(printf 'n%.0s' {1..254}):
    set_of 1 1
    export_run
    save step_1.pt 1
    losses 1 0.5
    set_of 2 2
    echo more >"$R/checkpoint-2/$long"
    "$EXPFS" export "$R" "$X" 2>"$SCRATCH/told" && fail "done"
    grep -q "$X/latest: is not put there, as not all of it can be; what was there before stays" "$SCRATCH/told" || fail "$(cat "$SCRATCH/told")"
    diff -r "$X/latest" "$R/checkpoint-1"
    cmp "$X/best.pt" "$R/step_1.pt"
}

# --- a folder without room ---

@test "a folder without room keeps its pair, and has no temporaries" {
    require_root
    mkdir "$X"
    mount -t tmpfs -o size=1m none "$X"
    LOOPS+=("$X")
    save step_1.pt 1 200000
    losses 1 0.5
    export_run
    save step_2.pt 2 900000
    refused 3 "$EXPFS" export "$R" "$X"
    [[ $MESSAGE == *"are to be written and"*"are free"* ]] || fail "$MESSAGE"
    holds latest.pt best.pt
    cmp "$X/latest.pt" "$R/step_1.pt"
    says 'a["free"] < 1 << 20' True --files config || true
}

@test "who runs it owns what is in the folder" {
    require_user
    two
    chown -R nobody "$R"
    chmod 600 "$R"/*
    export_run
    equal "$(stat -c '%U %a' "$X/latest.pt")" "root 600"
    umount_store
    mkdir "$SCRATCH/own"
    chown nobody "$SCRATCH/own"
    chown -R nobody "$STORE"
    as_nobody "$EXPFS" export r "$SCRATCH/own/folder" --store "$STORE"
    equal "$(stat -c '%U' "$SCRATCH/own/folder/latest.pt")" nobody
}

# --- more files ---

@test "--files adds files of the run by what they are, under their names" {
    two
    echo 'lr: 1' >"$R/config.yaml"
    mkdir -p "$R/data" "$R/logs"
    echo 1 >"$R/data/split.csv"
    echo text >"$R/logs/train.log"
    echo no >"$R/notes.txt"
    export_run --files config,metrics,data,log
    holds latest.pt best.pt config.yaml metrics.jsonl data data/split.csv logs logs/train.log
    is_same "$X/metrics.jsonl" "$R/metrics.jsonl"
    says 'a["written"]' 0 --files config,metrics,data,log
    export_run --files config
    holds latest.pt best.pt config.yaml
}

@test "what --files said once holds until it says otherwise" {
    two
    echo "lr: 1" >"$R/config.yaml"
    export_run --files config
    echo "lr: 2" >"$R/config.yaml"
    says 'of["config.yaml"]' written
    equal "$(cat "$X/config.yaml")" "lr: 2"
    export_run --files metrics
    holds latest.pt best.pt metrics.jsonl
    export_run
    holds latest.pt best.pt metrics.jsonl
    export_run --files none
    holds latest.pt best.pt
    export_run
    holds latest.pt best.pt
}

@test "a log that is being appended to is there as far as it was written" {
    save step_1.pt 1
    exec 8>"$R/train.log"
    echo one >&8
    export_run --files log
    equal "$(cat "$X/train.log")" one
    echo two >&8
    export_run --files log
    equal "$(cat "$X/train.log")" $'one\ntwo'
    exec 8>&-
}

@test "the files of the top's run are not those of other runs" {
    save step_1.pt 1
    echo 'lr: 1' >"$R/config.yaml"
    checkpoint zip "$MNT/step_5.pt" 20000 5
    echo 'lr: 5' >"$MNT/config.yaml"
    "$EXPFS" export main "$X" --files config --store "$STORE"
    holds latest.pt config.yaml
    equal "$(cat "$X/config.yaml")" 'lr: 5'
}

@test "what another puts into a directory, or changes there, while it is written anew is not lost" {
    set_of 1 1
    export_run
    set_of 2 2
    background traced -o /dev/null -e trace=fsync -e inject=fsync:delay_enter=1500000:when=1 "$EXPFS" export "$R" "$X" 2>"$SCRATCH/told"
    wait_until test -e "$X/.expfs-part-latest"
    echo own >"$X/latest/notes"
    not wait "$BG"
    grep -q 'latest: was changed while the export went on' "$SCRATCH/told"
    equal "$(cat "$X/latest/notes")" own
    echo other >"$X/latest/sub/config.json"
    refused 3 "$EXPFS" export "$R" "$X"
    cp "$R/checkpoint-1/sub/config.json" "$X/latest/sub"
    export_run
    cmp "$X/latest/model.safetensors" "$R/checkpoint-2/model.safetensors"
    equal "$(cat "$X/latest/notes")" own
}

@test "an export of another store to a folder where one is at work is refused, and what is being written stays" {
    two
    "$EXPFS" init "$SCRATCH/other"
    background traced -o /dev/null -e trace=fsync -e inject=fsync:delay_enter=1500000:when=1 "$EXPFS" export "$R" "$X"
    wait_until test -e "$X/.expfs-part-latest.pt"
    refused 3 "$EXPFS" export / "$X" --store "$SCRATCH/other" --layout plain
    wait "$BG"
    is_same "$X/latest.pt" "$R/step_2.pt"
}

@test "an export that is refused leaves no new folder behind" {
    two
    refused 2 "$EXPFS" export "$R" "$MNT/new"
    refused 2 "$EXPFS" export "$R" "$STORE/new"
    refused 1 "$EXPFS" export none "$X" --store "$STORE"
    [[ ! -e $MNT/new && ! -e $STORE/new && ! -e $X ]] || fail "$(ls "$MNT" "$STORE")"
}

@test "a failure that a drive tells when a file is closed leaves what was there" {
    two
    export_run
    cp "$X/latest.pt" "$SCRATCH/before"
    save step_3.pt 3
    not traced -o /dev/null -P "$X/.expfs-part-latest.pt" -e trace=close -e inject=close:error=EDQUOT "$EXPFS" export "$R" "$X" 2>"$SCRATCH/told"
    grep -q 'latest.pt: Disk quota exceeded' "$SCRATCH/told"
    cmp "$X/latest.pt" "$SCRATCH/before"
    holds latest.pt best.pt
}

@test "where a drive numbers its files anew, those of other extensions go all the same" {
    two
    export_run
    cp --preserve=all -r "$X" "$X.2"
    rm -r "$X"
    mv "$X.2" "$X"
    sleep 0.02
    checkpoint safetensors "$R/step_9.safetensors" 9000 9
    export_run
    holds latest.safetensors best.pt
}

@test "a link in the folder to a directory elsewhere is not gone through" {
    local before
    save step_1.pt 1
    mkdir "$R/sub"
    echo one >"$R/sub/a.log"
    export_run --files log
    mv "$X/sub" "$SCRATCH/elsewhere"
    ln -s "$SCRATCH/elsewhere" "$X/sub"
    touch -d 2020-01-01 "$SCRATCH/elsewhere/a.log"
    before=$(stamp "$SCRATCH"/elsewhere/*)
    refused 3 "$EXPFS" export "$R" "$X" --files log
    rm "$R/sub/a.log"
    export_run --files log
    equal "$(stamp "$SCRATCH"/elsewhere/*)" "$before"
}
