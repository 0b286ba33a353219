# Experiments: the hash of what lies in a run, the line of a branch, what is pending, and commit.

load lib

setup() {
    scratch
    store_init
    mount_store
    R=$MNT/runs/r
    mkdir "$R"
}
teardown() { cleanup; }

# weights PATH TENSOR [SEED]: a safetensors file with one tensor of 6 numbers; with a fourth argument that is run
# between its first byte and its last
weights() {
    python3 - "$@" <<'PY'
import json, os, struct, subprocess, sys
path, tensor, seed = sys.argv[1], sys.argv[2], float((sys.argv + ["0"])[3])
header = json.dumps({tensor: {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
with open(path, "wb", buffering=0) as f:
    f.write(struct.pack("<Q", len(header)) + header)
    if len(sys.argv) > 4:
        subprocess.run(sys.argv[4], shell=True, check=True)
    f.write(struct.pack("<6f", *[seed] * 6))
PY
}

# hp EXPRESSION: the HP segment of a configuration, as Python makes it
hp() {
    python3 - "$1" <<'PY'
import hashlib, json, sys
config = eval(sys.argv[1])
config.setdefault("auditor_mode", False)
print(hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode()).hexdigest()[:8])
PY
}

# model TENSOR [INIT_STEP]: the MODEL segment of weights with that tensor
model() {
    printf 'init_step:%d\n%s:float32:[2,3]\n' "${2:-0}" "$1" | sha256sum | cut -c -8
}

# data FILE...: the DATA segment of files, in order of their paths
data() {
    local f
    for f; do
        printf '%s %s\0' "$(getfattr --only-values -n user.expfs.digest "$R/$f")" "$f"
    done | sha256sum | cut -c -8
}

NONE=00000000

# branch EXPRESSION [NAME]: of what status says of a branch b
branch() {
    "$EXPFS" status "$MNT" --json 3>&- | python3 -c '
import json, sys
r = json.load(sys.stdin)
b = next((b for b in r["branches"] if b["name"] == sys.argv[2]), None)
print(eval(sys.argv[1]))' "$1" "${2:-r}"
}

head_of() { branch 'b["head"]' "$@"; }
pending() { branch '" ".join(b["pending"]["components"]) + ":" + str(b["pending"]["hash"])' "$@"; }
warnings() { branch '" ".join(w["kind"] + "=" + str(w["path"]) for w in r["warnings"])'; }
hash_of() { getfattr --only-values -n user.expfs.hash "$1"; }

# row EXPRESSION: of the database of the store, which is not mounted
row() { python3 -c 'import sqlite3, sys; print(*[" ".join(map(str, r)) for r in sqlite3.connect(sys.argv[1]).execute(sys.argv[2])], sep="\n")' "$STORE/expfs.db" "$1"; }

# line [NAME]: the hashes that a branch went through, and ends the mount
line() {
    head_of "${1:-r}" >/dev/null
    umount_store
    row "SELECT e.hash FROM line l JOIN experiment e ON e.id=l.experiment JOIN tracked t ON t.id=l.run WHERE t.name=CAST('${1:-r}' AS BLOB) ORDER BY l.at"
}

# --- hashes ---

@test "the hash is that of configuration, weights and data" {
    echo 'lr: 0.1' >"$R/config.yaml"
    mkdir "$R/data"
    echo a >"$R/data/a.txt"
    echo b >"$R/data/b.txt"
    weights "$R/step_1.safetensors" w
    equal "$(head_of)" "$(hp '{"lr": 0.1}')$(model w)$(data data/a.txt data/b.txt)"
    equal "$(hash_of "$R/step_1.safetensors")" "$(head_of)"
    equal "$(hash_of "$R/config.yaml")" "$(head_of)"
    equal "$(getfattr --only-values -n user.expfs.branch "$R/step_1.safetensors")" r
}

@test "what is absent is eight zeros, and a run of which all is absent has no experiment" {
    head -c 100 /dev/urandom >"$R/step_1.ckpt"
    equal "$(head_of)/$(pending)" "None/:None"
    run "$EXPFS" commit "$R/" 3>&-
    equal $status 1
    [[ $output == "expfs: r: has no configuration, model or data file"* ]]
    echo 'lr: 0.1' >"$R/config.yaml"
    run "$EXPFS" commit "$R/" 3>&-
    equal $status 0
    equal "$(head_of)" "$(hp '{"lr": 0.1}')$NONE$NONE"
}

@test "an architecture file stands for the model instead of the weights" {
    local sum
    echo layers >"$R/architecture.txt"
    weights "$R/step_1.safetensors" w
    sum=$(printf '%s -\0' "$(getfattr --only-values -n user.expfs.digest "$R/architecture.txt")" | sha256sum | cut -c -8)
    equal "$(head_of)" "$NONE$sum$NONE"
    weights "$R/step_2.safetensors" other
    equal "$(head_of)" "$NONE$sum$NONE"
}

@test "comments, layout and the order of keys do not change the hash, and keys of hash.ignore do not count" {
    printf 'lr: 0.1\nlayers: [1, 2]\n' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    local was
    was=$(head_of)
    printf '# of the day\nlayers:\n- 1\n- 2\n"lr":   0.1\nroot_log_dir: /tmp/x\n' >"$R/config.yaml"
    equal "$(pending)" ":None"
    weights "$R/step_2.safetensors" w 1
    equal "$(head_of)" "$was"
    umount_store
    printf 'hash:\n  ignore: [lr]\n' >"$STORE/config.yaml"
    mount_store
    equal "$(pending)" "HP:$(hp '{"layers": [1, 2], "root_log_dir": "/tmp/x"}')$(model w)$NONE"
}

@test "the first of two digests that begin alike keeps its name, and status tells of the other" {
    echo 'lr: 0.1' >"$R/config.yaml"
    umount_store
    python3 - "$STORE/expfs.db" "$(hp '{"lr": 0.1}')" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("INSERT INTO segment VALUES(0, ?, ?)", (sys.argv[2], sys.argv[2] + "0" * 56))
db.commit()
PY
    mount_store
    weights "$R/step_1.safetensors" w
    local next
    next=$(python3 -c 'import hashlib; print(hashlib.sha256(b"{\"auditor_mode\": false, \"lr\": 0.1}").hexdigest()[8:16])')
    equal "$(head_of)" "$next$(model w)$NONE"
    [[ $(warnings) == *collision=None* ]]
}

# --- pending and commit ---

@test "an edit is pending until the next checkpoint completes, and that one's experiment comes from the last" {
    echo 'lr: 0.1' >"$R/config.yaml"
    equal "$(pending)" "HP:$(hp '{"lr": 0.1}')$NONE$NONE"
    weights "$R/step_1.safetensors" w
    equal "$(pending)" ":None"
    local first second
    first=$(head_of)
    second=$(hp '{"lr": 0.2}')$(model w)$NONE
    echo 'lr: 0.2' >"$R/config.yaml"
    equal "$(head_of)/$(pending)" "$first/HP:$second"
    weights "$R/step_2.safetensors" w 1
    equal "$(head_of)/$(pending)" "$second/:None"
    equal "$(hash_of "$R/step_1.safetensors")" "$first"
    equal "$(line)" "$first
$second"
    equal "$(row "SELECT e.hash, p.hash FROM experiment e JOIN experiment p ON p.id=e.parent")" "$second $first"
}

@test "data files that come, change and go are pending" {
    mkdir "$R/data"
    echo a >"$R/data/a.txt"
    weights "$R/step_1.safetensors" w
    local was
    was=$(head_of)
    echo b >"$R/data/b.txt"
    equal "$(pending)" "DATA:$NONE$(model w)$(data data/a.txt data/b.txt)"
    rm "$R/data/b.txt"
    equal "$(pending)" ":None"
    rm "$R/data/a.txt"
    equal "$(pending)" "DATA:$NONE$(model w)$NONE"
    equal "$(head_of)" "$was"
}

@test "an edit that is undone is not pending, and leaves no experiment" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    echo 'lr: 0.2' >"$R/config.yaml"
    echo 'lr: 0.1' >"$R/config.yaml"
    equal "$(pending)" ":None"
    weights "$R/step_2.safetensors" w 1
    equal "$(line)" "$(hp '{"lr": 0.1}')$(model w)$NONE"
}

@test "commit makes what is pending an experiment, once" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    echo 'lr: 0.2' >"$R/config.yaml"
    local second
    second=$(hp '{"lr": 0.2}')$(model w)$NONE
    run "$EXPFS" commit r --store "$STORE" 3>&-
    equal $status 0
    equal "$output" "r: $second"
    cd "$R"
    run "$EXPFS" commit 3>&-
    equal $status 0
    equal "$output" "r: nothing is pending, it is at $second"
    cd /
    equal "$(head_of)/$(pending)" "$second/:None"
    weights "$R/step_2.safetensors" w 1
    equal "$(hash_of "$R/step_2.safetensors")" "$second"
    run "$EXPFS" commit nobody --store "$STORE" 3>&-
    equal $status 1
    run "$EXPFS" commit a b 3>&-
    equal $status 2
    equal "$(line | wc -l)" 2
    echo "works on a store that is not mounted"
    run "$EXPFS" commit r --store "$STORE" 3>&-
    equal $status 0
}

@test "with commit: immediate each close makes an experiment" {
    umount_store
    echo 'commit: immediate' >"$STORE/config.yaml"
    mount_store
    echo 'lr: 0.1' >"$R/config.yaml"
    echo 'lr: 0.2' >"$R/config.yaml"
    equal "$(head_of)/$(pending)" "$(hp '{"lr": 0.2}')$NONE$NONE/:None"
    weights "$R/step_1.safetensors" w
    echo 'lr: 0.1' >"$R/config.yaml"
    echo 'lr: 0.3' >"$R/config.yaml"
    equal "$(line)" "$(for c in "0.1 $NONE" "0.2 $NONE" "0.2 $(model w)" "0.1 $(model w)" "0.3 $(model w)"; do
        echo "$(hp "{'lr': ${c% *}}")${c#* }$NONE"
    done)"
}

# --- which experiment a checkpoint belongs to ---

@test "a checkpoint belongs to what lay there when its first byte was written, and an edit during the save stays pending" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w 1 "echo 'lr: 0.2' >$R/config.yaml"
    local second
    second=$(hp '{"lr": 0.2}')$(model w)$NONE
    equal "$(head_of)" "$(hp '{"lr": 0.1}')$(model w)$NONE"
    equal "$(pending)" "HP:$second"
    weights "$R/step_2.safetensors" w 2
    equal "$(head_of)/$(pending)" "$second/:None"
}

@test "the same holds for a file that is overwritten, and for one that is renamed into place" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/last.safetensors" w 1
    echo 'lr: 0.2' >"$R/config.yaml"
    weights "$R/last.safetensors" w 2 "echo 'lr: 0.3' >$R/config.yaml"
    equal "$(head_of)" "$(hp '{"lr": 0.2}')$(model w)$NONE"
    weights "$R/x.tmp" w 3 "echo 'lr: 0.4' >$R/config.yaml"
    mv "$R/x.tmp" "$R/last.safetensors"
    equal "$(head_of)" "$(hp '{"lr": 0.3}')$(model w)$NONE"
    equal "$(hash_of "$R/last.safetensors")" "$(head_of)"
}

@test "a checkpoint directory belongs to what lay there when the first of its new files was begun" {
    echo 'lr: 0.1' >"$R/config.yaml"
    mkdir "$R/checkpoint-1"
    weights "$R/checkpoint-1/model.safetensors" w
    echo 'lr: 0.2' >"$R/config.yaml"
    echo '{}' >"$R/checkpoint-1/trainer_state.json"
    equal "$(head_of)" "$(hp '{"lr": 0.1}')$(model w)$NONE"
    touch "$R/checkpoint-1/trainer_state.json"
    equal "$(hash_of "$R/checkpoint-1")" "$(hp '{"lr": 0.1}')$(model w)$NONE"
    weights "$R/checkpoint-1/model.safetensors" w 2
    equal "$(head_of)" "$(hp '{"lr": 0.2}')$(model w)$NONE"
    equal "$(hash_of "$R/checkpoint-1")" "$(head_of)"
}

@test "a checkpoint that completes after a later one's stands before that on the line" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w 1 "
        echo 'lr: 0.2' >$R/config.yaml
        $(declare -f weights)
        weights $R/step_2.safetensors w 2
        getfattr -n user.expfs.hash $R/step_2.safetensors >/dev/null"
    equal "$(hash_of "$R/step_2.safetensors")" "$(head_of)"
    equal "$(head_of)" "$(hp '{"lr": 0.2}')$(model w)$NONE"
    equal "$(hash_of "$R/step_1.safetensors")" "$(hp '{"lr": 0.1}')$(model w)$NONE"
    equal "$(line)" "$(hp '{"lr": 0.1}')$(model w)$NONE
$(hp '{"lr": 0.2}')$(model w)$NONE"
}

@test "of saves that follow each other at once each belongs to its own configuration" {
    local i
    for i in 1 2 3 4; do
        echo "lr: 0.$i" >"$R/config.yaml"
        weights "$R/last.safetensors" w $i
    done
    equal "$(line | wc -l)" 4
    equal "$(row "SELECT count(DISTINCT experiment) FROM version WHERE complete=1")" 4
}

@test "equal bytes saved under another configuration belong to both" {
    local h=$MNT/.expfs/history/runs/r/step_2.safetensors a b
    a=$(hp '{"lr": 0.1}')$(model w)$NONE
    b=$(hp '{"lr": 0.2}')$(model w)$NONE
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    weights "$R/step_2.safetensors" w
    setfattr -n user.expfs.metric.loss -v 0.5 "$R/step_2.safetensors"
    weights "$R/step_3.safetensors" w
    echo 'lr: 0.2' >"$R/config.yaml"
    weights "$R/step_2.safetensors" w
    equal "$(hash_of "$R/step_2.safetensors")" "$b"
    equal "$(ls "$h")" $'1.safetensors\n2.safetensors'
    equal "$(ls "$MNT/experiments/$a/step")/$(ls "$MNT/experiments/$b/step")" $'1\n2\n3/2'
    equal "$(readlink "$MNT/experiments/$a/latest")" "../../runs/r/step_3.safetensors"
    weights "$R/step_2.safetensors" w
    equal "$(ls "$h")" $'1.safetensors\n2.safetensors' "saved again where it belongs"
    "$EXPFS" load "$a@2" "$R"
    equal "$(hash_of "$R/step_2.safetensors")" "$a"
    umount_store
    equal "$(row "SELECT count(*), count(DISTINCT v.experiment) FROM version v JOIN metric m ON m.of=v.id WHERE m.name=CAST('loss' AS BLOB)")" "3 2"
    "$EXPFS" fsck "$STORE"
}

@test "the same holds for a checkpoint directory, and before anybody asked" {
    local i s
    for i in 0.1 0.2; do
        echo "lr: $i" >"$R/config.yaml"
        mkdir -p "$R/checkpoint-5"
        weights "$R/step_2.safetensors" w
        weights "$R/checkpoint-5/model.safetensors" w 5
        echo '{"global_step": 5}' >"$R/checkpoint-5/trainer_state.json"
        readlink "$R/.expfs/latest"
    done
    for i in 0.1 0.2; do
        s=$MNT/experiments/$(hp "{\"lr\": $i}")$(model w)$NONE/step
        equal "$(ls "$s")" $'2\n5' "$i"
        equal "$(ls "$s/5/")" $'model.safetensors\ntrainer_state.json' "$i"
    done
    weights "$R/checkpoint-5/model.safetensors" w 5
    echo '{"global_step": 5}' >"$R/checkpoint-5/trainer_state.json"
    weights "$R/step_2.safetensors" w
    equal "$(ls "$MNT/.expfs/history/runs/r/checkpoint-5")" $'1\n2'
    equal "$(ls "$MNT/.expfs/history/runs/r/step_2.safetensors" | wc -l)" 2
    umount_store
    "$EXPFS" fsck "$STORE"
}

@test "two kinds of weights do not make a branch go to and fro" {
    local i
    echo 'lr: 0.1' >"$R/config.yaml"
    for i in 1 2 3; do
        weights "$R/model_$i.safetensors" w $i
        weights "$R/ema_step_$i.safetensors" ema.w $i
    done
    equal "$(pending)" ":None"
    equal "$(hash_of "$R/model_3.safetensors")" "$(hp '{"lr": 0.1}')$(model w)$NONE"
    equal "$(hash_of "$R/ema_step_3.safetensors")" "$(hp '{"lr": 0.1}')$(model ema.w)$NONE"
    equal "$(line | wc -l)" 2
}

@test "equal configurations in two runs are one experiment" {
    mkdir "$MNT/runs/s"
    echo 'lr: 0.1' | tee "$R/config.yaml" >"$MNT/runs/s/config.yaml"
    weights "$R/step_1.safetensors" w
    weights "$MNT/runs/s/step_1.safetensors" w 1
    equal "$(head_of)" "$(head_of s)"
    umount_store
    equal "$(row "SELECT count(*) FROM experiment")/$(row "SELECT count(*) FROM line")" 1/2
}

@test "a renamed run keeps its line" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    local was
    was=$(head_of)
    mv "$R" "$MNT/runs/s"
    equal "$(head_of s)/$(pending s)" "$was/:None"
    echo 'lr: 0.2' >"$MNT/runs/s/config.yaml"
    weights "$MNT/runs/s/step_2.safetensors" w 1
    equal "$(line s)" "$was
$(hp '{"lr": 0.2}')$(model w)$NONE"
}

@test "checkpoints of a run that is renamed right after the save belong to what the run held" {
    local i
    mkdir -p "$MNT/runs/s" "$MNT/old"
    for i in r s; do
        echo 'lr: 0.1' >"$MNT/runs/$i/config.yaml"
        mkdir "$MNT/runs/$i/sub"
        weights "$MNT/runs/$i/sub/step_1.safetensors" w
    done
    mv "$R" "$MNT/old/r"
    mv "$MNT/runs" "$MNT/other"
    for i in old/r other/s; do
        equal "$(hash_of "$MNT/$i/sub/step_1.safetensors")" "$(hp '{"lr": 0.1}')$(model w)$NONE" "$i"
    done
    mkdir "$MNT/runs"
    mv "$MNT/old/r" "$R"
    equal "$(head_of)" "$(hp '{"lr": 0.1}')$(model w)$NONE"
}

@test "a configuration that does not parse keeps what it was, and status tells of it" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    equal "$(warnings)" ""
    printf 'lr: [0.2\n' >"$R/config.yaml"
    equal "$(pending)/$(warnings)" ":None/hp-unparsable=/runs/r/config.yaml"
    weights "$R/step_2.safetensors" w 1
    equal "$(hash_of "$R/step_2.safetensors")" "$(hash_of "$R/step_1.safetensors")"
    echo 'lr: 0.2' >"$R/config.yaml"
    equal "$(pending)/$(warnings)" "HP:$(hp '{"lr": 0.2}')$(model w)$NONE/"
}

# --- options ---

@test "with enable_checkpoints false a branch records nothing" {
    printf 'checkpoint_manager:\n  enable_checkpoints: false\n' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    equal "$(head_of)/$(pending)" "None/:None"
    run "$EXPFS" commit "$R/" 3>&-
    equal $status 1
    equal "$(line)" ""
}

@test "what is not to be dumped does not count" {
    mkdir "$R/data"
    echo a >"$R/data/a.txt"
    echo layers >"$R/architecture.txt"
    printf 'checkpoint_manager:\n  dump_config_state: false\n  dump_data_state: false\n' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    equal "$(head_of)" "$NONE$(model w)$NONE"
}

# --- what is kept ---

@test "forget keeps what the experiments of a run consist of, and the last checkpoint of each" {
    local i
    for i in 1 2 3; do
        echo "lr: 0.$i" >"$R/config.yaml"
        weights "$R/last.safetensors" w "$i"
    done
    echo 'lr: 0.4' >"$R/config.yaml"
    weights "$R/last.safetensors" w 4
    weights "$R/last.safetensors" w 5
    echo 'lr: 0.5' >"$R/config.yaml"
    echo 'lr: 0.6' >"$R/config.yaml"
    run "$EXPFS" forget "$R/config.yaml@1" 3>&-
    equal $status 1
    [[ $output == *"version 1 is needed: an experiment of its run consists of it" ]]
    run "$EXPFS" forget "$R/last.safetensors@3" 3>&-
    equal $status 1
    [[ $output == *"version 3 is needed: it is the last checkpoint of its experiment" ]]
    "$EXPFS" forget "$R/config.yaml" 3>&-
    "$EXPFS" forget "$R/last.safetensors" 3>&-
    equal "$(ls "$R/.expfs/history/config.yaml" | tr '\n' ' ')" "1.yaml 2.yaml 3.yaml 4.yaml 6.yaml "
    equal "$(ls "$R/.expfs/history/last.safetensors" | tr '\n' ' ')" \
        "1.safetensors 2.safetensors 3.safetensors 5.safetensors "
    rm -r "$R"
    run "$EXPFS" forget --store "$STORE" runs/r/config.yaml 3>&-
    equal $status 0
    equal "$(ls "$MNT/.expfs/history/runs/r" | tr '\n' ' ')" "last.safetensors "
}

@test "a checkpoint that was closed before the daemon is killed has its experiment afterwards" {
    local i
    for i in 1 2 3; do
        echo "lr: 0.$i" >"$R/config.yaml"
        weights "$R/step_$i.safetensors" w $i
    done
    kill_daemon
    fusermount3 -uz "$MNT"
    mount_store
    for i in 1 2 3; do
        equal "$(hash_of "$R/step_$i.safetensors")" "$(hp "{'lr': 0.$i}")$(model w)$NONE"
    done
    equal "$(line | wc -l)" 3
}

@test "the keeper finds out experiments by itself" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    sleep 5
    equal "$(line)" "$(hp '{"lr": 0.1}')$(model w)$NONE"
}

@test "tables of experiments that are lost are filled again from the checkpoints" {
    local i
    for i in 1 2; do
        echo "lr: 0.$i" >"$R/config.yaml"
        weights "$R/step_$i.safetensors" w $i
    done
    local was
    was=$(line)
    python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); [db.execute("DROP TABLE " + t) for t in ("experiment", "line", "segment", "due", "fact")]; db.commit()' "$STORE/expfs.db"
    run "$EXPFS" fsck "$STORE" 3>&-
    equal $status 1
    run "$EXPFS" fsck --repair "$STORE" 3>&-
    equal $status 0
    mount_store
    equal "$(head_of)" "${was#*$'\n'}"
    equal "$(line)" "$was"
}

@test "rows of experiments that lead nowhere are found and mended" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    local was
    was=$(line)
    python3 - "$STORE/expfs.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for sql in ("UPDATE experiment SET parent=5 WHERE parent IS NULL", "UPDATE line SET version=5", "INSERT INTO line VALUES(6, 7, 8, NULL, 0, 6, 0)",
            "INSERT INTO due VALUES(9, 1, 1)", "INSERT INTO fact VALUES(10, 0, '')",
            "UPDATE version SET experiment=11 WHERE experiment IS NULL AND complete IS NULL"):
    assert db.execute(sql).rowcount == 1, sql
db.commit()
PY
    run "$EXPFS" fsck "$STORE" 3>&-
    equal $status 1
    equal "$(grep -c 'version of an\|experiment whose parent\|point of a line\|that is due\|fact of no' <<<"$output")" 6
    run "$EXPFS" fsck --repair "$STORE" 3>&-
    equal $status 0
    equal "$(row "SELECT e.hash FROM line l JOIN experiment e ON e.id=l.experiment")" "$was"
}

# --- directories that change ---

dir_checkpoint() { # N SEED
    mkdir -p "$R/checkpoint-$1"
    weights "$R/checkpoint-$1/model.safetensors" w "$2"
    weights "$R/checkpoint-$1/optimizer.safetensors" m "$2"
    echo "{\"global_step\": $1}" >"$R/checkpoint-$1/trainer_state.json"
}

latest() { readlink "$MNT/branches/r/latest"; }

@test "a checkpoint directory is complete again when all its weights are saved anew, and mixed when only some are for long" {
    echo 'lr: 1' >"$R/config.yaml"
    dir_checkpoint 5 1
    equal "$(latest)" ../../runs/r/checkpoint-5
    local first
    first=$(head_of)
    echo 'lr: 2' >"$R/config.yaml"
    weights "$R/checkpoint-5/model.safetensors" w 2
    equal "$(latest)" ../../.expfs/history/runs/r/checkpoint-5/1
    cmp "$MNT/branches/r/latest/optimizer.safetensors" "$R/checkpoint-5/optimizer.safetensors"
    equal "$(head_of)" "$first"
    sleep 10.5
    equal "$(latest)" ../../.expfs/history/runs/r/checkpoint-5/1
    equal "$(warnings)" mixed=/runs/r/checkpoint-5
    equal "$(head_of)" "$first"
    weights "$R/checkpoint-5/optimizer.safetensors" m 2
    equal "$(latest)" ../../runs/r/checkpoint-5
    equal "$(warnings)" ""
    [[ $(head_of) == "$(hp '{"lr": 2}')"* ]]
    echo note >"$R/checkpoint-5/README.md"
    equal "$(latest)" ../../runs/r/checkpoint-5
}

@test "files that a complete checkpoint loses make no other experiment" {
    echo 'lr: 1' >"$R/config.yaml"
    dir_checkpoint 5 1
    dir_checkpoint 10 2
    local first
    first=$(head_of)
    rm "$R/checkpoint-5/model.safetensors"
    sleep 10.5
    latest >/dev/null
    equal "$(head_of)" "$first"
    equal "$(hash_of "$R/checkpoint-5")" "$first"
    rm "$R/checkpoint-5/optimizer.safetensors"
    sleep 10.5
    latest >/dev/null
    equal "$(head_of)" "$first"
    equal "$(line | wc -l)" 1
}
