# Experiment roots in WeightsLab's layout: their experiments, the branches that are derived of them, and several roots.

load lib

setup() {
    scratch
    store_init
    mount_store
    B=$MNT/branches
}
teardown() { cleanup; }

# wl ROOT ACT...: what WeightsLab would write
wl() { python3 "$EXPFS_SRCDIR/tests/weightslab.py" "$@"; }

# Hashes: HP, MODEL, DATA
E1=11111111b5a79a78bb73166f
E2=22222222b5a79a78bb73166f
E3=222222223c8a2492bb73166f
E4=11111111941b7d6dbb73166f
E5=33333333941b7d6dbb73166f

weights() { echo "$1/checkpoints/models/${2:8:8}/${2}_step_$(printf %06d "$3").pt"; }

branches() { ls -U "$B" | tr '\n' ' '; }
steps() { ls -U "$B/$1/step" | tr '\n' ' '; }

# leads LINK FILE
leads() { equal "$(readlink -f "$1")" "$2" "${1#"$MNT"/}"; }

@test "a first run is one branch, called main at the top" {
    wl "$MNT" dump $E1 0 5 10
    equal "$(branches)" "main "
    equal "$(steps main)" "0 5 10 "
    leads "$B/main/latest" "$(weights "$MNT" $E1 10)"
    leads "$B/main/step/7" "$(weights "$MNT" $E1 5)"
    leads "$B/main/step/8" "$(weights "$MNT" $E1 10)"
    equal "$(xattr "$(weights "$MNT" $E1 5)" user.expfs.hash)" $E1
}

@test "an edit and a resume continue the branch" {
    wl "$MNT" dump $E1 0 5 10 + pending $E2 + save $E2 15 + flush + save $E2 20 + resume + dump $E3 25
    equal "$(branches)" "main "
    equal "$(steps main)" "0 5 10 15 20 25 "
    leads "$B/main/latest" "$(weights "$MNT" $E3 25)"
}

@test "training on from an older hash is a branch of its own, and the old one stays" {
    wl "$MNT" dump $E1 0 5 10 + pending $E2 + flush + save $E2 15 + load $E1 + dump $E4 5 10
    equal "$(branches)" "main main.2 "
    equal "$(steps main)" "0 5 10 15 "
    equal "$(steps main.2)" "5 10 "
    leads "$B/main/latest" "$(weights "$MNT" $E2 15)"
    leads "$B/main.2/latest" "$(weights "$MNT" $E4 10)"
    wl "$MNT" pending $E5 + flush + save $E5 15
    equal "$(steps main.2)" "5 10 15 "
    wl "$MNT" load $E2 + dump $E3 20
    equal "$(branches)" "main main.2 "
    equal "$(steps main)" "0 5 10 15 20 "
    wl "$MNT" load $E1 + dump 11111111aaaaaaaabb73166f 1
    equal "$(branches)" "main main.2 main.3 "
    equal "$(steps main.3)" "1 "
    remount
    equal "$(branches)" "main main.2 main.3 "
    equal "$(steps main.2)" "5 10 15 "
}

@test "every branch of a root has its best, and a directory that of the branches in it" {
    wl "$MNT" dump $E1 0 5 10 + pending $E2 + flush + save $E2 15 + load $E1 + dump $E4 5 10
    setfattr -n user.expfs.metric.val_loss -v 0.5 "$(weights "$MNT" $E1 5)"
    setfattr -n user.expfs.metric.val_loss -v 0.25 "$(weights "$MNT" $E4 10)"
    leads "$B/main/best" "$(weights "$MNT" $E1 5)"
    leads "$B/main.2/best" "$(weights "$MNT" $E4 10)"
    leads "$MNT/checkpoints/.expfs/best" "$(weights "$MNT" $E4 10)"
    leads "$MNT/.expfs/best" "$(weights "$MNT" $E4 10)"
}

@test "checkpoints of a root's later branches have a history as those of the first, and what is their branch's last is kept" {
    wl "$MNT/exp" dump $E1 0 5 10 + pending $E2 + flush + save $E2 15 + load $E1 + dump $E4 5 10
    equal "$("$EXPFS" history "$(weights "$MNT/exp" $E4 5)" | wc -l)" 2
    "$EXPFS" show "$(weights "$MNT/exp" $E4 10)" | grep -q 'exp\.2'
    rm "$(weights "$MNT/exp" $E4 5)" "$(weights "$MNT/exp" $E4 10)"
    refused 1 "$EXPFS" forget "$(weights "$MNT/exp" $E4 10)@1"
    "$EXPFS" forget "$(weights "$MNT/exp" $E4 5)@1" >/dev/null
}

@test "a hash that was only ever pending is no experiment, and what follows it continues the branch" {
    wl "$MNT" dump $E1 0 + pending $E2 + pending $E5 + flush + save $E5 5
    equal "$(branches)" "main "
    equal "$(steps main)" "0 5 "
}

@test "weights under a hash that no manifest lists are an experiment" {
    wl "$MNT" dump $E1 0 5 + pending $E2 + save $E2 10
    leads "$B/main/latest" "$(weights "$MNT" $E2 10)"
    equal "$(xattr "$(weights "$MNT" $E2 10)" user.expfs.hash)" $E2
}

@test "what is asked for in between changes nothing" {
    local act
    for act in "dump $E1 0 5 10" "pending $E2" flush "save $E2 15" "load $E1" "dump $E4 5 10" resume "load $E2" "dump $E3 20"; do
        # shellcheck disable=SC2086 # words
        wl "$MNT" $act
        branches >/dev/null
    done
    equal "$(branches)" "main main.2 "
    equal "$(steps main)" "0 5 10 15 20 "
    equal "$(steps main.2)" "5 10 "
}

@test "a root that is copied in has its experiments in the order of its manifest, whatever comes first" {
    wl "$SCRATCH/r" dump $E1 0 5 10 + pending $E2 + flush + save $E2 15 + load $E1 + dump $E4 5 10
    cp -r "$SCRATCH/r" "$MNT/a"
    mkdir "$MNT/b" "$MNT/c"
    cp "$SCRATCH/r/.checkpoint_manager_state.json" "$MNT/b"
    branches >/dev/null
    mkdir "$MNT/b/checkpoints"
    cp -r "$SCRATCH/r/checkpoints/models" "$MNT/b/checkpoints"
    branches >/dev/null
    cp -r "$SCRATCH/r/checkpoints" "$MNT/b"
    cp -r "$SCRATCH/r/checkpoints" "$MNT/c"
    branches >/dev/null
    cp "$SCRATCH/r/.checkpoint_manager_state.json" "$MNT/c"
    local n
    equal "$(branches)" "a a.2 b b.2 c c.2 "
    for n in a b c; do
        equal "$(steps $n)" "0 5 10 15 "
        equal "$(steps $n.2)" "5 10 "
    done
}

@test "a root below the top, in runs/ too, is called by its path" {
    wl "$MNT/exp/a" dump $E1 0
    wl "$MNT/runs/r" dump $E2 5
    equal "$(branches)" "exp.a runs.r "
    leads "$B/exp.a/latest" "$(weights "$MNT/exp/a" $E1 0)"
    leads "$B/runs.r/latest" "$(weights "$MNT/runs/r" $E2 5)"
    mv "$MNT/exp" "$MNT/other"
    equal "$(branches)" "other.a runs.r "
    leads "$B/other.a/latest" "$(weights "$MNT/other/a" $E1 0)"
}

@test "what lies in a root's checkpoints/ counts for no run, and what lies beside it does" {
    wl "$MNT/runs/r" dump $E1 0 5
    equal "$(branches)" "runs.r "
    checkpoint zip "$MNT/runs/r/step_7.pt" 1000 1
    equal "$(branches)" "r runs.r "
    equal "$(steps r)" "7 "
    equal "$(steps runs.r)" "0 5 "
    wl "$MNT" dump $E2 10
    equal "$(steps main)" "10 "
    checkpoint zip "$MNT/step_8.pt" 1000 1
    equal "$(branches)" "main r runs.r "
    equal "$(steps main)" "8 10 "
    leads "$B/main/latest" "$MNT/step_8.pt"
}

@test "checkpoints that lay there before there was a manifest count for the root then" {
    mkdir -p "$MNT/exp/checkpoints"
    checkpoint zip "$MNT/exp/checkpoints/step_3.pt" 1000 1
    equal "$(branches)" "main "
    wl "$MNT/exp" dump $E1 5
    equal "$(branches)" "exp "
    equal "$(steps exp)" "3 5 "
    mv "$MNT/exp/checkpoints" "$MNT/exp/old"
    equal "$(branches)" "main "
    equal "$(steps main)" "3 5 "
    mv "$MNT/exp/old" "$MNT/exp/checkpoints"
    equal "$(branches)" "exp "
    equal "$(steps exp)" "3 5 "
}

# lineage ARGUMENT...: the first characters of the hashes that log tells, the oldest first, each with those of its parent
lineage() {
    "$EXPFS" log --json "$@" 3>&- | python3 -c '
import json, sys
log = json.load(sys.stdin)["experiments"]
print(*sorted(e["hash"][:12] + "<" + (e["parent"] or "-")[:12] for e in log))'
}

@test "log, show, HEAD and pending tell of a root's branches" {
    wl "$MNT" dump $E1 0 5 10 + pending $E2
    equal "$(cat "$B/main/HEAD")" $E1
    equal "$(cat "$B/main/pending" | tr '\n' ' ')" "HP $E2 "
    wl "$MNT" flush + save $E2 15
    equal "$(cat "$B/main/HEAD")" $E2
    equal "$(cat "$B/main/pending")" ""
    wl "$MNT" load $E1 + dump $E4 5 + pending $E5
    equal "$(cat "$B/main.2/HEAD")" $E4
    equal "$(cat "$B/main.2/pending" | tr '\n' ' ')" "HP $E5 "
    equal "$(cat "$B/main/pending")" ""
    equal "$(lineage "$MNT")" "${E4:0:12}<${E1:0:12} ${E1:0:12}<- ${E2:0:12}<${E1:0:12}" lineage
    equal "$("$EXPFS" show $E4 --json --store "$STORE" | python3 -c 'import json, sys; d = json.load(sys.stdin); e = d["experiment"]; print(e["branches"], e["head_of"])')" \
        "['main.2'] ['main.2']"
    equal "$(xattr "$(weights "$MNT" $E4 5)" user.expfs.branch)" main.2
    refused 1 "$EXPFS" commit main.2 --store "$STORE"
    [[ $MESSAGE == *"main.2: is a branch of an experiment root"* ]]
}

@test "each experiment of a root has its view" {
    wl "$MNT/exp" dump $E1 0 5 10 + pending $E2 + flush + save $E2 15 + load $E1 + dump $E4 5
    equal "$(ls "$MNT/experiments" | tr '\n' ' ')" "$E4 $E1 $E2 "
    local h
    for h in $E1 $E2 $E4; do
        leads "$MNT/experiments/$h/HP/${h:0:8}_config.yaml" "$MNT/exp/checkpoints/HP/${h:0:8}/${h:0:8}_config.yaml"
        leads "$MNT/experiments/$h/DATA/${h:16}_data_snapshot.json" \
            "$MNT/exp/checkpoints/data/${h:16}/${h:16}_data_snapshot.json"
    done
    equal "$(ls -U "$MNT/experiments/$E1/step" | tr '\n' ' ')" "0 5 10 "
    leads "$MNT/experiments/$E1/latest" "$(weights "$MNT/exp" $E1 10)"
    leads "$MNT/experiments/$E4/step/7" "$(weights "$MNT/exp" $E4 5)"
}

@test "steps are numbers beyond six digits, and projection/ holds no weights" {
    wl "$MNT" dump $E1 999900 999999 1000000
    equal "$(steps main)" "999900 999999 1000000 "
    leads "$B/main/latest" "$(weights "$MNT" $E1 1000000)"
    leads "$B/main/step/1000000000" "$(weights "$MNT" $E1 1000000)"
    wl "$MNT" save $E1 5
    leads "$B/main/latest" "$(weights "$MNT" $E1 5)"
}

@test "hashes that YAML would take for numbers are hashes" {
    local n
    for n in 09999999 1e345678 12345e67 01234567 12345678; do
        wl "$MNT" dump $n$n$n 5
    done
    equal "$(branches)" "main "
    for n in 09999999 1e345678 12345e67 01234567 12345678; do
        equal "$(xattr "$(weights "$MNT" $n$n$n 5)" user.expfs.hash)" $n$n$n
    done
}

@test "a broken manifest or state file loses nothing" {
    wl "$MNT" dump $E1 0 5 + pending $E2 + flush + save $E2 10
    echo '{' >"$MNT/.checkpoint_manager_state.json"
    head -c 100 "$MNT/checkpoints/manifest.yaml" >"$SCRATCH/cut"
    cp "$SCRATCH/cut" "$MNT/checkpoints/manifest.yaml"
    equal "$(branches)" "main "
    equal "$(steps main)" "0 5 10 "
    : >"$MNT/checkpoints/manifest.yaml"
    rm "$MNT/.checkpoint_manager_state.json"
    wl "$MNT" dump $E3 15
    equal "$(branches)" "main "
    equal "$(steps main)" "0 5 10 15 "
}

@test "a deleted checkpoint of a branch makes its latest fall back" {
    wl "$MNT" dump $E1 0 5 10 + pending $E2 + flush + load $E1 + dump $E4 5
    rm "$(weights "$MNT" $E1 10)"
    leads "$B/main/latest" "$(weights "$MNT" $E1 5)"
    leads "$B/main.2/latest" "$(weights "$MNT" $E4 5)"
    rm "$(weights "$MNT" $E4 5)"
    not test -e "$B/main.2/latest"
    equal "$(branches)" "main main.2 "
}

@test "the run of a branch is not shown where it holds a checkpoints/" {
    wl "$MNT/exp" dump $E1 0
    equal "$(ls "$B/exp" | tr '\n' ' ')" "HEAD latest log manifest.yaml pending step "
    not test -e "$B/exp/run"
}

@test "a root that nobody else may look into is shown to its owner alone" {
    require_user
    umount_store
    mount_store -o allow_other
    wl "$MNT/exp" dump $E1 0
    equal "$(as_nobody ls "$B")" "exp"
    chmod 700 "$MNT/exp"
    leads "$B/exp/latest" "$(weights "$MNT/exp" $E1 0)"
    not as_nobody ls "$B/exp"
    mkdir "$MNT/closed"
    mv "$MNT/exp" "$MNT/closed"
    chmod 700 "$MNT/closed"
    equal "$(as_nobody ls "$B")" ""
    not as_nobody test -e "$B/closed.exp"
    equal "$(branches)" "closed.exp "
}

# --- several roots ---

# root_status DIR: what status says of the roots at and below DIR
root_status() {
    "$EXPFS" status "$1" --json 3>&- | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["given_root"], d["effective_root"], ",".join(d["roots"]), d["multi_root"])'
}

# updated ROOT LAST_UPDATED: its manifest says so
updated() { sed -i "s/^last_updated: .*/last_updated: '$2'/" "$1/checkpoints/manifest.yaml"; }

@test "of several roots the one whose manifest was updated last is effective" {
    local p=$MNT/p
    wl "$p/a/checkpoints/deep" dump $E5 25
    wl "$p/a" dump $E1 0
    wl "$p/x/b" dump $E2 5
    wl "$p/1/2/c" dump $E3 10
    wl "$p/1/2/3/d" dump $E4 15
    wl "$p/.h/e" dump $E5 20
    updated "$p/1/2/c" 2099-01-01T00:00:00
    equal "$(root_status "$p")" "/p /p/1/2/c /p/1/2/c,/p/a,/p/x/b True"
    leads "$p/.expfs/latest" "$(weights "$p/1/2/c" $E3 10)"
    updated "$p/a" 2100-01-01T00:00:00
    equal "$(root_status "$p")" "/p /p/a /p/1/2/c,/p/a,/p/x/b True"
    leads "$p/.expfs/latest" "$(weights "$p/a" $E1 0)"
    updated "$p/x/b" 2100-01-01T00:00:00
    equal "$(root_status "$p")" "/p /p/x/b /p/1/2/c,/p/a,/p/x/b True" "the greater of two paths"
    touch "$p/1/2/c/checkpoints/manifest.yaml"
    equal "$(root_status "$p")" "/p /p/x/b /p/1/2/c,/p/a,/p/x/b True" "mtimes count for nothing"
    equal "$(root_status "$p/1")" "/p/1 /p/1/2/c /p/1/2/3/d,/p/1/2/c True"
    equal "$(root_status "$p/x")" "/p/x /p/x/b /p/x/b False"
    equal "$(root_status "$p/.h/e")" "/p/.h/e /p/.h/e /p/.h/e False"
    equal "$(root_status "$p/a/checkpoints/models")" "/p/a/checkpoints/models /p/a/checkpoints/models  False"
    equal "$(root_status "$MNT")" "/ /p/x/b /p/a,/p/x/b True" "three levels below the top"
}

nothing_waits() {
    "$EXPFS" status "$MNT" --json 3>&- | python3 -c 'import json, sys; sys.exit(any(json.load(sys.stdin)["background"].values()))'
}

@test "status.json of a directory says what status says, to whom may look there" {
    require_user
    umount_store
    mount_store -o allow_other
    wl "$MNT/p/a" dump $E1 0
    wl "$MNT/p/b" dump $E2 0
    echo log >"$MNT/p/log"
    wait_until nothing_waits
    local dir
    for dir in "$MNT" "$MNT/p" "$MNT/p/a"; do
        diff <("$EXPFS" status "$dir" --json 3>&-) "$dir/.expfs/status.json"
        ls "$dir/.expfs" | grep -qx status.json
    done
    chmod 700 "$MNT/p/b"
    as_nobody cat "$MNT/p/.expfs/status.json" >"$SCRATCH/seen"
    grep -q '/p/a' "$SCRATCH/seen"
    not grep -q '/p/b' "$SCRATCH/seen"
    equal "$(as_nobody readlink -f "$MNT/p/.expfs/latest")" "$(weights "$MNT/p/a" $E1 0)" "his latest"
    leads "$MNT/p/.expfs/latest" "$(weights "$MNT/p/b" $E2 0)"
}

@test "an unreadable manifest is last, and one without last_updated has the time of its latest experiment" {
    local p=$MNT/p
    wl "$p/a" dump $E1 0
    wl "$p/b" dump $E2 0
    sed -i '/^last_updated/d; s/created: .*/created: 2101-01-01T00:00:00/; s/last_used: .*/last_used: null/' \
        "$p/a/checkpoints/manifest.yaml"
    equal "$(root_status "$p")" "/p /p/a /p/a,/p/b True"
    sed -i "s/last_used: .*/last_used: '2001-01-01T00:00:00'/" "$p/a/checkpoints/manifest.yaml"
    equal "$(root_status "$p")" "/p /p/b /p/a,/p/b True"
    echo '{' >"$p/b/checkpoints/manifest.yaml"
    equal "$(root_status "$p")" "/p /p/a /p/a,/p/b True"
    rm -r "$p/a"
    equal "$(root_status "$p")" "/p /p/b /p/b False"
    rm -r "$p/b"
    equal "$(root_status "$p")" "/p /p  False"
}

@test "of a directory that is a root the latest is its own" {
    wl "$MNT/p" dump $E1 0
    wl "$MNT/p/sub" dump $E2 5
    checkpoint zip "$MNT/p/step_1.pt" 1000 1
    equal "$(root_status "$MNT/p")" "/p /p/sub /p,/p/sub True"
    leads "$MNT/p/.expfs/latest" "$MNT/p/step_1.pt"
}

# --- damage ---

sql() { python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for statement in sys.argv[2:]: db.execute(statement)
db.commit()' "$STORE/expfs.db" "$@"; }

@test "what is derived of roots is made again where its tables are lost" {
    wl "$MNT/r" dump $E1 0 5 10 + pending $E2 + flush + save $E2 15 + load $E1 + dump $E4 5
    local before table
    before=$(branches; lineage "$MNT"; steps r; steps r.2)
    for table in line experiment event root succession; do
        umount_store
        sql "DROP TABLE $table"
        not "$EXPFS" fsck "$STORE"
        "$EXPFS" fsck --repair "$STORE"
        "$EXPFS" fsck "$STORE"
        mount_store
        equal "$(branches; lineage "$MNT"; steps r; steps r.2)" "$before" "without $table"
    done
    umount_store
    sql "DROP TABLE fork"
    "$EXPFS" fsck --repair "$STORE"
    "$EXPFS" fsck "$STORE"
    mount_store
    equal "$(branches; steps r)" "r 0 5 10 15 " "all are on the first branch"
}
