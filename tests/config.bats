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
