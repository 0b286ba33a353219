# best: the checkpoint with the best value of a metric; and expfs signal.

load best

# --- which one ---

@test "there is no best while no checkpoint has a metric, and best.pt is only a file" {
    steps 1 2
    save "$R/best.pt" 3
    no_best
    echo '{"step": 1, "learning_rate": 0.1}' >"$R/metrics.jsonl"
    no_best
    echo '{"step": 1, "val_loss": 0.7}' >>"$R/metrics.jsonl"
    best_is "$R/step_1.pt"
    equal "$(ls "$V" | grep -c '^best$')" 1
}

@test "the lowest value is the best, and the highest with best.mode max" {
    steps 1 2 3
    printf '{"step": %d, "val_loss": %s}\n' 1 0.5 2 0.25 3 0.75 >"$R/metrics.jsonl"
    best_is "$R/step_2.pt"
    configure 'best: {mode: max}'
    best_is "$R/step_3.pt"
    configure 'best:' '  metric: acc' '  mode: max'
    no_best
    printf '{"step": %d, "acc": %s}\n' 1 0.9 2 0.1 >>"$R/metrics.jsonl"
    best_is "$R/step_1.pt"
}

@test "a best.pt that holds the last weights does not make these the best" {
    steps 1 2 3 4 5
    cp "$R/step_5.pt" "$R/best.pt"
    printf '{"step": %d, "val_loss": %s}\n' 1 0.5 2 0.4 3 0.1 4 0.2 5 0.3 >"$R/metrics.jsonl"
    best_is "$R/step_3.pt"
}

@test "of equal values the higher step is the best, by number" {
    steps 9 10
    printf '{"step": %d, "val_loss": 0.5}\n' 10 9 >"$R/metrics.jsonl"
    best_is "$R/step_10.pt"
}

@test "NaN never wins, an infinite value only where there is no other" {
    steps 1 2 3
    printf '{"step": %d, "val_loss": %s}\n' 1 NaN 2 Infinity >"$R/metrics.jsonl"
    best_is "$R/step_2.pt"
    echo '{"step": 3, "val_loss": 1e9}' >>"$R/metrics.jsonl"
    best_is "$R/step_3.pt"
    printf '{"step": %d, "val_loss": NaN}\n' 1 2 3 >"$R/metrics.jsonl"
    no_best
}

@test "values of different metrics are not compared: the first that any checkpoint has decides" {
    steps 1 2 3
    printf '{"step": %d, "loss": %s}\n' 1 0.1 2 0.2 3 0.3 >"$R/metrics.jsonl"
    best_is "$R/step_1.pt"
    echo '{"step": 3, "val_loss": 5}' >>"$R/metrics.jsonl"
    best_is "$R/step_3.pt"
    configure 'best: {metric: [accuracy, loss]}'
    best_is "$R/step_1.pt"
}

@test "a value speaks for the first checkpoint at or after its step, whether that is still there or not" {
    steps 100 150
    printf '{"step": %d, "val_loss": %s}\n' 100 0.1 200 0.5 >"$R/metrics.jsonl"
    best_is "$R/step_100.pt"
    rm "$R/step_100.pt"
    no_best
    steps 201
    best_is "$R/step_201.pt"
}

@test "a checkpoint that is removed makes best fall back at once" {
    steps 1 2
    printf '{"step": %d, "val_loss": %s}\n' 1 0.5 2 0.25 >"$R/metrics.jsonl"
    best_is "$R/step_2.pt"
    rm "$R/step_2.pt"
    best_is "$R/step_1.pt"
    mv "$R/step_1.pt" "$R/aside.pt"
    no_best
}

@test "a torn checkpoint is never the best" {
    steps 1
    save "$SCRATCH/x.pt" 2
    head -c 9000 "$SCRATCH/x.pt" >"$R/step_2.pt"
    printf '{"step": %d, "val_loss": %s}\n' 1 0.5 2 0.25 >"$R/metrics.jsonl"
    best_is "$R/step_1.pt"
    cp "$SCRATCH/x.pt" "$R/step_2.pt"
    best_is "$R/step_2.pt"
    head -c 9000 "$SCRATCH/x.pt" >"$R/step_2.pt"
    in_history step_2.pt 2
    cmp "$V/best" "$SCRATCH/x.pt"
}

# --- expfs signal ---

@test "signal records values, which count, and shows all curves with each step once" {
    steps 1 2
    printf '{"step": %d, "val_loss": %s}\n' 1 0.5 2 0.25 1 0.75 >"$R/metrics.jsonl"
    equal "$("$EXPFS" signal r --step 1 val_loss=0.125 acc=nan 'a b/c=-inf' --store "$STORE")" "r: 3 values recorded for step 1"
    best_is "$R/step_1.pt"
    equal "$("$EXPFS" signal "$R" | tr -s ' ')" " step value name
 1 -inf a b/c
 1 nan acc
 1 0.125 val_loss
 2 0.25 val_loss"
    equal "$(cd "$R" && "$EXPFS" signal step_2.pt --step 2 val_loss=0.0625)" "r: 1 value recorded for step 2"
    best_is "$R/step_2.pt"
    "$EXPFS" signal "$R/nothing/there" val_loss --json >"$SCRATCH/json"
    equal "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1])))' "$SCRATCH/json")" \
        "{'branch': 'r', 'run': '/runs/r', 'curves': [{'name': 'val_loss', 'points': [[1, 0.125], [2, 0.0625]]}]}"
    umount_store
    "$EXPFS" signal r --step 1 val_loss=0 --store "$STORE"
    mount_store
    best_is "$R/step_1.pt"
}

@test "signal says what is wrong with its arguments" {
    steps 1
    refused 2 "$EXPFS" signal
    refused 2 "$EXPFS" signal "$R" --step
    refused 2 "$EXPFS" signal "$R" --step 1
    refused 2 "$EXPFS" signal "$R" --step -1 a=1
    refused 2 "$EXPFS" signal "$R" --step 9223372036854775808 a=1
    refused 2 "$EXPFS" signal "$R" --step 1 a
    refused 2 "$EXPFS" signal "$R" --step 1 =1
    refused 2 "$EXPFS" signal "$R" --step 1 a=1 b=0x1
    refused 2 "$EXPFS" signal "$R" --step 1 "$(printf '%256s' '' | tr ' ' n)=1"
    refused 2 "$EXPFS" signal "$R" a=1
    refused 2 "$EXPFS" signal "$R" a b
    refused 1 "$EXPFS" signal "$R" a
    refused 1 "$EXPFS" signal nobody --store "$STORE"
    refused 1 "$EXPFS" signal "$MNT/d" --step 1 a=1
    equal "$("$EXPFS" signal "$R" | wc -l)" 1 "lines"
    refused 2 "$EXPFS" signal r
}

@test "what is recorded for a run goes with it when it is renamed" {
    steps 1
    "$EXPFS" signal "$R" --step 1 val_loss=0.5
    mv "$R" "$MNT/runs/other"
    equal "$(readlink "$MNT/branches/other/best")" ../../runs/other/step_1.pt
}

# --- the rows ---

# rows SQL...: of the database of the store, which nobody has open
rows() {
    python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for sql in sys.argv[2:]:
    for row in db.execute(sql): print(*row)
db.commit()' "$STORE/expfs.db" "$@"
}

@test "an experiment and a model have a best, too" {
    echo 'lr: 1' >"$R/config.yaml"
    echo arch >"$R/architecture.txt"
    steps 1 2 3
    metric "$R/step_1.pt" 0.5
    metric "$R/step_2.pt" 0.25
    local hash view
    hash=$(cat "$V/HEAD")
    for view in "experiments/$hash" "models/${hash:8:8}"; do
        equal "$(readlink -f "$MNT/$view/best")" "$R/step_2.pt" "$view"
        grep -qx best <(ls "$MNT/$view")
    done
    rm "$R/step_2.pt"
    equal "$(readlink -f "$MNT/experiments/$hash/best")" "$R/step_1.pt"
    setfattr -x user.expfs.metric.val_loss "$R/step_1.pt"
    [[ ! -L $MNT/experiments/$hash/best ]]
}

@test "metrics go with what they are of, and fsck finds and takes away those of nothing" {
    save "$R/last.pt" 1
    metric "$R/last.pt" 0.5
    save "$R/last.pt" 2
    metric "$R/last.pt" 0.25
    "$EXPFS" signal "$R" --step 1 a=1
    umount_store
    equal "$(rows 'SELECT count(*) FROM metric')" 3 "two versions and the file"
    mount_store
    rm "$R/last.pt"
    "$EXPFS" forget "$R/last.pt"
    umount_store
    equal "$(rows 'SELECT count(*) FROM metric')" 0
    rows "INSERT INTO metric VALUES(77777, x'61', -1, 1.0)" "INSERT INTO signal VALUES(77777, x'61', 1, NULL, 0)"
    not "$EXPFS" fsck "$STORE" >"$SCRATCH/found"
    grep -q 'metric of nothing (77777, a)' "$SCRATCH/found"
    grep -q 'recorded value of no run (77777, a)' "$SCRATCH/found"
    "$EXPFS" fsck --repair "$STORE"
    "$EXPFS" fsck "$STORE"
    mount_store
}
