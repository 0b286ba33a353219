# HEAD, pending and log, and the commands log and show: what they say of experiments.

load experiment_views

# --- texts of a branch ---

@test "HEAD is empty until there is an experiment, and then its hash and a newline" {
    config "lr: 0.1"
    equal "$(stat -c '%s %A' "$B/HEAD")" "0 -rw-r--r--"
    equal "$(cat "$B/HEAD")" ""
    save "$R/step_1.safetensors" 1
    grep -qxE '[0-9a-f]{24}' "$B/HEAD"
    equal "$(stat -c %s "$B/HEAD")" 25
    equal "$(getfattr --only-values -n user.expfs.hash "$R/step_1.safetensors" 2>/dev/null || xattr "$R/step_1.safetensors" user.expfs.hash)" "$(cat "$B/HEAD")"
}

@test "pending names the components and the hash that the next checkpoint then has" {
    config "lr: 0.1"
    save "$R/step_1.safetensors" 1
    equal "$(cat "$B/pending")" ""
    config "lr: 0.2"
    mkdir "$R/data"
    echo a >"$R/data/a"
    equal "$(sed '$d' "$B/pending" | tr '\n' ' ')" "HP DATA "
    local hash
    hash=$(tail -n 1 "$B/pending")
    save "$R/step_2.safetensors" 2
    equal "$(head_of r)" "$hash"
    equal "$(cat "$B/pending")" ""
    config "lr: 0.3"
    equal "$(head -n 1 "$B/pending")" HP
    config "lr: 0.2"
    equal "$(cat "$B/pending")" "" "an edit that was undone"
}

@test "texts have their size and time in stat, are read alike by cat, cp and mmap, and cannot be written" {
    two_experiments
    config "lr: 1"
    local f
    for f in "$B/HEAD" "$B/pending" "$B/log" "$MNT/.expfs/log" "$MNT/.expfs/lineage.json"; do
        equal "$(stat -c %s "$f")" "$(wc -c <"$f")" "size of $f"
        cp "$f" "$SCRATCH/copy"
        cmp "$f" "$SCRATCH/copy"
        equal "$(tail -c 5 "$f" | wc -c)" 5 "the end of $f"
        [[ $f == */HEAD ]] || equal "$(errno_of dd if=/dev/zero of="$f" bs=1 count=1)" "Read-only file system" "$f"
        equal "$(stat -c %y "$f")" "$(stat -c %y "$f")" "time of $f"
    done
    tar -C "$MNT" -cf "$SCRATCH/tar" branches
    tar -xOf "$SCRATCH/tar" branches/r/log | cmp - "$B/log"
}

@test "log prints what the file log holds, mounted and not" {
    two_experiments
    "$EXPFS" log r --store "$STORE" >"$SCRATCH/log" 3>&-
    cmp "$SCRATCH/log" "$B/log"
    (cd "$MNT" && "$EXPFS" log r 3>&-) | cmp - "$B/log"
    "$EXPFS" log "$R/config.yaml" 3>&- | cmp - "$B/log"
    cp "$B/log" "$SCRATCH/before"
    umount_store
    "$EXPFS" log r --store "$STORE" | cmp - "$SCRATCH/before"
    "$EXPFS" log /runs/r --store "$STORE" | cmp - "$SCRATCH/before"
    mount_store
}

@test "log says what changed against the parent: keys with both values, data, and steps" {
    config "lr: 0.1" "opt: {name: sgd, momentum: 0.9}"
    save "$R/step_100.safetensors" 1
    save "$R/step_200.safetensors" 2
    save "$R/step_300.safetensors" 3
    local first
    first=$(head_of r)
    config "lr: 0.01" "opt: {name: sgd, nesterov: true}"
    mkdir "$R/data"
    echo a >"$R/data/a"
    save "$R/step_400.safetensors" 4
    sed -E '/^time/d' "$B/log" >"$SCRATCH/log"
    diff "$SCRATCH/log" - <<EOT
experiment $(head_of r) (HEAD of r)
parent     $first
changed    lr: 0.1 -> 0.01
           opt.momentum: 0.9 -> none
           opt.nesterov: none -> true
           DATA
steps      400
latest     /runs/r/step_400.safetensors

experiment $first
steps      100 ... 300 (3)
latest     /runs/r/step_300.safetensors
EOT
    config "lr: 0.5"
    head -n 1 "$B/log" | grep -qxE "pending    [0-9a-f]{24} \(r: HP\)"
}

@test "log of all branches is in the top's .expfs, with lineage.json" {
    two_experiments
    mkdir "$MNT/runs/s"
    cp "$R/config.yaml" "$MNT/runs/s"
    save "$MNT/runs/s/step_7.safetensors" 7
    (cd "$MNT" && "$EXPFS" log 3>&-) | cmp - "$MNT/.expfs/log"
    grep -q "(HEAD of r, s)\|(HEAD of s, r)" "$MNT/.expfs/log"
    not test -e "$R/.expfs/log"
    python3 - "$MNT/.expfs/lineage.json" "$A" "$B_" <<'PY'
import json, sys
path, a, b = sys.argv[1:]
e = {x["hash"]: x for x in json.load(open(path))["experiments"]}
assert set(e) == {a, b}, e
assert e[a]["parent"] is None and e[b]["parent"] == a
assert e[a]["steps"] == [100] and e[b]["steps"] == [7, 200]
assert e[a]["branches"] == ["r"] and sorted(e[b]["branches"]) == ["r", "s"]
assert e[a]["time"].endswith("Z")
PY
}

@test "log --json has heads, pending, parents and changes; of an unknown branch or path it exits 1" {
    two_experiments
    config "lr: text" "batch: 8"
    "$EXPFS" log r --json --store "$STORE" 3>&- | python3 -c '
import json, sys
log, (a, b) = json.load(sys.stdin), sys.argv[1:]
(branch,) = log["branches"]
assert branch["name"] == "r" and branch["run"] == "/runs/r" and branch["head"] == b
assert branch["pending"]["components"] == ["HP"] and len(branch["pending"]["hash"]) == 24
new, old = log["experiments"]
assert new["hash"] == b and new["parent"] == a and new["changed"] == ["HP"] and new["head_of"] == ["r"]
assert new["hp"] == [{"key": "lr", "from": "0.1", "from_type": "float", "to": "0.01", "to_type": "float"}]
assert old["parent"] is None and old["changed"] == [] and old["steps"] == [100]
assert old["latest"]["path"] == "/runs/r/step_100.safetensors" and old["latest"]["step"] == 100
' "$A" "$B_"
    refused 1 "$EXPFS" log nothing --store "$STORE"
    refused 1 "$EXPFS" log "$R/nothing"
    refused 2 "$EXPFS" log r s --store "$STORE"
}

@test "manifest.yaml of a branch is its chronology in WeightsLab's schema" {
    require_command python3
    python3 -c 'import yaml' 2>/dev/null || missing "no PyYAML"
    two_experiments
    save "$R/step_100.safetensors" 9
    python3 - "$B/manifest.yaml" "$A" "$B_" <<'PY'
import datetime, sys, yaml
path, a, b = sys.argv[1:]
m = yaml.safe_load(open(path))
assert list(m) == ["experiments", "latest_hash", "last_updated"] and m["latest_hash"] == b
assert list(m["experiments"]) == [a, b], "in the order in which they were"
for h, e in m["experiments"].items():
    assert (e["hp_hash"], e["model_hash"], e["data_hash"]) == (h[:8], h[8:16], h[16:]), e
    assert datetime.datetime.fromisoformat(e["created"]) <= datetime.datetime.fromisoformat(e["last_used"])
    assert e["experiment_name"] == "r" and e["notes"] == ""
assert m["experiments"][a]["latest_weight_checkpoint"] == "step_100.safetensors"
assert m["experiments"][a]["latest_weight_step"] == m["experiments"][b]["latest_weight_step"] == 100
assert m["last_updated"] == m["experiments"][b]["last_used"]
PY
}

# --- show ---

@test "show tells of an experiment, by as much of its hash as tells it from others" {
    two_experiments
    local out
    out=$("$EXPFS" show "${B_:0:8}" --store "$STORE" 3>&-)
    grep -qx "experiment $B_ (HEAD of r)" <<<"$out"
    grep -qx "parent     $A" <<<"$out"
    grep -qx "changed    lr: 0.1 -> 0.01" <<<"$out"
    grep -qx "HP         /runs/r/config.yaml" <<<"$out"
    out=$(cd "$MNT" && "$EXPFS" show "$A" 3>&-)
    grep -qx "children   $B_" <<<"$out"
    grep -qx "HP         /.expfs/history/runs/r/config.yaml/1.yaml" <<<"$out"
    "$EXPFS" show "$A" --json --store "$STORE" 3>&- | python3 -c '
import json, sys
e, (a, b) = json.load(sys.stdin)["experiment"], sys.argv[1:]
assert e["hash"] == a and e["children"] == [b] and e["branches"] == ["r"] and e["head_of"] == []
assert e["files"]["HP"] == [{"path": "/runs/r/config.yaml", "found": "/.expfs/history/runs/r/config.yaml/1.yaml"}]
assert e["HP"].startswith(a[:8]) and "DATA" not in e
' "$A" "$B_"
}

@test "show tells of a path what is known: role, version, step, digest, experiment" {
    two_experiments
    save "$R/step_100.safetensors" 9
    "$EXPFS" show "$R/step_100.safetensors" --json 3>&- | python3 -c '
import json, sys
p = json.load(sys.stdin)
assert p["path"] == "/runs/r/step_100.safetensors" and p["role"] == "WEIGHTS" and p["step"] == 100
assert p["version"] == p["versions"] == 2 and p["complete"] and p["held"] and p["there"] and not p["directory"]
assert p["experiment"] == sys.argv[1] and p["branch"] == "r" and p["digest"] == sys.argv[2], p
' "$B_" "$(xattr "$R/step_100.safetensors" user.expfs.digest)"
    "$EXPFS" show "$R/config.yaml" 3>&- | grep -qx "role       HP"
    "$EXPFS" show "$R/config.yaml" 3>&- | grep -qx "experiment $B_"
    rm "$R/step_100.safetensors"
    "$EXPFS" show "$R/step_100.safetensors" 3>&- | grep -qx "version    2 of 2, the path is gone"
    umount_store
    "$EXPFS" show runs/r/step_200.safetensors --store "$STORE" | grep -qx "step       200"
    mount_store
}

@test "show of what is not known exits 1 and says why" {
    two_experiments
    echo x >"$R/notes.txt"
    refused 1 "$EXPFS" show "$R/notes.txt"
    [[ $MESSAGE == *"no role"* ]]
    refused 1 "$EXPFS" show "$R"
    refused 1 "$EXPFS" show "$R/never"
    refused 1 "$EXPFS" show ffffffffffff --store "$STORE"
    refused 2 "$EXPFS" show --store "$STORE"
    mkdir "$R/data"
    echo x >"$R/data/x"
    save "$R/step_300.safetensors" 3
    refused 1 "$EXPFS" show "${B_:0:8}" --store "$STORE"
    [[ $MESSAGE == *"several experiments"* ]]
}

@test "the log of a branch tells the steps and the newest of its own run, and of others where it has none" {
    two_experiments
    mkdir "$MNT/runs/far"
    cp "$R/config.yaml" "$MNT/runs/far"
    save "$MNT/runs/far/step_300.safetensors" 3
    equal "$(head_of far)" "$B_"
    told() { sed -n 's/^steps  *//p; s/^latest  *//p' | tr '\n' ' '; }
    equal "$(told <"$B/log")" "200 /runs/r/step_200.safetensors 100 /runs/r/step_100.safetensors "
    equal "$("$EXPFS" log r --store "$STORE" 3>&- | told)" "200 /runs/r/step_200.safetensors 100 /runs/r/step_100.safetensors "
    equal "$(told <"$MNT/branches/far/log")" "300 /runs/far/step_300.safetensors "
    grep -qx ' *latest_weight_step: 200' "$B/manifest.yaml"
    equal "$("$EXPFS" log --store "$STORE" 3>&- | told)" \
        "200 ... 300 (2) /runs/far/step_300.safetensors 100 /runs/r/step_100.safetensors "
    rm "$R/step_200.safetensors"
    equal "$(told <"$B/log")" "300 /runs/far/step_300.safetensors 100 /runs/r/step_100.safetensors "
}
