# The curves of several runs and experiment roots as one history: expfs signal DIR.

load lib

setup() {
    scratch
    store_init
    mount_store
    mkdir "$MNT/runs/a" "$MNT/runs/b"
}
teardown() { cleanup; }

# rows DIR [NAME]: NAME STEP VALUE ROOT of each row, with "," between them
rows() {
    "$EXPFS" signal "$@" --json 3>&- | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(",".join("%s %s %s %s" % (c["name"], *p[:2], r["roots"][p[2]]) for c in r["curves"] for p in c["points"]))'
}

# row STEP VALUE: a line of metrics.jsonl
row() { echo "{\"step\": $1, \"loss\": $2}"; }

# weightslab DIR: makes it an experiment root
weightslab() {
    mkdir -p "$1/checkpoints"
    printf 'experiments: {}\nlast_updated: "2026-01-01"\n' >"$1/checkpoints/manifest.yaml"
}

@test "signal of a directory shows the curves of all its runs, by step and then by run" {
    { row 2 0.5; row 1 0.9; } >"$MNT/runs/b/metrics.jsonl"
    { row 1 0.8; row 3 0.4; } >"$MNT/runs/a/metrics.jsonl"
    equal "$(rows "$MNT/runs" loss)" "loss 1 0.8 /runs/a,loss 1 0.9 /runs/b,loss 2 0.5 /runs/b,loss 3 0.4 /runs/a"
    equal "$("$EXPFS" signal "$MNT/runs" loss 3>&- | sed -n '1p;3p' | tr -s ' ')" $' step value name root\n 1 0.9 loss /runs/b'
    equal "$("$EXPFS" signal "$MNT/runs/a" 3>&- | tail -n 1 | tr -s ' ')" " 3 0.4 loss"
}

@test "each row is shown once, however many files of a run repeat it and however often it is asked" {
    { row 1 0.8; row 2 0.7; row 1 0.8; row 2 0.7; row 3 0.6; } >"$MNT/runs/a/metrics.jsonl"
    mkdir "$MNT/runs/a/resumed"
    cp "$MNT/runs/a/metrics.jsonl" "$MNT/runs/a/resumed"
    printf 'step,loss\n3,0.6\n4,0.5\n' >"$MNT/runs/a/metrics.csv"
    row 1 0.1 >"$MNT/runs/b/metrics.jsonl"
    local want="loss 1 0.8 /runs/a,loss 1 0.1 /runs/b,loss 2 0.7 /runs/a,loss 3 0.6 /runs/a,loss 4 0.5 /runs/a" i
    for i in 1 2 3; do
        equal "$(rows "$MNT/runs")" "$want"
    done
    remount
    equal "$(rows "$MNT/runs")" "$want"
}

@test "what was recorded, and what is at the top, is in the history of all" {
    row 1 0.8 >"$MNT/runs/a/metrics.jsonl"
    row 5 0.3 >"$MNT/metrics.jsonl"
    mkdir "$MNT/some"
    row 6 0.2 >"$MNT/some/metrics.jsonl"
    echo 'lr: 1' >"$MNT/runs/b/config.yaml"
    "$EXPFS" signal b --step 2 loss=0.7 acc=0.5 --store "$STORE" 3>&-
    equal "$(rows "$MNT")" "acc 2 0.5 /runs/b,loss 1 0.8 /runs/a,loss 2 0.7 /runs/b,loss 5 0.3 /,loss 6 0.2 /"
    equal "$(rows "$MNT/runs" acc)" "acc 2 0.5 /runs/b"
}

@test "the curves of experiment roots below a directory are one history, each by its root" {
    weightslab "$MNT/P/a"
    weightslab "$MNT/P/x/b"
    row 1 0.8 >"$MNT/P/a/metrics.jsonl"
    row 1 0.7 >"$MNT/P/x/b/metrics.jsonl"
    row 2 0.6 >"$MNT/P/metrics.jsonl"
    row 9 0.1 >"$MNT/metrics.jsonl"
    equal "$(rows "$MNT/P")" "loss 1 0.8 /P/a,loss 1 0.7 /P/x/b,loss 2 0.6 /P"
    equal "$(rows "$MNT/P/a")" "loss 1 0.8 /P/a"
    equal "$(rows "$MNT")" "loss 1 0.8 /P/a,loss 1 0.7 /P/x/b,loss 2 0.6 /,loss 9 0.1 /"
}

@test "a curve that no run of a directory has is not known, and a directory in a run is its run's" {
    row 1 0.8 >"$MNT/runs/a/metrics.jsonl"
    row 1 0.7 >"$MNT/runs/b/metrics.jsonl"
    run "$EXPFS" signal "$MNT/runs" nothing 3>&-
    equal $status 1
    [[ $output == *"/runs: no run or experiment root there has a curve nothing"* ]]
    mkdir "$MNT/runs/a/deep"
    equal "$("$EXPFS" signal "$MNT/runs/a/deep" 3>&- | tail -n 1 | tr -s ' ')" " 1 0.8 loss"
}

@test "values without end in the runs of a directory are refused in words" {
    python3 - "$MNT/runs" <<'PY'
import sys
for run in "ab":
    with open("%s/%s/metrics.csv" % (sys.argv[1], run), "w") as f:
        f.write("step,x,y,z\n")
        f.writelines("%d,1,2,3\n" % i for i in range(200000))
PY
    run "$EXPFS" signal "$MNT/runs" 3>&-
    equal $status 3
    [[ $output == *"/runs: signal: there are more than 1048576 values; give the name of one curve"* ]]
    equal "$("$EXPFS" signal "$MNT/runs" x 3>&- | wc -l)" 400001
}
