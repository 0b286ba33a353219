# config.yaml of the store: patterns of roles and of runs.

load lib

setup() {
    scratch
    store_init
}

teardown() {
    cleanup
}

role() { xattr "$1" user.expfs.role; }

@test "files that were there before a pattern of a role was added have the role after the next mount" {
    mount_store
    mkdir "$MNT/runs/r"
    echo weights >"$MNT/runs/r/step_7.mine"
    echo weights >"$MNT/runs/r/step_8.pt"
    [[ $(role "$MNT/runs/r/step_7.mine") == "" ]]
    [[ $(readlink "$MNT/branches/r/latest") == ../../runs/r/step_8.pt ]]
    umount_store
    printf 'roles:\n  WEIGHTS: ["*.mine"]\n  none: ["step_8.*"]\n' >"$STORE/config.yaml"
    mount_store
    [[ $(role "$MNT/runs/r/step_7.mine") == WEIGHTS ]]
    [[ $(role "$MNT/runs/r/step_8.pt") == "" ]]
    [[ $(readlink "$MNT/branches/r/latest") == ../../runs/r/step_7.mine ]]
    umount_store
    : >"$STORE/config.yaml"
    mount_store
    [[ $(readlink "$MNT/branches/r/latest") == ../../runs/r/step_8.pt ]]
}

@test "a directory that fits a pattern of runs is a branch named by its path" {
    printf 'runs: ["/exp/*/run*"]\n' >"$STORE/config.yaml"
    mount_store
    mkdir -p "$MNT/exp/a/run1" "$MNT/exp/a/other"
    echo x >"$MNT/exp/a/run1/step_1.pt"
    echo y >"$MNT/exp/a/other/step_2.pt"
    [[ $(readlink "$MNT/branches/exp.a.run1/latest") == ../../exp/a/run1/step_1.pt ]]
    [[ $(readlink "$MNT/branches/main/latest") == ../../exp/a/other/step_2.pt ]]
    [[ $(ls "$MNT/branches" | tr '\n' ' ') == "exp.a.run1 main " ]]
}

@test "status names the keys of config.yaml that are not known, and the one that may be meant" {
    printf 'rols:\n  WEIGHTS: ["*.mine"]\ncache: {}\nruns: ["/exp/*"]\n? [a]\n: b\n' >"$STORE/config.yaml"
    mount_store
    mkdir -p "$MNT/exp/a"
    echo x >"$MNT/exp/a/step_1.pt"
    [[ $(readlink "$MNT/branches/exp.a/latest") == ../../exp/a/step_1.pt ]]
    "$EXPFS" status "$MNT" >"$SCRATCH/status"
    grep -q 'config.yaml: line 1: rols: no key of this version; perhaps roles is meant' "$SCRATCH/status"
    grep -q 'config.yaml: line 3: cache: no key of this version$' "$SCRATCH/status"
    equal "$(grep -c config.yaml "$SCRATCH/status")" 3
    umount_store
    "$EXPFS" init "$SCRATCH/other"
    cp "$SCRATCH/other/config.yaml" "$STORE/config.yaml"
    mount_store
    not grep -q config.yaml <("$EXPFS" status "$MNT")
}

@test "a broken config.yaml leaves the defaults in force and status says so" {
    printf 'roles: [\n' >"$STORE/config.yaml"
    mount_store
    mkdir "$MNT/runs/r"
    echo x >"$MNT/runs/r/step_1.pt"
    [[ $(readlink "$MNT/branches/r/latest") == ../../runs/r/step_1.pt ]]
    "$EXPFS" status "$MNT" 2>&1 | grep -q config.yaml
}

# --- read again while the store is mounted ---

# hang_up TEXT: the daemon is told to read config.yaml again, and has logged TEXT when this returns
hang_up() {
    local before
    before=$(grep -c -- "$1" "$STORE/log" || true)
    kill -HUP "$(daemon_pid)"
    wait_until logged_since "$before" "$1"
}

logged_since() { (($(grep -c -- "$2" "$STORE/log") > $1)); }

@test "a SIGHUP has config.yaml read again, and new patterns count for files that are there and for those to come" {
    mount_store
    mkdir -p "$MNT/runs/r" "$MNT/exp/a"
    echo weights >"$MNT/runs/r/step_7.mine"
    echo weights >"$MNT/exp/a/step_1.pt"
    exec 8>"$MNT/runs/r/step_6.mine"
    echo open >&8
    [[ $(role "$MNT/runs/r/step_7.mine") == "" ]]
    printf 'runs: ["/exp/*"]\nroles:\n  WEIGHTS: ["*.mine"]\n' >"$STORE/config.yaml"
    hang_up "config.yaml: read again"
    [[ $(role "$MNT/runs/r/step_7.mine") == WEIGHTS ]]
    [[ $(readlink "$MNT/branches/r/latest") == ../../runs/r/step_7.mine ]]
    [[ $(readlink "$MNT/branches/exp.a/latest") == ../../exp/a/step_1.pt ]]
    exec 8>&-
    [[ $(readlink "$MNT/branches/r/latest") == ../../runs/r/step_6.mine ]]
    echo more >"$MNT/runs/r/step_9.mine"
    [[ $(readlink "$MNT/branches/r/latest") == ../../runs/r/step_9.mine ]]
    : >"$STORE/config.yaml"
    hang_up "config.yaml: read again"
    [[ $(role "$MNT/runs/r/step_9.mine") == "" ]]
    [[ ! -e $MNT/branches/exp.a && ! -L $MNT/branches/exp.a/latest ]]
}

@test "after a SIGHUP best goes by the metric, and hashes without the keys, that config.yaml names then" {
    mount_store
    mkdir "$MNT/runs/r"
    printf 'lr: 1\nnote: a\n' >"$MNT/runs/r/config.yaml"
    local n
    for n in 1 2; do
        echo "weights $n" >"$MNT/runs/r/step_$n.pt"
        "$EXPFS" signal "$MNT/runs/r" --step $n val_loss=0.$n acc=0.$n
    done
    [[ $(readlink "$MNT/branches/r/best") == ../../runs/r/step_1.pt ]]
    printf 'best: {metric: [acc, f1, f2], mode: max}\nhash: {ignore: [note]}\n' >"$STORE/config.yaml"
    hang_up "config.yaml: read again"
    [[ $(readlink "$MNT/branches/r/best") == ../../runs/r/step_2.pt ]]
    "$EXPFS" commit "$MNT/runs/r" >/dev/null
    local head
    head=$(cat "$MNT/branches/r/HEAD")
    printf 'lr: 1\nnote: b\n' >"$MNT/runs/r/config.yaml"
    equal "$("$EXPFS" commit "$MNT/runs/r" >/dev/null; cat "$MNT/branches/r/HEAD")" "$head" "the hash with another note"
}

@test "a config.yaml that is broken when it is read again leaves the last good one in force, and status says so" {
    printf 'roles:\n  WEIGHTS: ["*.mine"]\n' >"$STORE/config.yaml"
    mount_store
    mkdir "$MNT/runs/r"
    printf 'roles: [\n' >"$STORE/config.yaml"
    hang_up "config.yaml: .*; the configuration from before holds"
    echo weights >"$MNT/runs/r/step_7.mine"
    [[ $(role "$MNT/runs/r/step_7.mine") == WEIGHTS ]]
    "$EXPFS" status "$MNT" >"$SCRATCH/status"
    grep -q 'config.yaml: .*; the configuration from before holds' "$SCRATCH/status"
    printf 'roles:\n  WEIGHTS: ["*.mine"]\n' >"$STORE/config.yaml"
    hang_up "config.yaml: read again"
    not grep -q config.yaml <("$EXPFS" status "$MNT")
    rm "$STORE/config.yaml"
    hang_up "config.yaml: read again"
    [[ $(role "$MNT/runs/r/step_7.mine") == "" ]]
}

@test "config.yaml that is read again and again while files are written and views read leaves all as the last one says" {
    mount_store
    mkdir "$MNT/runs/r"
    local pid i
    pid=$(daemon_pid)
    background bash -c 'for ((i = 0; ; i++)); do echo $i >"$0/step_$i.mine"; readlink "$0/.expfs/best" "$0/.expfs/latest"; done >/dev/null 2>&1' "$MNT/runs/r"
    for ((i = 0; i < 30; i++)); do
        printf 'roles:\n  %s: ["*.mine"]\nbest: {metric: [a%d, b]}\nhash: {ignore: [k%d]}\n' $((i % 2)) $i $i |
            sed 's/ 0:/ WEIGHTS:/; s/ 1:/ none:/' >"$STORE/config.yaml"
        kill -HUP "$pid"
        sleep 0.02
    done
    kill -KILL "$BG"
    wait "$BG" || true
    printf 'roles:\n  WEIGHTS: ["*.mine"]\n' >"$STORE/config.yaml"
    hang_up "config.yaml: read again"
    [[ $(role "$MNT/runs/r/step_0.mine") == WEIGHTS ]]
    echo last >"$MNT/runs/r/step_0.mine"
    [[ $(readlink "$MNT/branches/r/latest") == ../../runs/r/step_0.mine ]]
}

@test "a config.yaml that is no regular file is told, and not waited for" {
    rm -f "$STORE/config.yaml"
    mkfifo "$STORE/config.yaml"
    refused 0 timeout 20 "$EXPFS" mount "$STORE" "$MNT"
    [[ $MESSAGE == *"config.yaml: is no regular file; put one there; the defaults are used"* ]] || fail "$MESSAGE"
    "$EXPFS" umount "$MNT"
    rm "$STORE/config.yaml"
}
