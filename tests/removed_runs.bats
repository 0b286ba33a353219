# Branches of runs that were removed: what their views show, under which name, and to whom.

load lib

setup() { mount_run; }
teardown() { cleanup; }

# save PATH SEED [SIZE]: a whole checkpoint, which is kept in SCRATCH/SEED, too
save() {
    checkpoint safetensors "$1" "${3:-20000}" "$2"
    cp "$1" "$SCRATCH/$2"
}

# save_dir DIR SEED: a whole checkpoint directory
save_dir() {
    mkdir -p "$1"
    bytes "$1/model.bin" 50000 "$2"
    echo '{}' >"$1/trainer_state.json"
}

# train [RUN] [SEED]: two experiments with a checkpoint each; A and B are their hashes
train() {
    local run=${1:-r} seed=${2:-1}
    mkdir -p "$MNT/runs/$run"
    echo "lr: 0.$seed" >"$MNT/runs/$run/config.yaml"
    save "$MNT/runs/$run/step_100.safetensors" "$seed"
    A=$(head_of "$run")
    echo "lr: 0.0$seed" >"$MNT/runs/$run/config.yaml"
    save "$MNT/runs/$run/step_200.safetensors" $((seed + 50))
    B=$(head_of "$run")
    not equal "$A" "$B" 2>/dev/null
}

head_of() { cat "$MNT/branches/$1/HEAD"; }
branches() { ls "$MNT/branches" | tr '\n' ' '; }

# answer EXPRESSION COMMAND...: of the JSON that a command prints
answer() { "$EXPFS" "${@:2}" --json 3>&- | python3 -c "import json, sys; r = json.load(sys.stdin); print($1)"; }
branch_json() { answer "[b for b in r['branches'] if b['name'] == '$1'][0]$2" status "$MNT"; }

# --- what it shows ---

@test "a removed run's branch keeps latest, step, HEAD, log and manifest.yaml, and has no run" {
    train
    local log manifest
    log=$(grep -v ^latest "$MNT/branches/r/log")
    rm -r "$R"
    equal "$(branches)" "r "
    equal "$(ls "$MNT/branches/r" | tr '\n' ' ')" "HEAD latest log manifest.yaml pending step "
    equal "$(readlink "$MNT/branches/r/latest")" ../../.expfs/history/runs/r/step_200.safetensors/1.safetensors
    cmp "$MNT/branches/r/latest" "$SCRATCH/51"
    equal "$(ls "$MNT/branches/r/step" | tr '\n' ' ')" "100 200 "
    cmp "$MNT/branches/r/step/100" "$SCRATCH/1"
    cmp "$MNT/branches/r/step/120" "$SCRATCH/1"
    equal "$(head_of r)" "$B"
    equal "$(cat "$MNT/branches/r/pending")" ""
    equal "$(grep -v ^latest "$MNT/branches/r/log")" "$log"
    grep -q "$A" "$MNT/branches/r/manifest.yaml"
    not test -e "$MNT/branches/r/run"
    umount_store
    mount_store
    cmp "$MNT/branches/r/latest" "$SCRATCH/51"
    cmp "$MNT/branches/r/step/1" "$SCRATCH/1"
    equal "$(head_of r)" "$B"
}

@test "a run that is removed with rmdir, name by name, keeps its branch as well" {
    train
    rm "$R"/*
    not test -e "$MNT/branches/r/latest"
    rmdir "$R"
    cmp "$MNT/branches/r/latest" "$SCRATCH/51"
}

@test "an empty run that another directory is renamed over was removed" {
    train
    rm "$R"/*
    mkdir "$MNT/runs/new"
    save "$MNT/runs/new/last.safetensors" 7
    mv -T "$MNT/runs/new" "$R"
    cmp "$MNT/branches/r/latest" "$SCRATCH/7"
    cmp "$MNT/branches/r~1/latest" "$SCRATCH/51"
    equal "$(branches)" "r r~1 "
}

@test "a run that is moved out of runs/ is no removed one, also when it is removed there" {
    train
    mv "$R" "$MNT/archive"
    equal "$(branches)" "main "
    mkdir "$R"
    train
    mv "$R" "$MNT/other"
    rm -r "$MNT/other"
    equal "$(branches)" "main "
}

@test "of a removed run the last complete version of each path counts, whenever it went" {
    local i
    for i in 1 2 3; do
        save "$R/last.safetensors" "$i"
        save "$R/step_$i.safetensors" "1$i"
        rm -f "$R/step_$((i - 1)).safetensors"
    done
    head -c 1000 "$SCRATCH/3" >"$R/last.safetensors"
    rm -r "$R"
    equal "$(ls "$MNT/branches/r/step" | tr '\n' ' ')" "1 2 3 "
    cmp "$MNT/branches/r/latest" "$SCRATCH/13"
    for i in 1 2 3; do cmp "$MNT/branches/r/step/$i" "$SCRATCH/1$i"; done
    mkdir "$R"
    save "$R/last.safetensors" 21
    rm "$R/last.safetensors"
    save "$R/last.safetensors" 22
    head -c 1000 "$SCRATCH/3" >"$R/last.safetensors"
    rm -r "$R"
    cmp "$MNT/branches/r/latest" "$SCRATCH/22"
}

@test "a checkpoint that was saved a moment before the run was removed is the latest" {
    save "$R/step_1.safetensors" 1
    rm -r "$R"
    cmp "$MNT/branches/r/latest" "$SCRATCH/1"
    equal "$(answer 'len(r["experiments"])' log "$MNT/runs")" 1
}

@test "checkpoint directories of a removed run are directories in history" {
    save_dir "$R/checkpoint-5" 1
    test -e "$MNT/branches/r/latest"
    cp -r "$R/checkpoint-5" "$SCRATCH/5"
    rm -r "$R"
    diff -r "$MNT/branches/r/latest" "$SCRATCH/5"
    diff -r "$MNT/branches/r/step/9" "$SCRATCH/5"
}

@test "the best of a removed run is the one that it was" {
    local i
    for i in 1 2 3; do
        save "$R/step_$i.safetensors" "$i"
        echo "{\"step\": $i, \"val_loss\": $(((i - 2) * (i - 2)))}" >>"$R/metrics.jsonl"
    done
    cmp "$MNT/branches/r/best" "$SCRATCH/2"
    rm -r "$R"
    cmp "$MNT/branches/r/best" "$SCRATCH/2"
    equal "$(answer 'len(r["curves"][0]["points"])' signal r --store "$STORE")" 3
    equal "$(branch_json r "['best']['value']")" 0.0
    remount
    cmp "$MNT/branches/r/best" "$SCRATCH/2"
}

@test "what was set or recorded for a removed run decides which is its best" {
    local i
    for i in 1 2 3; do save "$R/step_$i.safetensors" "$i"; done
    setfattr -n user.expfs.metric.val_loss -v 0.5 "$R/step_1.safetensors"
    "$EXPFS" signal "$MNT/runs/r" --step 3 val_loss=0.9 3>&-
    rm -r "$R"
    cmp "$MNT/branches/r/best" "$SCRATCH/1"
    equal "$(answer 'r["curves"][0]["points"]' signal r --store "$STORE")" "[[3, 0.9]]"
}

@test "what a load took off the line of a run is off it when the run is removed" {
    train
    "$EXPFS" load "$A" r --store "$STORE" >/dev/null
    equal "$(ls "$MNT/branches/r/step" | tr '\n' ' ')" "100 "
    save "$R/step_150.safetensors" 9
    rm -r "$R"
    equal "$(ls "$MNT/branches/r/step" | tr '\n' ' ')" "100 150 "
    cmp "$MNT/branches/r/latest" "$SCRATCH/9"
}

@test "nothing of a removed run is latest in a .expfs/" {
    train
    train other 2
    rm -r "$R"
    equal "$(readlink -f "$MNT/runs/.expfs/latest")" "$MNT/runs/other/step_200.safetensors"
    equal "$(readlink -f "$MNT/.expfs/step/100")" "$MNT/runs/other/step_100.safetensors"
    rm -r "$MNT/runs/other"
    not test -L "$MNT/runs/.expfs/latest"
}

# --- its name ---

@test "once a new run of the name holds a file with a role, the old one is NAME~1" {
    train
    rm -r "$R"
    mkdir "$R"
    echo x >"$R/notes.txt"
    equal "$(branches)" "r "
    equal "$(head_of r)" "$B"
    echo "lr: 0.7" >"$R/config.yaml"
    equal "$(branches)" "r r~1 "
    equal "$(head_of r)" ""
    equal "$(head_of r~1)" "$B"
    cmp "$MNT/branches/r~1/latest" "$SCRATCH/51"
    not test -L "$MNT/branches/r/latest"
}

@test "after two removals there are NAME~1 and NAME~2, the oldest first, as in history" {
    local i
    for i in 1 2 3; do
        mkdir -p "$R"
        echo "lr: 0.$i" >"$R/config.yaml"
        save "$R/step_$i.safetensors" "$i"
        ((i == 3)) || rm -r "$R"
    done
    equal "$(branches)" "r r~1 r~2 "
    cmp "$MNT/branches/r/latest" "$SCRATCH/3"
    for i in 1 2; do
        cmp "$MNT/branches/r~$i/latest" "$SCRATCH/$i"
        cmp "$MNT/.expfs/history/runs/r~$i/step_$i.safetensors/1.safetensors" "$SCRATCH/$i"
        equal "$(ls "$MNT/branches/r~$i/step")" "$i"
        equal "$(cat "$MNT/branches/r~$i/log" | grep -c ^experiment)" 1
    done
    rm -r "$R"
    cmp "$MNT/branches/r/latest" "$SCRATCH/3"
    equal "$(branches)" "r r~1 r~2 "
}

@test "a new run does not mix with the one that was removed" {
    train
    echo "{\"step\": 1, \"val_loss\": 0}" >"$R/metrics.jsonl"
    rm -r "$R"
    train r 3
    equal "$(ls "$MNT/branches/r/step" | tr '\n' ' ')" "100 200 "
    cmp "$MNT/branches/r/step/100" "$SCRATCH/3"
    cmp "$MNT/branches/r~1/step/100" "$SCRATCH/1"
    equal "$(grep -c ^experiment "$MNT/branches/r/log")" 2
    equal "$(ls "$R/.expfs/history/step_100.safetensors")" 1.safetensors
    not test -L "$MNT/branches/r/best"
    echo "lr: 0.9" >"$R/config.yaml"
    equal "$(head -n 1 "$MNT/branches/r/pending")" HP
    equal "$(cat "$MNT/branches/r~1/pending")" ""
}

@test "a run that is really named NAME~1 stands in front of a removed one, which takes the next free number" {
    train
    rm -r "$R"
    train r 2
    mkdir "$MNT/runs/r~1"
    cmp "$MNT/branches/r~1/latest" "$SCRATCH/51"
    save "$MNT/runs/r~1/step_5.safetensors" 5
    equal "$(branches)" "r r~1 r~2 "
    cmp "$MNT/branches/r~1/latest" "$SCRATCH/5"
    equal "$(readlink "$MNT/branches/r~1/run")" ../../runs/r~1
    cmp "$MNT/branches/r~2/latest" "$SCRATCH/51"
    cmp "$MNT/.expfs/history/runs/r~2/step_200.safetensors/1.safetensors" "$SCRATCH/51"
    rm -r "$R"
    train r 3
    cmp "$MNT/branches/r~3/latest" "$SCRATCH/52"
    rm -r "$MNT/runs/r~1"
    cmp "$MNT/branches/r~1/latest" "$SCRATCH/5"
    save_dir "$MNT/runs/r~1/checkpoint-9" 9
    cmp "$MNT/branches/r~1~1/latest" "$SCRATCH/5"
    equal "$(branches)" "r r~1 r~1~1 r~2 r~3 "
}

@test "a renamed run leaves its removed predecessor where it is" {
    train
    rm -r "$R"
    train r 2
    mv "$R" "$MNT/runs/s"
    equal "$(branches)" "r~1 s "
    cmp "$MNT/branches/r~1/latest" "$SCRATCH/51"
    cmp "$MNT/branches/s/latest" "$SCRATCH/52"
    rm -r "$MNT/runs/s"
    train t 3
    mv "$MNT/runs/t" "$MNT/runs/s"
    equal "$(branches)" "r~1 s s~1 "
    cmp "$MNT/branches/s~1/latest" "$SCRATCH/52"
    cmp "$MNT/branches/s/latest" "$SCRATCH/53"
}

@test "runs by other patterns keep their branches, too, and so do all when the directory of runs is removed" {
    umount_store
    echo 'runs: ["/runs/*", "/lab/*/run?"]' >"$STORE/config.yaml"
    mount_store
    mkdir -p "$MNT/lab/a/run1"
    save "$MNT/lab/a/run1/step_1.safetensors" 1
    rm -r "$MNT/lab/a/run1"
    cmp "$MNT/branches/lab.a.run1/latest" "$SCRATCH/1"
    mkdir -p "$MNT/lab/a/run1"
    save "$MNT/lab/a/run1/step_2.safetensors" 2
    equal "$(branches)" "lab.a.run1 lab.a.run1~1 "
    cmp "$MNT/branches/lab.a.run1~1/latest" "$SCRATCH/1"
    train
    rm -r "$MNT/runs"
    cmp "$MNT/branches/r/latest" "$SCRATCH/51"
    mkdir "$MNT/runs"
    train
    equal "$(branches)" "lab.a.run1 lab.a.run1~1 r r~1 "
}

# --- commands ---

@test "status and log know a removed run, whose run is null" {
    train
    rm -r "$R"
    train r 2
    equal "$(branch_json r~1 "['run']")" None
    equal "$(branch_json r~1 "['latest']['path']")" /.expfs/history/runs/r~1/step_200.safetensors/1.safetensors
    equal "$(branch_json r~1 "['pending']['components']")" "[]"
    equal "$(answer 'len(r["warnings"])' status "$MNT")" 0
    "$EXPFS" status "$MNT" 3>&- | grep -q "^  *r~1 (removed): /.expfs/history/"
    equal "$(answer '[e["branches"] for e in r["experiments"]], r["branches"][0]["run"]' log r~1 --store "$STORE")" \
        "[['r~1'], ['r~1']] None"
    "$EXPFS" log r~1 --store "$STORE" 3>&- | grep -q "^latest .*/.expfs/history/runs/r~1/step_200"
    equal "$("$EXPFS" branch --store "$STORE" 3>&- | grep -c '^r~1 ')" 1
    equal "$(answer 'r["branch"]' show "$MNT/runs/r~1/step_200.safetensors")" r~1
}

@test "an experiment of a removed run is shown and loaded, and begins a new branch" {
    local old_a old_b
    train
    rm -r "$R"
    old_a=$A
    old_b=$B
    train r 2
    equal "$(answer 'r["experiment"]["branches"], r["experiment"]["head_of"]' show "$old_b" --store "$STORE")" "['r~1'] ['r~1']"
    cmp "$MNT/experiments/$old_b/latest" "$SCRATCH/51"
    equal "$(ls "$MNT/experiments/$old_a/step")" 100
    grep -qx "lr: 0.1" "$MNT/experiments/$old_a/HP/config.yaml"
    "$EXPFS" branch new --from r~1 --store "$STORE" >/dev/null
    equal "$(head_of new)" "$old_b"
    cmp "$MNT/runs/new/step_200.safetensors" "$SCRATCH/51"
    "$EXPFS" branch newer --from r~1@100 --store "$STORE" >/dev/null
    equal "$(head_of newer)" "$old_a"
    "$EXPFS" load "$old_a" r --store "$STORE" >/dev/null
    cmp "$R/step_100.safetensors" "$SCRATCH/1"
}

@test "an experiment's checkpoints are those that are there, and those of removed runs where there are no others" {
    train
    mkdir "$MNT/runs/same"
    cp "$R/config.yaml" "$MNT/runs/same/"
    save "$MNT/runs/same/step_300.safetensors" 9
    equal "$(head_of same)" "$B"
    rm -r "$MNT/runs/same"
    cmp "$MNT/experiments/$B/latest" "$SCRATCH/51"
    equal "$(ls "$MNT/experiments/$B/step")" 200
    cmp "$MNT/branches/same/latest" "$SCRATCH/9"
    rm -r "$R"
    cmp "$MNT/experiments/$B/latest" "$SCRATCH/9"
    equal "$(ls "$MNT/models/${B:8:8}/step" | tr '\n' ' ')" "100 200 300 "
}

@test "a removed run takes nothing: commit, load, signal and a line to HEAD are refused" {
    train
    rm -r "$R"
    refused 3 "$EXPFS" commit r --store "$STORE"
    [[ $MESSAGE == "expfs: r: its run was removed; make it again with mkdir $R, or "*"expfs branch NEW --from r" ]] || fail "$MESSAGE"
    refused 3 "$EXPFS" load "$A" r --store "$STORE"
    [[ $MESSAGE == "expfs: r: its run was removed; "*"expfs branch NEW --from $A" ]] || fail "$MESSAGE"
    refused 3 "$EXPFS" signal r --step 1 x=1 --store "$STORE"
    equal "$(errno_of bash -c "echo $A >'$MNT/branches/r/HEAD'")" "Read-only file system"
    equal "$(stat -c %A "$MNT/branches/r/HEAD")" -r--r--r--
    equal "$(ls "$MNT/runs")" ""
    mkdir "$R"
    "$EXPFS" load "$A" r --store "$STORE" >/dev/null
    equal "$(head_of r)" "$A"
    equal "$(head_of r~1)" "$B"
    cmp "$R/step_100.safetensors" "$SCRATCH/1"
}

@test "a version of a removed run may be forgotten, and the one before it counts" {
    local i
    for i in 1 2; do save "$R/last.safetensors" "$i"; done
    save "$R/step_5.safetensors" 5
    setfattr -n user.expfs.metric.val_loss -v 1 "$R/step_5.safetensors"
    rm -r "$R"
    cmp "$MNT/branches/r/best" "$SCRATCH/5"
    "$EXPFS" forget "$R/step_5.safetensors@1" >/dev/null
    cmp "$MNT/branches/r/latest" "$SCRATCH/2"
    not test -L "$MNT/branches/r/best"
    equal "$(ls "$MNT/branches/r/step")" ""
    "$EXPFS" forget "$R/last.safetensors@2" >/dev/null
    cmp "$MNT/branches/r/latest" "$SCRATCH/1"
    "$EXPFS" forget "$R/last.safetensors@1" >/dev/null
    equal "$(branches)" ""
}

# --- to whom, and after what ---

as() { setpriv --reuid="$1" --regid="$1" --clear-groups -- "${@:2}"; }

@test "a removed run is shown to whom it was shown" {
    require_root
    umount_store
    mount_store -o allow_other
    mkdir -m 755 "$R/open"
    mkdir -m 700 "$R/closed"
    save "$R/open/step_1.safetensors" 1
    save "$R/closed/step_2.safetensors" 2
    mkdir -m 700 "$MNT/runs/private"
    save "$MNT/runs/private/step_3.safetensors" 3
    rm -r "$R" "$MNT/runs/private"
    equal "$(branches)" "private r "
    cmp "$MNT/branches/r/latest" "$SCRATCH/2"
    as 1002 cmp "$MNT/branches/r/latest" "$SCRATCH/1"
    equal "$(as 1002 ls "$MNT/branches/r/step")" 1
    equal "$(errno_of setpriv --reuid=1002 --clear-groups ls "$MNT/branches/private/")" "Permission denied"
    cmp "$MNT/branches/private/latest" "$SCRATCH/3"
    chmod 700 "$MNT/runs"
    equal "$(as 1002 ls "$MNT/branches")" ""
    equal "$(errno_of setpriv --reuid=1002 --clear-groups ls "$MNT/branches/r")" "No such file or directory"
}

@test "a daemon that is killed right after a run was removed shows its branch when the store is mounted again" {
    train
    rm -rf "$R"
    kill_daemon
    fusermount3 -uz "$MNT"
    mount_store
    equal "$(branches)" "r "
    cmp "$MNT/branches/r/latest" "$SCRATCH/51"
    cmp "$MNT/branches/r/step/100" "$SCRATCH/1"
    equal "$(head_of r)" "$B"
    train r 2
    rm -rf "$R"
    mkdir "$R"
    kill_daemon
    fusermount3 -uz "$MNT"
    mount_store
    cmp "$MNT/branches/r/latest" "$SCRATCH/52"
    cmp "$MNT/branches/r~1/latest" "$SCRATCH/51"
}

# sql STATEMENT: in the database of the store, which is not mounted
sql() {
    python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()' \
        "$STORE/expfs.db" "$1"
}

@test "fsck --repair lets the rows of a removed run find their checkpoints again" {
    train
    rm -r "$R"
    cmp "$MNT/branches/r/latest" "$SCRATCH/51"
    umount_store
    sql "UPDATE tracked SET good=1000000 WHERE good IS NOT NULL"
    not "$EXPFS" fsck "$STORE" >/dev/null 2>&1
    "$EXPFS" fsck --repair "$STORE" >/dev/null 2>&1 || true
    mount_store
    cmp "$MNT/branches/r/latest" "$SCRATCH/51"
    cmp "$MNT/branches/r/step/100" "$SCRATCH/1"
}

@test "a removed run with more checkpoints than are given back at once has them all" {
    local i
    save "$SCRATCH/one.safetensors" 1 2000
    for i in $(seq 1 150); do cp "$SCRATCH/one.safetensors" "$R/step_$i.safetensors"; done
    test -e "$MNT/branches/r/latest"
    rm -r "$R"
    equal "$(ls "$MNT/branches/r/step" | wc -l)" 150
    equal "$(readlink "$MNT/branches/r/latest")" ../../.expfs/history/runs/r/step_150.safetensors/1.safetensors
}

@test "what was removed before branches of removed runs were kept comes back when the store is opened" {
    train
    rm -r "$R"
    equal "$(readlink "$MNT/branches/r/latest")" ../../.expfs/history/runs/r/step_200.safetensors/1.safetensors
    umount_store
    python3 - "$STORE"/*.db <<'PY' # as it was left then
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE tracked SET good=NULL, step=-1, rank=0 WHERE ino IS NULL")
for table in "weights", "unread", "holds":
    db.execute("DROP TABLE " + table)
db.execute("PRAGMA user_version=3")
db.commit()
PY
    printf 'expfs store\nformat 3\n' >"$STORE/format"
    mount_store
    cmp "$MNT/branches/r/latest" "$SCRATCH/51"
    equal "$(ls "$MNT/branches/r/step" | tr '\n' ' ')" "100 200 "
}
