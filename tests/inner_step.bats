# The step of a checkpoint whose name has none is read from inside the file.

load lib

setup() { mount_run; }

teardown() { cleanup; }

# save NAME EXPRESSION [SEED]: a checkpoint of the run
save() { python3 "$EXPFS_SRCDIR/tests/inner_step.py" "$R/$1" "${@:2}"; }

# step NAME: what its xattr says, or nothing
step() { xattr "$R/$1" user.expfs.step; }

# steps [DIR]: those that step/ lists, in its order
steps() { ls -U "${1:-$MNT/branches/r}/step" | tr '\n' ' '; }

# at N: where step/N leads, below the run
at() { realpath --relative-to="$R" "$MNT/branches/r/step/$1"; }

@test "the step of a checkpoint is read from inside where the name has none, whatever the format" {
    save latest.pt '{"step": 7, "model": {}}'
    save last.ckpt '{"epoch": 3, "global_step": 200, "state_dict": {}}'
    save model.safetensors '{"format": "pt", "iter_num": "31"}'
    save weights.npz '{"iteration": 12}'
    equal "$(step latest.pt) $(step last.ckpt) $(step model.safetensors) $(step weights.npz)" "7 200 31 12"
    equal "$(steps)" "7 12 31 200 "
    equal "$(at 100)" "model.safetensors"
    equal "$("$EXPFS" status "$MNT" --json | python3 -c '
import json, sys
print(json.load(sys.stdin)["branches"][0]["latest"])')" "{'path': '/runs/r/weights.npz', 'step': 12}"
    equal "$(steps "$R/.expfs")" "7 12 31 200 "
    remount
    equal "$(steps)" "7 12 31 200 "
}

@test "a step in the name is the step, whatever the file says" {
    save step_5.pt '{"step": 7}'
    equal "$(step step_5.pt)" 5
    equal "$(steps)" "5 "
}

@test "of a step that a name has and a file tells step/ lists one, and leads to the name" {
    save step_50.pt '{"step": 50}' a
    save latest.pt '{"step": 50}' a
    save step_100.pt '{"step": 100}' b
    save latest.pt '{"step": 100}' b
    equal "$(steps)" "50 100 "
    equal "$(at 100)" step_100.pt
    equal "$(at 7)" step_50.pt
    equal "$(readlink "$MNT/branches/r/latest")" ../../runs/r/latest.pt
    save best.pt '{"step": 100}' c
    equal "$(at 100) $(realpath --relative-to="$R" "$R/.expfs/step/100")" "step_100.pt step_100.pt"
    rm "$R/step_100.pt"
    equal "$(at 100)" best.pt
    save step_100.pt '{"step": 100}' b
    equal "$(at 100)" step_100.pt
}

@test "a name and a file with one step are no duplicate, two names are" {
    save step_100.pt '{"step": 100}'
    save latest.pt '{"step": 100}'
    save last01.pt '{"step": 100}'
    save last1.pt '{"step": 100}'
    "$EXPFS" status "$MNT" --json >"$SCRATCH/status"
    not grep -q duplicate-step "$SCRATCH/status"
    save step_0100.pt '{}'
    "$EXPFS" status "$MNT" --json >"$SCRATCH/status"
    grep -q duplicate-step "$SCRATCH/status"
    equal "$(grep -c stands "$SCRATCH/status")" 1
}

@test "a file that is overwritten again and again has a step of its own in each version" {
    local n
    for n in 10 20 30 20; do
        save latest.pt "{'state': {'global_step': $n}}" "$n"
    done
    equal "$(step latest.pt)" 20
    equal "$("$EXPFS" history "$R/latest.pt" --json | python3 -c '
import json, sys
print([v["step"] for v in json.load(sys.stdin)["versions"]])')" "[10, 20, 30, 20]"
    equal "$(steps)" "20 "
    save latest.pt '{}'
    equal "$(step latest.pt)" ""
    equal "$(steps)" ""
    "$EXPFS" status "$MNT" --json | grep -q '"step": null'
}

@test "the step stays with what is saved again, changed in mode, copied and renamed, and with a run that is moved" {
    save latest.pt '{"global_step": 40}'
    equal "$(step latest.pt)" 40
    save latest.pt '{"global_step": 40}'
    equal "$(step latest.pt)" 40
    chmod 600 "$R/latest.pt"
    equal "$(step latest.pt)" 40
    cp "$R/latest.pt" "$R/step_41.pt"
    cp "$R/step_41.pt" "$R/copy.pt"
    equal "$(step step_41.pt) $(step copy.pt)" "41 40"
    mv "$R/latest.pt" "$R/final.pt"
    equal "$(step final.pt)" 40
    mv "$R" "$MNT/runs/other"
    R=$MNT/runs/other
    remount
    equal "$(step final.pt) $(steps "$R/.expfs")" "40 40 41 "
    cp "$R/final.pt" "$R/step_41.pt"
    equal "$(step step_41.pt)" 41
}

@test "keys without a step are passed over, and what tells none, or is hostile, has none and counts all the same" {
    save a.pt '{"step": True, "global_step": -1, "state": {"global_step": 2**63}, "iter_num": "7", "iteration": 2**40}'
    save b.pt '{"model": {"step": 7}, "steps": 7, "state": {"step": 7}}'
    save c.pt '[7]'
    save d.pt 'b"\x80\x02}q\x00(X\x04\x00\x00\x00stepK\x07u"'
    save e.pt "b'cos\nsystem\n(S\'touch $SCRATCH/ran\'\ntR.'"
    save f.pt 'b"]" * 100000 + b"a" * 99999 + b"."'
    save g.pt 'b"(" * 1000000'
    save h.safetensors '{"step": "7.0", "global_step": "-7", "iteration": "99999999999999999999"}'
    save i.npz '{"step": -7}'
    python3 -c 'import pickle, sys; pickle.dump({"step": 7}, open(sys.argv[1], "wb"))' "$R/j.pt"
    equal "$(step a.pt)" 1099511627776
    local name
    for name in b.pt c.pt d.pt e.pt f.pt g.pt h.safetensors i.npz j.pt; do
        equal "$name $(step "$name") $(xattr "$R/$name" user.expfs.complete)" "$name  1"
    done
    equal "$(steps)" "1099511627776 "
    [[ ! -e $SCRATCH/ran ]]
}

# head: the hash of the branch
head_of() { cat "$MNT/branches/r/HEAD"; }

# says NAME...: the steps that the files say
says() { python3 - "$R" "$@" <<'P'
import pickle, sys, zipfile
print(*[pickle.loads(zipfile.ZipFile(f"{sys.argv[1]}/{name}").read("archive/data.pkl"))["step"] for name in sys.argv[2:]])
P
}

@test "a load finds a checkpoint by the step inside, and the branch goes on from that step" {
    local a b init
    echo 'lr: 0.1' >"$R/config.yaml"
    save latest.pt '{"step": 100}' 1
    save latest.pt '{"step": 200}' 2
    a=$(head_of)
    equal "$("$EXPFS" log "$MNT/runs/r/" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["experiments"][0]["steps"])')" "[100, 200]"
    equal "$(readlink "$MNT/experiments/$a/step/100")" "../../../.expfs/history/runs/r/latest.pt/1.pt"
    echo 'lr: 0.2' >"$R/config.yaml"
    save latest.pt '{"step": 300}' 3
    [[ $(head_of) != "$a" ]]
    equal "$("$EXPFS" load "$a@100" "$R/" 3>&-)" "/runs/r: $a, /runs/r/latest.pt, step 100"
    equal "$(says latest.pt) $(step latest.pt) $(steps)" "100 100 100 "
    equal "$(cat "$R/config.yaml")" "lr: 0.1"
    not "$EXPFS" load "$a@7" "$R/" 2>"$SCRATCH/err" 3>&-
    grep -q "has no checkpoint of step 7; it has 100 200" "$SCRATCH/err"
    "$EXPFS" load "$a" "$R/" 3>&-
    equal "$(says latest.pt)" 200
}

@test "a load of a step brings the file that has it in its name, and latest.pt as it was with that step" {
    local a n
    echo 'lr: 0.1' >"$R/config.yaml"
    for n in 50 100 150; do
        save "step_$n.pt" "{'step': $n}" "$n"
        save latest.pt "{'step': $n}" "latest $n"
    done
    save final.pt '{"step": 100}' final
    cp "$R/step_100.pt" "$SCRATCH/"
    a=$(head_of)
    echo 'lr: 0.2' >"$R/config.yaml"
    save step_100.pt '{"step": 100}' other
    save latest.pt '{"step": 100}' other
    [[ $(head_of) != "$a" ]]
    equal "$("$EXPFS" load "$a@100" "$R/" 3>&-)" "/runs/r: $a, /runs/r/step_100.pt, step 100"
    cmp "$SCRATCH/step_100.pt" "$R/step_100.pt"
    equal "$(says latest.pt final.pt)" "100 100"
    save "../latest.pt" "{'step': 100}" "latest 100"
    cmp "$MNT/runs/latest.pt" "$R/latest.pt"
    equal "$(steps)" "50 100 "
    equal "$(says "$(basename "$(readlink "$MNT/branches/r/latest")")")" 100
    "$EXPFS" load "$a@50" "$R/" 3>&-
    equal "$(says step_50.pt latest.pt)" "50 50"
}

@test "files without a step in their names come with a load whatever step they tell" {
    local a
    echo 'lr: 0.1' >"$R/config.yaml"
    save best.pt '{"step": 1}' a
    save optimizer.pt '{}' a
    save latest.pt '{"step": 2}' a
    a=$(head_of)
    echo 'lr: 0.2' >"$R/config.yaml"
    save best.pt '{"step": 3}' b
    save optimizer.pt '{"x": 1}' b
    save latest.pt '{"step": 4}' b
    "$EXPFS" load "$a" "$R/" 3>&-
    equal "$(says latest.pt best.pt)" "2 1"
    save ../same.pt '{}' a
    cmp "$MNT/runs/same.pt" "$R/optimizer.pt"
}

@test "after a load of the step that the branch began at the next checkpoint is a new experiment, too" {
    local a c
    echo 'lr: 0.1' >"$R/config.yaml"
    save model.safetensors '{"step": "0"}' 1
    a=$(head_of)
    "$EXPFS" load "$a@0" "$R/" 3>&-
    save model.safetensors '{"step": "7"}' 2
    c=$(head_of)
    [[ $c != "$a" ]]
    "$EXPFS" load "$c@7" "$R/" 3>&-
    save model.safetensors '{"step": "7"}' 3
    [[ $(head_of) != "$c" ]]
    c=$(head_of)
    "$EXPFS" load "$c@7" "$R/" 3>&-
    save model.safetensors '{"step": "7"}' 4
    [[ $(head_of) != "$c" ]]
    equal "$("$EXPFS" show "$(head_of)" --store "$STORE" --json 3>&- | python3 -c 'import json, sys; print(json.load(sys.stdin)["experiment"]["parent"])')" "$c"
}

@test "a curve speaks for a checkpoint whose file tells the step, and of two alike the one with the step in its name is best" {
    save step_10.pt '{"step": 10}' 1
    save latest.pt '{"step": 10}' 1
    printf '{"step": 10, "val_loss": 0.3}\n{"step": 20, "val_loss": 0.5}\n' >"$R/metrics.jsonl"
    equal "$(readlink "$MNT/branches/r/best")" ../../runs/r/step_10.pt
    save latest.pt '{"step": 20}' 2
    equal "$(readlink "$MNT/branches/r/best")" ../../runs/r/step_10.pt
    printf '{"step": 20, "val_loss": 0.2}\n' >>"$R/metrics.jsonl"
    equal "$(readlink "$MNT/branches/r/best")" ../../runs/r/latest.pt
    "$EXPFS" status "$MNT" --json | python3 -c '
import json, sys
best = json.load(sys.stdin)["branches"][0]["best"]
assert (best["step"], best["value"]) == (20, 0.2), best'
}
