# Files of an experiment that are being written: what counts is what was closed last.

load lib

setup() {
    scratch
    store_init
    mount_store
    R=$MNT/runs/r
    B=$MNT/branches/r
    mkdir -p "$R/data"
    config 0.1
    echo a >"$R/data/a"
    save 1
    FIRST=$(cat "$B/HEAD")
}
teardown() { cleanup; }

config() { echo "lr: $1" >"$R/config.yaml"; }

save() { checkpoint safetensors "$R/step_$1.safetensors" 20000 "$1"; }

hash_of() { xattr "$R/step_$1.safetensors" user.expfs.hash; }

# open_for MODE PATH [TEXT]: a process has the path open so, has written the text, and does so until go
open_for() {
    background python3 -c '
import os, sys, time
mode, path, text, said, go = sys.argv[1:]
f = open(path, mode, buffering=0)
f.write(text.encode())
open(said, "w").close()
while not os.path.exists(go): time.sleep(0.01)' "$1" "$2" "${3:-}" "$SCRATCH/said" "$SCRATCH/go"
    wait_until test -e "$SCRATCH/said"
}

go() {
    touch "$SCRATCH/go"
    wait "$BG" || true
    rm "$SCRATCH/go" "$SCRATCH/said"
}

@test "while a configuration is written over, the one before counts" {
    open_for wb "$R/config.yaml"
    equal "$(cat "$B/pending")" ""
    save 2
    equal "$(hash_of 2)" "$FIRST"
    go
    [[ $(head -n 1 "$B/pending") == HP ]]
    open_for r+b "$R/config.yaml" "lr: 0.3"
    save 3
    equal "$(hash_of 3 | cut -c -8)" "$(printf '{"auditor_mode": false}' | sha256sum | cut -c -8)" "an empty one was closed"
    go
    equal "$(cat "$MNT/experiments/$FIRST/HP/config.yaml")" "lr: 0.1"
}

@test "while a data file is written over, what it held counts" {
    open_for wb "$R/data/a" b
    equal "$(cat "$B/pending")" ""
    save 2
    equal "$(hash_of 2)" "$FIRST"
    go
    equal "$(head -n 1 "$B/pending")" DATA
}

# killed_in_edit: the daemon is killed while the configuration is written over
killed_in_edit() {
    open_for wb "$R/config.yaml" "lr: 0.9"
    kill_daemon
    go
    fusermount3 -uz "$MNT"
    mount_store
    equal "$(cat "$R/config.yaml")" "lr: 0.9"
}

@test "a configuration that is taken away while it is written over counts no more, and counts in what it made" {
    open_for wb "$R/config.yaml" "lr: 0.2"
    rm "$R/config.yaml"
    go
    equal "$(cat "$B/pending" | tr '\n' ' ')" "HP 00000000${FIRST:8} "
    save 2
    equal "$(hash_of 2)" "00000000${FIRST:8}"
    equal "$(cat "$MNT/experiments/$FIRST/HP/config.yaml")" "lr: 0.1"
}

@test "with the daemon killed in an edit what was closed last counts, until there is another or none" {
    killed_in_edit
    equal "$(cat "$B/pending")" ""
    save 2
    equal "$(hash_of 2)" "$FIRST"
    config 0.9
    equal "$(head -n 1 "$B/pending")" HP
    killed_in_edit
    rm "$R/config.yaml"
    equal "$(tail -n 1 "$B/pending")" "00000000${FIRST:8}"
}

@test "what counted when a checkpoint was begun is kept, though the daemon had been killed in an edit of it" {
    config 0.2
    killed_in_edit
    save 2
    config 0.3
    save 3
    run "$EXPFS" forget "$R/config.yaml@2" 3>&-
    equal $status 1
    [[ $output == *"version 2 is needed: an experiment of its run consists of it" ]]
    equal "$(cat "$MNT/experiments/$(hash_of 2)/HP/config.yaml")" "lr: 0.2"
}
