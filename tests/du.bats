# Where the space goes: expfs du, .expfs/stats.json and .expfs/metrics.

load lib

setup() { mount_run; }
teardown() { cleanup; }

# du_of EXPRESSION OPERAND...: of the answer a; e is its entries by path and kind ("/runs files", "/runs/r")
du_of() {
    "$EXPFS" du "${@:2}" --json | python3 -c 'import json, sys
a = json.load(sys.stdin)
e = {x["path"] + ("" if x["kind"] == "path" else " " + x["kind"]): x for x in a["entries"]}
print(eval(sys.argv[1]))' "$1"
}

# stats EXPRESSION: of .expfs/stats.json s, b are its branches by name
stats() {
    python3 -c 'import json, sys
s = json.load(open(sys.argv[1])); b = {x["name"]: x for x in s["branches"]}
print(eval(sys.argv[2]))' "$MNT/.expfs/stats.json" "$1"
}

# metric NAME [LABEL=VALUE...]: as a parser of Prometheus' text, which is a package of Debian, reads it
metric() {
    /usr/bin/python3 -c 'import sys
from prometheus_client.parser import text_string_to_metric_families as parse
labels = dict(x.split("=", 1) for x in sys.argv[3:])
for family in parse(open(sys.argv[1]).read()):
    for s in family.samples:
        if s.name == sys.argv[2] and labels.items() <= s.labels.items(): print(s.value)' "$MNT/.expfs/metrics" "$@"
}

require_parser() { /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null || missing "no python3-prometheus-client"; }

@test "du tells what each directory has, what it shares, and what only history holds" {
    mkdir "$MNT/runs/s" "$R/sub"
    bytes "$R/log.txt" 100000 1
    cp "$R/log.txt" "$MNT/runs/s/copy.txt"
    bytes "$R/sub/own.txt" 200000 2
    checkpoint zip "$R/step_1.pt" 300000 3
    checkpoint zip "$R/step_1.pt" 300000 4
    equal "$(du_of 'e["/runs/r"]["raw"] // 10000, e["/runs/r"]["unique"] // 10000, e["/runs/s"]["raw"]' "$MNT/runs")" "(60, 90, 100000)"
    equal "$(du_of 'e["/runs/r"]["own"] // 100000, e["/runs/r"]["history"] // 100000, e["/runs/s"]["own"]' "$MNT/runs")" "(8, 3, 0)"
    equal "$(du_of 'a["total"]["raw"] // 10000, a["total"]["unique"] // 10000, a["total"]["own"] == a["total"]["stored"]' "$MNT/runs")" "(70, 90, True)"
    equal "$(du_of '[x["path"] for x in a["entries"]]' "$R")" "['/runs/r', '/runs/r/sub']"
    equal "$(du_of 'e["/runs/r files"]["files"], e["/runs/r/sub"]["raw"]' "$R")" "(2, 200000)"
    equal "$(du_of 'e["/runs/r/step_1.pt"]["history"] == e["/runs/r/step_1.pt"]["own"] / 2, e["/runs/r/log.txt"]["own"]' "$R"/*)" "(True, 0)"
    "$EXPFS" du "$MNT/runs" >"$SCRATCH/out"
    grep -Eq '^ 5[0-9.]+ KiB   8[0-9.]+ KiB .* /runs/r$' "$SCRATCH/out"
    grep -Eq 'total$' "$SCRATCH/out"
    not grep -q 'its files' "$SCRATCH/out"
}

@test "the total of du is what status says, mounted or not" {
    local total='a["total"]["raw"], a["total"]["unique"], a["total"]["stored"], a["total"]["files"]' wanted
    bytes "$D/a" 100000 1
    ln "$D/a" "$D/b"
    cp "$D/a" "$R/c"
    checkpoint zip "$R/step_1.pt" 50000 3
    checkpoint zip "$R/step_1.pt" 50000 4
    mkdir "$R/checkpoint-5"
    checkpoint zip "$R/checkpoint-5/model.bin" 30000 5
    touch "$R/checkpoint-5/trainer_state.json"
    readlink "$MNT/branches/r/latest"
    rm -r "$R/checkpoint-5"
    exec 4>"$D/open"
    head -c 20000 /dev/zero >&4
    : >"$D/empty"
    wanted="($(space raw), $(space unique), $(space stored), 5)"
    equal "$(du_of "$total" "$MNT")" "$wanted"
    equal "$(du_of 'e["/runs/r removed"]["history"] // 1000' "$R")" 32
    exec 4>&-
    wanted="($(space raw), $(space unique), $(space stored), 5)"
    umount_store
    equal "$(du_of "$total" --store "$STORE")" "$wanted"
    equal "$(du_of 'e["/runs/r/checkpoint-5"]["files"], e["/runs/r/checkpoint-5"]["history"] // 1000' --store "$STORE" runs/r/checkpoint-5)" "(0, 32)"
}

@test "a path below another one that is asked about counts by itself, with its history" {
    checkpoint zip "$R/step_1.pt" 100000 1
    checkpoint zip "$R/step_1.pt" 100000 2
    checkpoint zip "$R/step_2.pt" 50000 3
    mkdir "$R/sub"
    bytes "$R/sub/f" 30000 4
    equal "$(du_of 'e["/runs/r"]["contents"], e["/runs/r/step_1.pt"]["contents"], e["/runs/r/sub"]["contents"], a["total"]["contents"]' \
        "$R" "$R/step_1.pt" "$R/sub")" "(1, 2, 1, 4)"
}

@test "a file with another name elsewhere, and an open one without a name, are nobody's own" {
    bytes "$D/a" 100000 1
    mkdir "$D/x" "$D/y"
    mv "$D/a" "$D/x/a"
    ln "$D/x/a" "$D/y/a"
    equal "$(du_of 'e["/d/x"]["own"], e["/d/y"]["own"], a["total"]["own"] // 10000, a["total"]["files"]' "$D")" "(0, 0, 10, 1)"
    rm "$D/y/a"
    equal "$(du_of 'e["/d/x"]["own"] // 10000' "$D")" 10
    cp "$D/x/a" "$D/y/gone"
    exec 4<"$D/y/gone"
    rm "$D/y/gone"
    equal "$(du_of 'e["/d/x"]["own"]' "$D")" 0
    exec 4>&-
}

@test "du of what never was is no, of another store wrong usage" {
    refused 1 "$EXPFS" du "$MNT/nothing"
    equal "$MESSAGE" "expfs: /nothing: is not there, and has no history; see: expfs status"
    store_init "$SCRATCH/other"
    mkdir "$SCRATCH/mnt2"
    "$EXPFS" mount "$SCRATCH/other" "$SCRATCH/mnt2" 3>&-
    refused 2 "$EXPFS" du "$MNT" "$SCRATCH/mnt2"
    "$EXPFS" umount "$SCRATCH/mnt2"
}

@test "stats.json has the space of each branch and of all, and no name of what was removed is lost" {
    local wanted
    mkdir "$MNT/runs/s" "$MNT/runs/gone"
    checkpoint zip "$R/step_1.pt" 100000 1
    cp "$R/step_1.pt" "$MNT/runs/s/step_1.pt"
    checkpoint zip "$R/step_2.pt" 200000 2
    checkpoint zip "$MNT/runs/gone/last.pt" 300000 3
    bytes "$D/plain" 50000 4
    rm -r "$MNT/runs/gone"
    equal "$(stats 'sorted(b), s["files"], s["contents"]')" "(['gone', 'r', 's'], 4, 4)"
    equal "$(stats 'b["r"]["raw"] // 10000, b["r"]["unique"] // 10000, b["s"]["raw"] // 10000, b["gone"]["raw"], b["gone"]["unique"] // 10000, b["gone"]["run"]')" "(30, 30, 10, 0, 30, None)"
    equal "$(stats 's["rest"]["raw"], s["rest"]["files"]')" "(50000, 1)"
    equal "$(stats 's["raw"] == sum(x["raw"] for x in s["branches"]) + s["rest"]["raw"]')" True
    equal "$(stats 's["raw"], s["unique"], s["stored"]')" "($(space raw), $(space unique), $(space stored))"
    equal "$(stat -c %s "$MNT/.expfs/stats.json")" "$(wc -c <"$MNT/.expfs/stats.json")"
    checkpoint zip "$MNT/last.pt" 10000 5 # now the top is a branch
    equal "$(stats 'sorted(b), b["main"]["files"], s["rest"]["files"]')" "(['gone', 'main', 'r', 's'], 2, 0)"
    equal "$(ls "$MNT/.expfs" | grep -xe stats.json -e metrics | tr '\n' ' ')" "metrics stats.json "
    [[ ! -e $R/.expfs/stats.json && ! -e $R/.expfs/metrics ]]
}

@test "metrics are as a parser of Prometheus reads them" {
    require_parser
    mkdir -p "$MNT/runs/q\"uo\\te"
    echo 'lr: 1' >"$R/config.yaml"
    checkpoint zip "$R/step_1.pt" 100000 1
    checkpoint zip "$R/step_2.pt" 100000 2
    checkpoint torn-zip "$R/step_3.pt" 100000 3
    printf '{"step": 1, "val_loss": 0.5}\n{"step": 2, "val_loss": 0.75}\n' >"$R/metrics.jsonl"
    checkpoint zip "$MNT/runs/q\"uo\\te/step_7.pt" 1000 4
    equal "$(metric expfs_latest_step branch=r) $(metric expfs_best_step branch=r) $(metric expfs_best_value branch=r metric=val_loss)" "2.0 1.0 0.5"
    equal "$(metric expfs_latest_step branch='q"uo\te')" 7.0
    equal "$(metric expfs_checkpoints branch=r state=complete) $(metric expfs_checkpoints branch=r state=incomplete)" "2.0 1.0"
    equal "$(metric expfs_experiments branch=r) $(metric expfs_branches)" "1.0 2.0"
    equal "$(metric expfs_warnings kind=torn) $(metric expfs_warnings kind=label) $(metric expfs_read_only)" "1.0 0.0 0.0"
    equal "$(metric expfs_raw_bytes) $(metric expfs_unique_bytes)" "$(space raw).0 $(space unique).0"
    (($(metric expfs_latest_modified_timestamp_seconds branch=r | cut -d . -f 1) >= $(date +%s) - 600))
    equal "$(metric expfs_faults_total | sort -u)" 0.0
    [[ $(metric expfs_disk_free_bytes) != 0.0 && $(metric expfs_background_tasks kind=unread) ]]
    # each family once, with its help and type in front
    equal "$(grep '^# TYPE' "$MNT/.expfs/metrics" | sort | uniq -d)" ""
    equal "$(grep -c '^# HELP' "$MNT/.expfs/metrics")" "$(grep -c '^# TYPE' "$MNT/.expfs/metrics")"
    "$EXPFS" select "$R/step_2.pt" --metric f1=inf 2>/dev/null || "$EXPFS" select "$R/step_2.pt" --metric f1=1e300
    [[ $(metric expfs_best_step branch=r) == 2.0 && $(metric expfs_best_value branch=r metric=f1) ]]
}

@test "others are told only of branches and directories into which they may look" {
    require_user
    require_parser
    remount -o allow_other
    mkdir -p "$MNT/runs/closed" "$R/inner"
    checkpoint zip "$R/step_1.pt" 100000 1
    checkpoint zip "$R/inner/step_2.pt" 200000 2
    checkpoint zip "$MNT/runs/closed/step_3.pt" 300000 3
    chmod 700 "$MNT/runs/closed" "$R/inner"
    equal "$(stats 'sorted(b), b["r"]["raw"] // 10000')" "(['closed', 'r'], 30)"
    as_nobody cat "$MNT/.expfs/stats.json" >"$SCRATCH/stats"
    equal "$(python3 -c 'import json, sys; print([(b["name"], b["raw"] // 10000) for b in json.load(open(sys.argv[1]))["branches"]])' "$SCRATCH/stats")" "[('r', 10)]"
    as_nobody cat "$MNT/.expfs/metrics" >"$SCRATCH/metrics"
    not grep -q closed "$SCRATCH/metrics"
    grep -Fxq 'expfs_checkpoints{branch="r",state="complete"} 1' "$SCRATCH/metrics"
    grep -Fxq 'expfs_branches 1' "$SCRATCH/metrics"
    equal "$(metric expfs_checkpoints branch=r state=complete)" 2.0
}
