# The command report and the page .expfs/report.html: what is told, to whom, and how a browser takes it.

load lib
load weights

setup() { mount_run; }
teardown() { cleanup; }

# A run with two experiments, curves, a wrong label, what is pending, a torn checkpoint and a selection; another one is gone.
store_with_much() {
    printf 'lr: 0.1\nbatch: 8\n' >"$R/config.yaml"
    save step_7.pt "{'model': {'x': w(7)}, 'optimizer': {'m': w(1)}}"
    save step_9.pt "{'model': {'x': w(9)}}"
    printf 'lr: 0.01\nbatch: 8\n' >"$R/config.yaml"
    save late_step_7.pt "{'model': {'x': w(9)}}"
    head -c 100 "$R/step_9.pt" >"$R/step_11.pt"
    printf '{"step": %d, "val_loss": %s}\n' 7 0.5 8 NaN 9 0.25 >"$R/metrics.jsonl"
    mkdir "$MNT/runs/gone"
    save "$MNT/runs/gone/step_3.pt" "{'model': {'x': w(3)}}"
    rm -r "$MNT/runs/gone"
    "$EXPFS" select "$R/step_9.pt" --metric val_loss=0.25 >/dev/null 3>&-
    "$EXPFS" decide r:best ACCEPT --by ada --note "<b>fine</b>" --store "$STORE" >/dev/null 3>&-
    echo "lr: 5" >"$R/config.yaml"
}
all_read() { wait_read step_7.pt step_9.pt late_step_7.pt; }

report() { "$EXPFS" report "$@" 3>&-; }

# told EXPRESSION: of the report r
told() {
    report --json --store "$STORE" | python3 -c 'import json, sys; r = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}

# has FILE TEXT...: the page has each of these
has() {
    local text
    for text in "${@:2}"; do grep -qF -- "$text" "$1" || fail "not in the page: $text"; done
}

@test "a report has what status, log and signal say" {
    store_with_much
    report --json --store "$STORE" >"$SCRATCH/report"
    "$EXPFS" status --json --store "$STORE" >"$SCRATCH/status" 3>&-
    "$EXPFS" log --json --store "$STORE" >"$SCRATCH/log" 3>&-
    "$EXPFS" signal r --json --store "$STORE" >"$SCRATCH/signal" 3>&-
    python3 - "$SCRATCH" <<'PY'
import json, sys
report, status, log, signal = (json.load(open(sys.argv[1] + "/" + n)) for n in ("report", "status", "log", "signal"))
for j in (status, report["status"]): j.pop("background")
assert report["status"] == status
assert report["experiments"] == log["experiments"]
assert report["curves"] == {"branches": ["r"], "more_branches": 0, "more_names": 0, "list": [{"name": "val_loss", "series":
    [{"branch": 0, "points": signal["curves"][0]["points"]}]}]}, report["curves"]
hp = next(e["hp"] for e in report["experiments"] if e["head_of"] == ["r"])
assert hp == [{"key": "lr", "from": "0.1", "from_type": "float", "to": "0.01", "to_type": "float"}]
PY
}

@test "of each checkpoint a report tells step, size, whether it is complete, what a resume finds and a wrong label" {
    store_with_much
    all_read
    equal "$(told '[c["branch"] for c in r["checkpoints"] if c["count"]]')" "['gone', 'r']"
    told '"\n".join("%s %s %s %s %s" % (c["path"], c["step"], c["complete"], w.get("parts"), w.get("label"))
        for b in r["checkpoints"] for c in b["list"] for w in [c["weights"] or {}])' >"$SCRATCH/told"
    diff "$SCRATCH/told" - <<'EOT'
/.expfs/history/runs/gone/step_3.pt/1.pt 3 True [] None
/runs/r/step_11.pt 11 False None None
/runs/r/step_9.pt 9 True [] None
/runs/r/late_step_7.pt 7 True [] labelled step 7, holds step 9: its weights are those of /runs/r/step_9.pt
/runs/r/step_7.pt 7 True ['optimizer'] None
EOT
    equal "$(told 'r["checkpoints"][1]["list"][1]["size"]')" "$(stat -c %s "$R/step_9.pt")"
    equal "$(told 'r["checkpoints"][1]["list"][1]["stored"]')" "$(xattr "$R/step_9.pt" user.expfs.stored_bytes)"
    equal "$(told '[c["path"] for c in r["checkpoints"][1]["list"] if c.get("best")]')" "['/runs/r/step_9.pt']"
    equal "$(told '[c["path"] for c in r["checkpoints"][1]["list"] if c.get("latest")]')" "['/runs/r/late_step_7.pt']"
}

@test "an optimizer in safetensors is found, and what cannot be read is not called weights alone" {
    save step_1.safetensors "{'model.x': w(1), 'optimizer.state.0.m': w(2)}"
    save step_2.safetensors "{'x': w(3), 'opt.y': w(4)}"
    python3 -c 'import pickle, sys; pickle.dump({"x": [1] * 100}, open(sys.argv[1], "wb"))' "$R/step_3.pt"
    wait_read step_1.safetensors step_2.safetensors step_3.pt
    equal "$(told '[c["weights"]["parts"] for c in r["checkpoints"][0]["list"]]')" "[[], [], ['optimizer']]"
    report "$SCRATCH/page" --store "$STORE" >/dev/null
    has "$SCRATCH/page" '<td class="w"><bdi>optimizer</bdi></td>'
    equal "$(grep -c '<td>weights alone</td>' "$SCRATCH/page")" 1
    equal "$(grep -c '<td><small>cannot be told</small></td>' "$SCRATCH/page")" 1
}

@test "what a directory checkpoint has, and what a load left, is in the report" {
    mkdir "$R/checkpoint-5"
    save checkpoint-5/model.safetensors "{'x': w(5)}"
    echo '{"log_history": []}' >"$R/checkpoint-5/trainer_state.json"
    wait_until test "$(xattr "$R/checkpoint-5" user.expfs.complete)" = 1
    mkdir "$R/checkpoint-6"
    save checkpoint-6/model.safetensors "{'x': w(6)}"
    echo '{"log_history": []}' >"$R/checkpoint-6/trainer_state.json"
    wait_until test "$(xattr "$R/checkpoint-6" user.expfs.complete)" = 1
    "$EXPFS" load "$(cat "$V/HEAD")@5" r --store "$STORE" >/dev/null 3>&-
    equal "$(told '[(c["path"], c["complete"], c["off"]) for c in r["checkpoints"][0]["list"]]')" \
        "[('/runs/r/checkpoint-6', True, True), ('/runs/r/checkpoint-5', True, False)]"
    equal "$(told 'r["checkpoints"][0]["list"][1]["size"]')" "$(cat "$R"/checkpoint-5/* | wc -c)"
}

@test "the page shows a report; report.html at the top is the same, in no other directory" {
    store_with_much
    all_read
    (cd "$SCRATCH" && report --store "$STORE") | grep -q "^report.html: [0-9.]* KiB"
    has "$SCRATCH/report.html" "<bdi>$STORE</bdi>" "<strong>torn</strong>" "<strong>label</strong>" \
        "labelled step 7, holds step 9" "<bdi>lr</bdi> <bdi>0.1</bdi> → <bdi>0.01</bdi>" "<bdi>gone</bdi> <em>removed</em>" \
        "<figure" "1 value is not finite" "<em>best</em>" "<b>ACCEPT</b> by <bdi>ada</bdi>" "&lt;b&gt;fine&lt;/b&gt;" "not complete"
    # when it was made differs, and to whom what is gone is told
    same() { sed -E 's/<time[^<]*<.time> UTC, mounted/mounted/; /runs.gone.step_3/d' "$1"; }
    diff <(same "$SCRATCH/report.html") <(same "$MNT/.expfs/report.html")
    ls "$MNT/.expfs" | grep -qx report.html
    equal "$(stat -c %s "$MNT/.expfs/report.html")" "$(wc -c <"$MNT/.expfs/report.html")"
    not test -e "$R/.expfs/report.html"
    not test -e "$V/report.html"
}

@test "report works without a mount, to standard output and into a pipe" {
    store_with_much
    umount_store
    report - --store "$STORE" >"$SCRATCH/page"
    has "$SCRATCH/page" "UTC, not mounted" "</html>"
    EXPFS_STORE=$STORE report /dev/stdout | grep -q "</html>"
    mkfifo "$SCRATCH/pipe"
    timeout 60 cat "$SCRATCH/pipe" >"$SCRATCH/page" 3>&- &
    timeout 60 "$EXPFS" report "$SCRATCH/pipe" --store "$STORE" >/dev/null 3>&-
    wait $!
    has "$SCRATCH/page" "</html>"
    [[ -p $SCRATCH/pipe ]]
}

@test "a file is replaced by a whole page, with the permissions of a new file" {
    echo old >"$SCRATCH/page.html"
    exec {old}<"$SCRATCH/page.html"
    (umask 027 && report "$SCRATCH/page.html" --store "$STORE" >/dev/null)
    equal "$(cat <&"$old")" old
    equal "$(stat -c %a "$SCRATCH/page.html")" 640
    has "$SCRATCH/page.html" "</html>"
    equal "$(ls "$SCRATCH" | grep -c '^page')" 1
}

@test "report takes the store of the mount in which FILE lies, and says what is wrong" {
    report "$MNT/d/page.html" >/dev/null
    has "$D/page.html" "<bdi>$STORE</bdi>"
    (cd "$MNT" && report "$SCRATCH/page.html" >/dev/null)
    has "$SCRATCH/page.html" "<bdi>$STORE</bdi>"
    local status=0
    report "$SCRATCH/none/page.html" --store "$STORE" 2>"$SCRATCH/err" || status=$?
    equal "$status: $(cat "$SCRATCH/err")" "3: expfs: $SCRATCH/none: No such file or directory; look for another spelling"
    status=0
    report a b --store "$STORE" 2>/dev/null || status=$?
    equal "$status" 2
    status=0
    report a --json --store "$STORE" 2>/dev/null || status=$?
    equal "$status" 2
}

@test "a store with nothing in it has a page" {
    report - --store "$STORE" >"$SCRATCH/page"
    has "$SCRATCH/page" "There is nothing to warn of." "There is no branch yet"
}

@test "names that are HTML, or no UTF-8, or turn the writing round, are shown as they are spelled" {
    local name
    for name in '<script>alert(1)<!--' $'bytes\xff\xfe' $'\u202eevil\u2066' $'esc\x1b[31m' '&lt;"' "'"; do
        mkdir "$MNT/runs/$name"
        echo "'<script>': '</code><script>'" >"$MNT/runs/$name/config.yaml"
        printf '{"step": 1, "<img src=x>": 1}\n' >"$MNT/runs/$name/metrics.jsonl"
        save "$MNT/runs/$name/step_1.pt" "{'x': w(1)}"
    done
    report "$SCRATCH/page" --store "$STORE" >/dev/null
    has "$SCRATCH/page" '&lt;script&gt;alert(1)&lt;!--' 'bytes\xff\xfe' '\u202eevil\u2066' 'esc\x1b[31m' '&amp;lt;&quot;' \
        '<bdi>&lt;img src=x&gt;</bdi>'
    not grep -q "<script\|<img\|<!--" "$SCRATCH/page"
    not grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$SCRATCH/page"
    python3 -c 'open(__import__("sys").argv[1], encoding="utf-8").read()' "$SCRATCH/page"
}

@test "of a hundred thousand values a curve keeps what can be seen" {
    awk 'BEGIN { for (i = 0; i < 100000; i++)
        printf "{\"step\": %d, \"loss\": %d}\n", i, i == 54321 ? -9 : i == 12345 ? 77 : i % 10 }' >"$R/metrics.jsonl"
    report --json --store "$STORE" | python3 -c '
import json, sys
points = json.load(sys.stdin)["curves"]["list"][0]["series"][0]["points"]
assert len(points) <= 600, len(points)
assert [54321, -9.0] in points and [12345, 77.0] in points
assert points == sorted(points)'
    report "$SCRATCH/page" --store "$STORE" >/dev/null
    (($(stat -c %s "$SCRATCH/page") < 50000)) || fail "$(stat -c %s "$SCRATCH/page") bytes"
    has "$SCRATCH/page" "lowest -9, highest 77"
}

@test "a user is told of no run, configuration, curve or weights that he may not read" {
    require_user
    remount -o allow_other
    chmod 755 "$MNT" "$R"
    store_with_much
    all_read
    mkdir "$MNT/runs/concealed"
    printf 'secret_key: 5\n' >"$MNT/runs/concealed/config.yaml"
    save "$MNT/runs/concealed/step_1.pt" "{'x': w(77)}"
    printf '{"step": 1, "secret_metric": 1}\n' >"$MNT/runs/concealed/metrics.jsonl"
    "$EXPFS" select "$MNT/runs/concealed/step_1.pt" --name secret_choice >/dev/null 3>&-
    chmod 700 "$MNT/runs/concealed"
    local page=$MNT/.expfs/report.html words='concealed\|secret'
    equal "$(grep -c "$words" "$page" | sed 's/[1-9][0-9]*/some/')" some
    equal "$(as_nobody grep -c "$words" "$page" || true)" 0
    as_nobody grep -q "val_loss" "$page"
    as_nobody grep -q "holds step 9" "$page"
    as_nobody grep -q "<td class=\"w\"><bdi>optimizer</bdi>" "$page"
    chmod 600 "$R"/*.pt "$R/metrics.jsonl" "$R/config.yaml"
    equal "$(as_nobody grep -c 'holds step 9\|<bdi>optimizer</bdi>\|<figure\|<bdi>lr</bdi>' "$page" || true)" 0
    as_nobody grep -q "/runs/r/step_9.pt" "$page"
    grep -q "holds step 9" "$page"
}

@test "a browser finds all in the page, without an error or a request, on a telephone, a desk and paper" {
    require_command chromium
    store_with_much
    report "$SCRATCH/page.html" --store "$STORE" >/dev/null
    timeout 120 python3 "$EXPFS_SRCDIR/tests/browser.py" "$SCRATCH/page.html" >"$SCRATCH/seen" 3>&-
    python3 - "$SCRATCH/seen" <<'PY'
import json, sys
seen = json.load(open(sys.argv[1]))
assert seen["requests"] == [] and seen["errors"] == [], seen
for look in seen["looks"]:
    assert look["overflow"] <= 0 and (look["small"] == 0 or look["as"] == "print") and look["pale"] == [], look
assert [(l["width"], l["as"]) for l in seen["looks"]] == [(390, "light"), (390, "dark"), (1200, "light"), (1440, "light"), (1440, "dark"),
                                                          (720, "print")]
assert "script" not in seen["elements"] and seen["elements"]["figure"] == 1 and seen["elements"]["circle"] == 3, seen["elements"]
assert seen["elements"]["h1"] == 1 and seen["elements"]["table"] >= 5
for text in ("Warnings", "step_11.pt", "Space", "Branches", "Experiments", "Metrics by step", "Checkpoints",
             "Changes of configuration", "Selections", "<b>fine</b>"):
    assert text in seen["text"], text
assert seen["text"].index("Warnings") < seen["text"].index("Space") < seen["text"].index("Metrics by step")
PY
    timeout 120 python3 "$EXPFS_SRCDIR/tests/browser.py" "$MNT/.expfs/report.html" 3>&- | grep -q "Selections"
}

@test "long paths push no column out of sight on a desk, and of equal curves each is to be seen" {
    require_command chromium
    local name long=a-run-with-a-long-name-as-sweeps-give-it-lr-0.0003-seed-1
    for name in $long twin shorter; do
        mkdir -p "$MNT/runs/$name/checkpoints"
        save "$MNT/runs/$name/checkpoints/epoch=1-step=1000.safetensors" "{'x': w(1)}"
        printf '{"step": %d, "loss": 0.5}\n' 1 2 3 >"$MNT/runs/$name/metrics.jsonl"
    done
    printf '{"step": %d, "loss": 0.5}\n' 1 2 >"$MNT/runs/shorter/metrics.jsonl"
    rm -r "$MNT/runs/$long"
    report "$SCRATCH/page.html" --store "$STORE" >/dev/null
    timeout 120 python3 "$EXPFS_SRCDIR/tests/browser.py" "$SCRATCH/page.html" >"$SCRATCH/seen" 3>&-
    python3 - "$SCRATCH" <<'PY'
import json, re, sys
seen, page = json.load(open(sys.argv[1] + "/seen")), open(sys.argv[1] + "/page.html").read()
for look in seen["looks"]:
    assert look["overflow"] <= 0 and (look["width"] < 1000 or look["cut"] == []), look
names = re.findall("<li><svg.*?<bdi>(.*?)</bdi>", page)
assert sorted(n[:6] for n in names) == ["a-run-", "shorte", "twin"], names
first, second = [n for n in names if n != "shorter"]
assert "; the same as " + first in seen["text"], seen["text"]
dashes = ' style="stroke-dasharray:8 8;stroke-dashoffset:-8;stroke-linecap:butt"'
lines = re.findall(r'<path class="s c(\d)"( style=[^>]*?)? d="M0', page)
assert lines == [(str(names.index(first)), ""), (str(names.index(second)), dashes), (str(names.index("shorter")), "")], lines
PY
}
