# Experiments: the hash of what lies in a run, what is pending, and commit.

load experiments

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

@test "a checkpoint that goes to another run or is removed as soon as it is saved is an experiment of its own run" {
    local run
    for run in a b c; do
        mkdir "$MNT/runs/$run"
        echo "lr: 0.$((16#$run))" >"$MNT/runs/$run/config.yaml"
    done
    weights "$SCRATCH/weights" w
    python3 - "$SCRATCH/weights" "$MNT/runs" <<'PY'
import os, shutil, sys
a, b, c = (f"{sys.argv[2]}/{run}/model.safetensors" for run in "abc")
shutil.copyfile(sys.argv[1], a)
os.rename(a, c)
shutil.copyfile(sys.argv[1], b)
os.unlink(b)
PY
    equal "$(cat "$MNT/branches/a/HEAD")" "$(hp '{"lr": 0.10}')$(model w)$NONE"
    equal "$(cat "$MNT/branches/b/HEAD")" "$(hp '{"lr": 0.11}')$(model w)$NONE"
    equal "$(cat "$MNT/branches/c/HEAD")" "$(hp '{"lr": 0.12}')$(model w)$NONE"
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

@test "forget keeps the last checkpoint that a run had of an experiment, though a branch of it has an earlier one" {
    echo "lr: 0.1" >"$R/config.yaml"
    weights "$R/step_1.safetensors" w 1
    weights "$R/step_2.safetensors" w 2
    "$EXPFS" branch other --from r@1 --store "$STORE" 3>&-
    rm "$R"/step_*
    refused 1 "$EXPFS" forget "$R/step_2.safetensors"
    "$EXPFS" forget "$R/step_1.safetensors" 3>&-
}

@test "forget keeps the last checkpoint of an experiment whether its path is there or not" {
    local experiment
    echo "lr: 0.1" >"$R/config.yaml"
    weights "$R/step_1.safetensors" w 1
    weights "$R/step_2.safetensors" w 2
    experiment=$(hash_of "$R/step_2.safetensors")
    cp "$R/step_2.safetensors" "$SCRATCH"
    rm "$R"/step_*
    refused 1 "$EXPFS" forget "$R/step_2.safetensors"
    equal "$MESSAGE" "expfs: /runs/r/step_2.safetensors: no version was forgotten, for each is needed; version 1: it is the last checkpoint of its experiment"
    refused 1 "$EXPFS" forget "$R/step_2.safetensors" --json
    equal "$(python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["forgotten"], [k["n"] for k in r["kept"]])' <"$SCRATCH/out")" "[] [1]"
    run "$EXPFS" forget "$R/step_2.safetensors@1" 3>&-
    equal $status 1
    [[ $output == *"version 1 is needed: it is the last checkpoint of its experiment" ]]
    "$EXPFS" forget "$R/step_1.safetensors@1" 3>&-
    "$EXPFS" load "$experiment" "$R" 3>&-
    cmp "$R/step_2.safetensors" "$SCRATCH/step_2.safetensors"
    rm -r "$R"
    "$EXPFS" forget --store "$STORE" runs/r/step_2.safetensors 3>&-
    not "$EXPFS" history --store "$STORE" runs/r/step_2.safetensors 3>&-
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

# In a copy of the database: whoever asks the daemon finds it out.
found_out() {
    cp "$STORE"/expfs.db{,-wal} "$SCRATCH"
    [[ $(STORE=$SCRATCH row "SELECT count(*) FROM line") == 1 ]]
}

@test "the keeper finds out experiments by itself" {
    echo 'lr: 0.1' >"$R/config.yaml"
    weights "$R/step_1.safetensors" w
    wait_until found_out
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
