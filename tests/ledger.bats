# Names of selections, what becomes of them, decisions, and the commands that take a selection.

load lib
load selections

# ledger NAME EXPRESSION: of the answer r of show
ledger() { (cd "$R" && "$EXPFS" show "$1" --json 3>&-) | field "$2"; }

@test "selecting again supersedes a name, and the ledger keeps both with what was decided about each" {
    save step_7.safetensors seven
    save step_9.safetensors nine
    selects step_7.safetensors
    local first
    first=$(answered 's["selection"]')
    cd "$R"
    "$EXPFS" decide best HOLD --by "Ada L." --note "see run 12" 3>&-
    selects step_9.safetensors
    "$EXPFS" decide "$first" RERUN --by grace 3>&-
    "$EXPFS" decide r:best ACCEPT --by grace 3>&-
    "$EXPFS" decide best ACCEPT --by "Ada L." 3>&-
    local text='r["selection"]["path"], [(d["decision"], d["by"], d["note"]) for d in r["selection"]["decisions"]]'
    equal "$(ledger best "$text")" "('/runs/r/step_9.safetensors', [('ACCEPT', 'grace', None), ('ACCEPT', 'Ada L.', None)])"
    equal "$(ledger "$first" "$text")" "('/runs/r/step_7.safetensors', [('HOLD', 'Ada L.', 'see run 12'), ('RERUN', 'grace', None)])"
    equal "$(ledger best '[(o["path"], o["current"], len(o["decisions"])) for o in r["others"]]')" "[('/runs/r/step_7.safetensors', False, 2)]"
    equal "$(ledger "$first" 'r["selection"]["current"], [o["current"] for o in r["others"]]')" "(False, [True])"
    equal "$("$EXPFS" show best 3>&- | grep -c '^decision .*ACCEPT')" 2
    equal "$("$EXPFS" show best 3>&- | grep -c '^decision')" 2
    equal "$("$EXPFS" show best 3>&- | grep -A 2 '^also .*superseded' | sed 's/, .*//' | tail -n 2)" "$(printf '  decision HOLD by Ada L.\n  decision RERUN by grace')"
    equal "$("$EXPFS" show step_9.safetensors 3>&- | grep ^selected)" "selected   r:best ($(ledger best 'r["selection"]["selection"]')), version 1"
    equal "$("$EXPFS" show step_7.safetensors 3>&- | grep ^selected)" "selected   r:best ($first, superseded), version 1"
}

@test "the log of a branch names what is selected, and .expfs/log, too" {
    save step_7.safetensors seven
    save step_9.safetensors eight
    selects step_7.safetensors
    selects step_9.safetensors
    selects step_7.safetensors --name first
    local lines
    lines=$(printf 'selected   /runs/r/step_9.safetensors@1 as best\n           /runs/r/step_7.safetensors@1 as first')
    equal "$(grep -A1 ^selected "$MNT/branches/r/log")" "$lines"
    equal "$("$EXPFS" log "$R" 3>&- | grep -A1 ^selected)" "$lines"
    rm "$R/step_9.safetensors"
    equal "$(grep -A1 ^selected "$MNT/.expfs/log")" "$lines"
}

@test "a run that is moved to where none is keeps its selections under its path, and has them again when it is moved back" {
    save step_1.safetensors one
    selects step_1.safetensors
    mkdir "$MNT/archive"
    mv "$R" "$MNT/archive/r"
    R=$MNT/archive/r
    equal "$(ledger archive.r:best 'r["selection"]["path"]')" /archive/r/step_1.safetensors
    save step_2.safetensors two
    selects step_2.safetensors
    equal "$(answered 's["branch"]')" main
    equal "$(ledger best 'r["selection"]["path"]')" /archive/r/step_2.safetensors
    mv "$R" "$MNT/runs/r"
    R=$MNT/runs/r
    equal "$(ledger r:best 'r["selection"]["path"]')" /runs/r/step_1.safetensors
}

@test "select tells which selection had the name before" {
    save step_1.safetensors one
    save step_2.safetensors two
    "$EXPFS" select "$R/step_1.safetensors" --name n 3>&- >"$SCRATCH/text"
    not grep -q supersedes "$SCRATCH/text"
    "$EXPFS" select "$R/step_2.safetensors" --name n 3>&- >"$SCRATCH/text"
    grep -q '^supersedes r:n (sel-[0-9]*), [0-9: -]*: /runs/r/step_1.safetensors@1$' "$SCRATCH/text"
    equal "$("$EXPFS" select "$R/step_1.safetensors" --name n --json 3>&- | field 'r["superseded"]["path"]')" /runs/r/step_2.safetensors
    equal "$("$EXPFS" select "$R/step_1.safetensors" --name m --json 3>&- | field 'r["superseded"]')" None
}

@test "a name is that of the run in which one stands, or whose path is given with it, and reaches into no other" {
    mkdir "$MNT/runs/q" "$R/deeper"
    save step_1.safetensors one
    save step_2.safetensors two "$MNT/runs/q"
    save step_3.safetensors two "$MNT/runs/q"
    selects step_1.safetensors
    selects "$MNT/runs/q/step_2.safetensors"
    selects "$MNT/runs/q/step_2.safetensors" --name late
    equal "$(ledger best 'r["selection"]["branch"]')" r
    cd "$R/deeper"
    equal "$("$EXPFS" decide best ACCEPT --by me --json 3>&- | field 'r["branch"]')" r
    refused 1 "$EXPFS" decide late RERUN --by me
    [[ $MESSAGE == *"late: no selection in /runs/r has that name; name one of: q:late "* ]] || fail "$MESSAGE"
    refused 1 "$EXPFS" verify ../step_1.safetensors --against late
    cd "$SCRATCH"
    refused 1 "$EXPFS" verify "$R/step_1.safetensors" --against late
    [[ $MESSAGE == *"late: no selection in /runs/r has that name; "* ]] || fail "$MESSAGE"
    cd "$R/deeper"
    refused 1 "$EXPFS" show late
    equal "$("$EXPFS" show q:late --json 3>&- | field 'len(r["selection"]["decisions"])')" 0
    "$EXPFS" verify "$MNT/runs/q/step_3.safetensors" --against best 3>&- >"$SCRATCH/text"
    grep -q '^against .*/runs/q/step_2.safetensors@1, step 2, selected as q:best$' "$SCRATCH/text"
    equal "$("$EXPFS" diff best "$MNT/runs/q/step_3.safetensors" 3>&- | head -n 1)" \
        "a         /runs/q/step_2.safetensors@1, selected as q:best"
    run "$EXPFS" verify best --json 3>&-
    equal "$(field 'r["selection"]["branch"], r["selection"]["name"]' <<<"$output")" "('r', 'best')"
    equal "$("$EXPFS" restore best "$SCRATCH/back" 3>&-)" "/runs/r/step_1.safetensors: version 1 restored to $SCRATCH/back, selected as r:best"
    cd "$MNT"
    equal "$("$EXPFS" show late 3>&- | grep -c q:late)" 1
}

@test "outside of runs a name of a removed one counts only if no run that is there has it" {
    save step_1.safetensors one
    selects step_1.safetensors
    selects step_1.safetensors --name old
    rm -r "$R"
    mkdir "$R"
    save step_2.safetensors two
    cd "$R"
    refused 1 "$EXPFS" decide best ACCEPT --by me
    [[ $MESSAGE == *r~1:best* ]]
    selects step_2.safetensors
    cd "$MNT"
    "$EXPFS" decide best ACCEPT --by me 3>&- | grep '^r:best '
    "$EXPFS" decide old ACCEPT --by me 3>&- | grep '^r~1:old '
}

@test "a name that several branches have is told with each of them, and found by BRANCH:NAME" {
    mkdir "$MNT/runs/q"
    save step_1.safetensors one
    save step_2.safetensors two "$MNT/runs/q"
    selects step_1.safetensors
    selects "$MNT/runs/q/step_2.safetensors"
    cd "$MNT"
    refused 1 "$EXPFS" show best
    [[ $MESSAGE == *"r:best (sel-"* && $MESSAGE == *"q:best (sel-"* ]]
    local id
    for id in $(grep -o 'sel-[0-9]*' <<<"$MESSAGE"); do "$EXPFS" show "$id" >/dev/null; done
    refused 1 "$EXPFS" verify best
    refused 1 "$EXPFS" restore best
    refused 1 "$EXPFS" diff r:best best
    refused 1 "$EXPFS" decide best ACCEPT --by me
    equal "$(ledger q:best 'r["selection"]["path"]')" /runs/q/step_2.safetensors
    refused 1 "$EXPFS" show x:best
    mv "$MNT/runs/q" "$MNT/runs/z:y"
    equal "$(ledger z:y:best 'r["selection"]["path"]')" /runs/z:y/step_2.safetensors
    refused 1 "$EXPFS" show q:best
}

@test "selections outlive remounts, the death of the daemon, their files, and go with a run that is renamed or removed" {
    save step_1.safetensors one
    selects step_1.safetensors --metric loss=1
    "$EXPFS" decide best ACCEPT --by me --store "$STORE"
    kill_daemon
    fusermount3 -uz "$MNT"
    mount_store
    equal "$(ledger best 'r["selection"]["metric"]["value"], len(r["selection"]["decisions"])')" "(1.0, 1)"
    rm "$R/step_1.safetensors"
    remount
    equal "$(ledger best 'r["selection"]["path"], r["selection"]["held"]')" "('/runs/r/step_1.safetensors', True)"
    mv "$R" "$MNT/runs/renamed"
    R=$MNT/runs/renamed
    equal "$(ledger renamed:best 'r["selection"]["branch"], r["selection"]["path"]')" "('renamed', '/runs/renamed/step_1.safetensors')"
    save step_2.safetensors two
    wait_until test -e "$MNT/branches/renamed/latest"
    rm -r "$R"
    mkdir "$R"
    save step_3.safetensors three
    selects step_3.safetensors
    equal "$(ledger renamed:best 'r["selection"]["path"]')" /runs/renamed/step_3.safetensors
    equal "$(ledger renamed~1:best 'r["selection"]["path"]')" "/runs/renamed~1/step_1.safetensors"
    cmp "$MNT$(ledger renamed~1:best 'r["selection"]["found"]')" <(save step_1.safetensors one "$SCRATCH"; cat "$SCRATCH/step_1.safetensors")
}

@test "a file or directory that has no version does not hide a selection of its name" {
    save step_1.safetensors one
    mkdir "$R/best"
    echo text >"$R/best/notes.txt"
    echo text >"$R/pick"
    selects step_1.safetensors
    selects step_1.safetensors --name pick
    cp "$R/step_1.safetensors" "$SCRATCH/x.safetensors"
    cd "$R"
    "$EXPFS" verify best --against "$SCRATCH/x.safetensors" 3>&-
    equal "$(ledger best 'r["selection"]["path"]')" /runs/r/step_1.safetensors
    equal "$(ledger pick 'r["selection"]["path"]')" /runs/r/step_1.safetensors
    refused 1 "$EXPFS" show other
}

@test "a file that is there comes before a selection of its name, and one that is gone after it" {
    save a.safetensors one
    save b.safetensors two
    selects a.safetensors --name b.safetensors
    equal "$(ledger b.safetensors 'r["path"]')" /runs/r/b.safetensors
    rm "$R/b.safetensors"
    equal "$(ledger b.safetensors 'r["selection"]["path"]')" /runs/r/a.safetensors
    equal "$(ledger ./b.safetensors 'r["path"]')" /runs/r/b.safetensors
    selects a.safetensors --name deed
    equal "$(ledger deed 'r["selection"]["path"]')" /runs/r/a.safetensors
}

@test "verify holds what was selected against the first version under the step that was meant" {
    save step_7.safetensors seven
    save step_9.safetensors nine
    save best.safetensors nine
    selects best.safetensors --step 7
    save best.safetensors seven
    cd "$R"
    run "$EXPFS" verify best --json 3>&-
    equal "$status" 10
    equal "$(field '(r["answer"], r["path"], r["instead"]["path"])' <<<"$output")" "('RECOVER', '/runs/r/best.safetensors', '/runs/r/step_7.safetensors')"
    selects best.safetensors@1 --step 9
    "$EXPFS" verify best 3>&-
    run "$EXPFS" verify step_7.safetensors --against best 3>&-
    equal "$status" 10
    "$EXPFS" verify step_9.safetensors --against best 3>&-
    cd /
    "$EXPFS" verify "$R/step_9.safetensors" --against best 3>&-
}

@test "a selection of what holds another step than its label says tells so, and so does verify of who holds it, too" {
    save step_7.safetensors seven
    save step_9.safetensors nine
    save best_step_7.safetensors nine
    save copy.safetensors nine
    wait_read step_7.safetensors step_9.safetensors best_step_7.safetensors copy.safetensors
    local text="labelled step 7, holds step 9: its weights are those of /runs/r/step_9.safetensors"
    cd "$R"
    "$EXPFS" select best_step_7.safetensors 3>&- >"$SCRATCH/text"
    grep -qx "label      $text" "$SCRATCH/text"
    "$EXPFS" show best 3>&- >"$SCRATCH/text"
    grep -qx "label      $text" "$SCRATCH/text"
    equal "$(ledger best 'r["selection"]["label"]')" "$text"
    selects step_9.safetensors --name right
    equal "$(answered 's["label"]')" None
    "$EXPFS" verify copy.safetensors --against step_9.safetensors 3>&- >"$SCRATCH/text"
    grep -qx "           /runs/r/best_step_7.safetensors@1, $text" "$SCRATCH/text"
    grep -qx "holds      /runs/r/step_9.safetensors@1, step 9" "$SCRATCH/text"
}

@test "what was selected is not verified against itself or a link to it, but against a copy of it" {
    save step_9.safetensors nine
    save step_1.safetensors one
    selects step_9.safetensors
    ln "$R/step_9.safetensors" "$R/link.safetensors"
    cp "$R/step_9.safetensors" "$R/copy.safetensors"
    cd "$R"
    refused 2 "$EXPFS" verify step_9.safetensors --against best
    refused 2 "$EXPFS" verify link.safetensors --against best
    refused 2 "$EXPFS" verify best --against step_9.safetensors
    refused 2 "$EXPFS" verify best --against best
    "$EXPFS" verify copy.safetensors --against best 3>&-
    "$EXPFS" verify best --against copy.safetensors 3>&-
}

@test "restore brings back what was selected, to its path or elsewhere, and diff compares it" {
    save best.safetensors one
    selects best.safetensors
    cp "$R/best.safetensors" "$SCRATCH/kept"
    save best.safetensors two
    cd "$R"
    equal "$("$EXPFS" diff best best.safetensors --json 3>&- | field '(r["a"]["version"], r["b"]["version"], r["counts"]["content"])')" "(1, 2, 1)"
    equal "$("$EXPFS" restore r:best --json 3>&- | field '(r["path"], r["n"])')" "('/runs/r/best.safetensors', 1)"
    cmp best.safetensors "$SCRATCH/kept"
    rm best.safetensors
    cd "$MNT"
    "$EXPFS" restore best "$SCRATCH/back" 3>&-
    cmp "$SCRATCH/back" "$SCRATCH/kept"
    "$EXPFS" restore best 3>&-
    cmp "$R/best.safetensors" "$SCRATCH/kept"
    "$EXPFS" restore "$MNT/.expfs/history/runs/r/best.safetensors/2.safetensors" 3>&-
    equal "$(xattr "$R/best.safetensors" user.expfs.version)" 5
}

@test "a decision has a reviewer, one of five answers, and bounds" {
    save step_1.safetensors one
    selects step_1.safetensors
    cd "$R"
    refused 2 "$EXPFS" decide best MAYBE --by me
    refused 2 "$EXPFS" decide best accept --by me
    refused 2 "$EXPFS" decide best ACCEPT
    refused 2 "$EXPFS" decide best ACCEPT --by ""
    refused 2 "$EXPFS" decide best ACCEPT --by me --note $'two\nlines'
    refused 2 "$EXPFS" decide best ACCEPT --by $'\e[31mme'
    refused 2 "$EXPFS" decide best ACCEPT --by $'\u202eme'
    refused 2 "$EXPFS" decide best ACCEPT --by me --note "$(printf '%01025d' 0)"
    refused 2 "$EXPFS" decide best ACCEPT --by me --note $'\xff'
    refused 2 "$EXPFS" decide best
    refused 1 "$EXPFS" decide other ACCEPT --by me
    refused 1 "$EXPFS" decide sel-1 ACCEPT --by me
    refused 1 "$EXPFS" decide sel-99999999999999999999 ACCEPT --by me
    equal "$(ledger best 'r["selection"]["decisions"]')" "[]"
    "$EXPFS" decide best RECAPTURE --by 'Ж "q" \ é' --note 'a "note"' 3>&-
    equal "$(ledger best 'r["selection"]["decisions"][0]["by"]')" 'Ж "q" \ é'
}

@test "the branch main has one name where it is a root of WeightsLab and a run" {
    local models=$MNT/checkpoints/models/bbbbbbbb
    mkdir -p "$models"
    save aaaaaaaabbbbbbbbcccccccc_step_000001.pt one "$models"
    save top.safetensors two "$MNT"
    wait_until test -e "$MNT/branches/main/latest"
    selects "$models/aaaaaaaabbbbbbbbcccccccc_step_000001.pt"
    equal "$(answered 's["branch"]')" main
    selects "$MNT/top.safetensors"
    R=$MNT
    equal "$(ledger best 'r["selection"]["path"], len(r["others"])')" "('/top.safetensors', 1)"
    equal "$(ledger main:best 'r["others"][0]["step"]')" 1
}

@test "a root of WeightsLab and the run in its directory, which are two branches, have their names each" {
    local hash=11111111b5a79a78bb73166f
    python3 "$EXPFS_SRCDIR/tests/weightslab.py" "$R" dump $hash 5
    save step_1.safetensors one
    selects step_1.safetensors
    selects "checkpoints/models/b5a79a78/${hash}_step_000005.pt"
    equal "$(ledger r:best 'r["selection"]["step"], len(r["others"])')" "(1, 0)"
    equal "$(ledger runs.r:best 'r["selection"]["step"], len(r["others"])')" "(5, 0)"
}

@test "branches of a root that is gone are called in the ledger as they were" {
    local models=$MNT/exp/checkpoints/models
    python3 "$EXPFS_SRCDIR/tests/weightslab.py" "$MNT/exp" dump 11111111b5a79a78bb73166f 5 + pending 22222222b5a79a78bb73166f + \
        flush + save 22222222b5a79a78bb73166f 15 + load 11111111b5a79a78bb73166f + dump 11111111941b7d6dbb73166f 10
    selects "$models/b5a79a78/11111111b5a79a78bb73166f_step_000005.pt"
    selects "$models/941b7d6d/11111111941b7d6dbb73166f_step_000010.pt"
    local gone
    for gone in "" "$MNT/exp"; do
        [[ -z $gone ]] || rm -r "$gone"
        equal "$(ledger exp:best 'r["selection"]["step"]')" 5
        equal "$(ledger exp.2:best 'r["selection"]["step"]')" 10
    done
    "$EXPFS" history "$models/941b7d6d/11111111941b7d6dbb73166f_step_000010.pt" >/dev/null
}

@test "a selection whose version was let go once it was superseded keeps its record" {
    save best.safetensors one
    selects best.safetensors
    local first
    first=$(answered 's["selection"]')
    save best.safetensors two
    selects best.safetensors
    save best.safetensors three
    "$EXPFS" forget "$R/best.safetensors@1" 3>&-
    equal "$(ledger "$first" 'r["selection"]["path"], r["selection"]["version"], r["selection"]["held"], r["selection"]["found"]')" \
        "('/runs/r/best.safetensors', 1, False, None)"
    equal "$(ledger "$first" 'len(r["selection"]["sha256"])')" 64
    cd "$R"
    refused 1 "$EXPFS" verify "$first"
    refused 1 "$EXPFS" restore "$first"
    [[ $("$EXPFS" show best 3>&-) == *"@1"* ]]
}

@test "records that are not as they should be show what of them is" {
    save step_1.safetensors one
    selects step_1.safetensors
    umount_store
    python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE ledger SET record=?", (sys.argv[2],))
db.commit()' "$STORE/expfs.db" '{"step": "x", "metric": {"name": 5}, "software": {"a": 1, "b": "2"}, "sha256": [1], "path": 7}'
    "$EXPFS" fsck "$STORE"
    mount_store
    equal "$(ledger best '[r["selection"][k] for k in ("step", "metric", "software", "sha256", "path")]')" \
        "[None, None, {'b': '2'}, None, '/runs/r/step_1.safetensors']"
    "$EXPFS" show best --store "$STORE" 3>&- >"$SCRATCH/text"
}

@test "branches that are derived of a root each have names of their own, also after the derivation was done again" {
    local e1=11111111b5a79a78bb73166f e4=11111111941b7d6dbb73166f
    python3 "$EXPFS_SRCDIR/tests/weightslab.py" "$MNT" dump $e1 0 5 10 + pending 22222222b5a79a78bb73166f + flush + save 22222222b5a79a78bb73166f 15 + load $e1 + dump $e4 5 10
    wait_until test -e "$MNT/branches/main.2/latest"
    selects "$MNT/checkpoints/models/941b7d6d/${e4}_step_000010.pt"
    equal "$(answered 's["branch"]')" main.2
    selects "$MNT/checkpoints/models/b5a79a78/${e1}_step_000005.pt"
    equal "$(answered 's["branch"]')" main
    "$EXPFS" decide main.2:best ACCEPT --by me --store "$STORE"
    umount_store
    python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("DROP TABLE line"); db.commit()' "$STORE/expfs.db"
    "$EXPFS" fsck --repair "$STORE" >/dev/null || true
    "$EXPFS" fsck "$STORE"
    mount_store
    wait_until test -e "$MNT/branches/main.2/latest"
    equal "$(ledger main.2:best 'r["selection"]["step"], len(r["selection"]["decisions"])')" "(10, 1)"
    equal "$(ledger main:best 'r["selection"]["step"], len(r["others"])')" "(5, 0)"
}
