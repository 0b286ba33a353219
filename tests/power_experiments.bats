# The power fails: experiments agree with the files that are there afterwards.

load power

setup() {
    set_up
    R=$MNT/runs/r
    mkdir "$R"
    config 0.1
    sync "$R" "$D"
}

config() { echo "lr: $1" >"$R/config.yaml"; }

# hp LR: the HP segment of that configuration
hp() { printf '{"auditor_mode": false, "lr": %s}' "$1" | sha256sum | cut -c -8; }

save() { checkpoint safetensors "$R/step_$1.safetensors" 20000 "$1"; }

# The worst moment.
names_cut() {
    sync_names
    power_cut
}

experiment_of() { xattr "$R/step_$1.safetensors" user.expfs.hash | cut -c -8; }

@test "a checkpoint saved under an edit that the disk lost belongs to the configuration that is there" {
    save 1
    config 0.2
    save 2
    sync "$R/step_1.safetensors" "$R/step_2.safetensors"
    names_cut
    equal "$(cat "$R/config.yaml")" "lr: 0.1"
    equal "$(experiment_of 1)/$(experiment_of 2)" "$(hp 0.1)/$(hp 0.1)"
    equal "$(cat "$MNT/branches/r/pending")" ""
    equal "$(ls "$MNT/.expfs/history/runs/r/config.yaml")" 1.yaml
}

@test "of several edits that the disk lost none stays between those that are there" {
    local i
    for i in 0.2 0.3; do
        config $i
        save ${i#0.}
        sync "$R/step_${i#0.}.safetensors"
    done
    echo 'lr: 0.4' >"$R/x.tmp"
    mv "$R/x.tmp" "$R/config.yaml"
    save 4
    sync "$R/step_4.safetensors"
    names_cut
    for i in 2 3 4; do
        equal "$(experiment_of $i)" "$(hp 0.1)" "step $i"
    done
}

@test "what was selected is the best after the power failed, and whole" {
    save 1
    cp "$R/step_1.safetensors" "$SCRATCH/selected"
    "$EXPFS" select "$R/step_1.safetensors" >/dev/null
    checkpoint safetensors "$R/step_1.safetensors" 20000 2
    save 3
    names_cut
    cmp "$MNT/branches/r/best" "$SCRATCH/selected"
    refused 1 "$EXPFS" forget "$R/step_1.safetensors@1"
    [[ $MESSAGE == *" r:best"* ]] || fail "$MESSAGE"
}

@test "a configuration that made an experiment is not lost" {
    config 0.2
    mkdir "$R/data"
    echo a >"$R/data/a"
    save 2
    local hash
    hash=$(cat "$MNT/branches/r/HEAD")
    config 0.3
    names_cut
    equal "$(cat "$MNT/branches/r/HEAD")" "$hash"
    equal "$(cat "$MNT/experiments/$hash/HP/config.yaml")" "lr: 0.2"
    equal "$(cat "$MNT/experiments/$hash/DATA/data/a")" a
    equal "$(cat "$R/config.yaml")" "lr: 0.2"
}
