# experiments/<hash>/, models/, HP/ and data/: what they say of experiments, to whom, and where their links lead.

load experiment_views

# --- experiments/, models/, HP/, data/ ---

@test "experiments/<hash>/ leads to the files that made it: where they are, else into history" {
    mkdir -p "$R/data/sub"
    echo one >"$R/data/sub/a"
    echo two >"$R/data/b"
    two_experiments
    equal "$(ls "$MNT/experiments" | tr '\n' ' ')" "$(printf '%s\n' "$A" "$B_" | sort | tr '\n' ' ')"
    equal "$(ls "$MNT/experiments/$A" | tr '\n' ' ')" "DATA HP MODEL latest step "
    equal "$(readlink "$MNT/experiments/$B_/HP/config.yaml")" ../../../runs/r/config.yaml
    equal "$(readlink "$MNT/experiments/$A/HP/config.yaml")" ../../../.expfs/history/runs/r/config.yaml/1.yaml
    grep -qx "lr: 0.1" "$MNT/experiments/$A/HP/config.yaml"
    grep -qx "lr: 0.01" "$MNT/experiments/$B_/HP/config.yaml"
    equal "$(cat "$MNT/experiments/$A/DATA/data/sub/a")" one
    equal "$(cd "$MNT/experiments/$A/DATA" && find . | sort | tr '\n' ' ')" ". ./data ./data/b ./data/sub ./data/sub/a "
    all_resolve "$MNT/experiments" "$MNT/HP" "$MNT/data" "$MNT/models"
    config "lr: 0.1" "batch: 8"
    equal "$(readlink "$MNT/experiments/$A/HP/config.yaml")" ../../../runs/r/config.yaml "the path holds it again"
    rm -r "$R/data"
    equal "$(cat "$MNT/experiments/$A/DATA/data/sub/a")" one
    equal "$(cat "$MNT/experiments/$B_/DATA/data/b")" two
    all_resolve "$MNT/experiments" "$MNT/HP" "$MNT/data"
}

@test "latest and step/ of an experiment have its checkpoints alone, also where another one overwrote them" {
    two_experiments
    cp "$R/step_100.safetensors" "$SCRATCH/a100"
    equal "$(readlink -f "$MNT/experiments/$A/latest")" "$R/step_100.safetensors"
    equal "$(readlink -f "$MNT/experiments/$B_/latest")" "$R/step_200.safetensors"
    equal "$(ls "$MNT/experiments/$A/step")" 100
    equal "$(readlink "$MNT/experiments/$B_/step/3")" "../../../runs/r/step_200.safetensors"
    save "$R/step_100.safetensors" 9
    equal "$(head_of r)" "$B_"
    equal "$(ls "$MNT/experiments/$B_/step" | tr '\n' ' ')" "100 200 "
    equal "$(readlink "$MNT/experiments/$A/latest")" ../../.expfs/history/runs/r/step_100.safetensors/1.safetensors
    cmp "$MNT/experiments/$A/step/100" "$SCRATCH/a100"
    cmp "$MNT/experiments/$B_/step/100" "$R/step_100.safetensors"
    all_resolve "$MNT/experiments" "$MNT/models"
}

@test "HP/<hp8> and data/<data8> have the files of the segment and its experiments" {
    mkdir "$R/data"
    echo one >"$R/data/a"
    two_experiments
    local hp=${A:0:8} data=${A:16:8}
    equal "$(cat "$MNT/HP/$hp/config.yaml")" $'lr: 0.1\nbatch: 8'
    equal "$(ls "$MNT/HP/$hp" | tr '\n' ' ')" "config.yaml experiments "
    equal "$(ls "$MNT/HP/$hp/experiments")" "$A"
    [[ $MNT/HP/$hp/experiments/$A -ef $MNT/experiments/$A ]]
    equal "$(ls "$MNT/data/$data/experiments" | wc -l)" 2
    equal "$(cat "$MNT/data/$data/data/a")" one
    equal "$(cat "$MNT/data/$data/experiments/$B_/HP/config.yaml")" $'lr: 0.01\nbatch: 8'
    not test -e "$MNT/HP/00000000"
    not test -e "$MNT/HP/$hp/experiments/$B_"
    not test -e "$MNT/HP/${hp^^}"
}

@test "models/<model8> has the checkpoints of all experiments with that model" {
    two_experiments
    local model=${A:8:8}
    equal "${B_:8:8}" "$model" "the model of both"
    equal "$(ls "$MNT/models")" "$model"
    equal "$(ls "$MNT/models/$model" | tr '\n' ' ')" "latest step "
    equal "$(ls "$MNT/models/$model/step" | tr '\n' ' ')" "100 200 "
    equal "$(readlink -f "$MNT/models/$model/latest")" "$R/step_200.safetensors"
    save "$R/step_300.safetensors" 3 40000
    equal "$(ls "$MNT/models" | wc -l)" 2
    equal "$(readlink -f "$MNT/models/$model/latest")" "$R/step_200.safetensors"
}

@test "an architecture is in MODEL/" {
    echo '{"layers": 2}' >"$R/architecture.json"
    config "lr: 0.1"
    save "$R/step_1.safetensors" 1
    equal "$(cat "$MNT/experiments/$(head_of r)/MODEL/architecture.json")" '{"layers": 2}'
}

@test "files that do not count by checkpoint_manager: are none of the experiment" {
    config "checkpoint_manager: {dump_config_state: false}"
    mkdir "$R/data"
    echo x >"$R/data/x"
    save "$R/step_1.safetensors" 1
    local hash
    hash=$(head_of r)
    equal "${hash:0:8}" 00000000
    equal "$(ls "$MNT/experiments/$hash/HP")" ""
    not test -e "$MNT/experiments/$hash/HP/config.yaml"
    equal "$(ls "$MNT/HP")" ""
    equal "$(cat "$MNT/experiments/$hash/DATA/data/x")" x
}

@test "a view is right at once after each change" {
    config "lr: 0"
    save "$R/step_0.safetensors" 0
    local i hash
    for i in $(seq 1 20); do
        config "lr: $i"
        hash=$(tail -n 1 "$B/pending")
        not test -e "$MNT/experiments/$hash"
        save "$R/step_$i.safetensors" "$i"
        equal "$(readlink -f "$MNT/experiments/$hash/latest")" "$R/step_$i.safetensors"
        equal "$(cat "$MNT/HP/${hash:0:8}/config.yaml")" "lr: $i"
        equal "$(head_of r)" "$hash"
    done
    equal "$(ls "$MNT/experiments" | wc -l)" 21
}

@test "a removed run is named by none of its files, which are in history" {
    two_experiments
    rm -r "$R"
    grep -qx "lr: 0.1" "$MNT/experiments/$A/HP/config.yaml"
    grep -qx "lr: 0.01" "$MNT/experiments/$B_/HP/config.yaml"
    all_resolve "$MNT/experiments" "$MNT/HP"
}

@test "a renamed run's experiments lead to its new place" {
    two_experiments
    mv "$R" "$MNT/runs/renamed"
    equal "$(readlink "$MNT/experiments/$B_/HP/config.yaml")" ../../../runs/renamed/config.yaml
    equal "$(readlink -f "$MNT/experiments/$B_/latest")" "$MNT/runs/renamed/step_200.safetensors"
    grep -qx "lr: 0.1" "$MNT/experiments/$A/HP/config.yaml"
    all_resolve "$MNT/experiments" "$MNT/HP" "$MNT/models"
}

@test "no view has a name checkpoints, though files of a segment lie below one" {
    umount_store
    printf 'roles:\n  DATA: ["*.rows"]\n' >"$STORE/config.yaml"
    mount_store
    mkdir -p "$R/in/checkpoints/deep"
    echo x >"$R/in/checkpoints/deep/x.rows"
    echo y >"$R/in/y.rows"
    echo z >"$R/in/checkpoints.rows"
    two_experiments
    equal "$(cat "$MNT/experiments/$A/DATA/x.rows")" x
    equal "$(cat "$MNT/experiments/$A/DATA/in/y.rows")" y
    equal "$(ls "$MNT/experiments/$A/DATA" | tr '\n' ' ')" "in x.rows "
    equal "$(find "$MNT"/{experiments,HP,data,models,branches} -name checkpoints)" ""
    not test -e "$MNT/experiments/$A/DATA/in/checkpoints"
    all_resolve "$MNT/experiments" "$MNT/data"
}

# --- beside what users make ---

@test "what a program makes in experiments/ and HP/ stands in front of a view of that name" {
    config "lr: 0.1"
    mkdir "$MNT/HP/mine"
    echo own >"$MNT/HP/mine/f"
    save "$R/step_1.safetensors" 1
    local hash hp
    hash=$(head_of r)
    hp=${hash:0:8}
    equal "$(ls "$MNT/HP" | sort | tr '\n' ' ')" "$(printf '%s\n' "$hp" mine | sort | tr '\n' ' ')"
    equal "$(errno_of mkdir "$MNT/experiments/$hash")" "File exists"
    mv -T "$MNT/HP/mine" "$MNT/HP/$hp"
    equal "$(cat "$MNT/HP/$hp/f")" own
    equal "$(ls "$MNT/HP")" "$hp"
    rm -r "$MNT/HP/$hp"
    equal "$(cat "$MNT/HP/$hp/config.yaml")" "lr: 0.1"
}

@test "views of experiments answer EROFS to every change" {
    two_experiments
    local c e=$MNT/experiments/$A
    for c in "touch $e/new" "mkdir $e/HP/new" "rm $e/HP/config.yaml" "rmdir $e" "rm $e/latest" "mv $e $MNT/experiments/x" \
        "ln -s x $MNT/HP/${A:0:8}/new" "rmdir $MNT/models/${A:8:8}" "chmod 777 $e" "mkdir $e/step/x" "rm $B/HEAD" "rm $MNT/.expfs/log"; do
        # shellcheck disable=SC2086 # a command and its words
        equal "$(errno_of $c)" "Read-only file system" "$c"
    done
    all_resolve "$MNT/experiments" "$MNT/HP"
}

@test "ls, find, du, tar and rsync over all views end without an error" {
    require_command rsync
    mkdir -p "$R/data/a/b"
    echo x >"$R/data/a/b/c"
    two_experiments
    save "$R/step_100.safetensors" 9
    timeout 300 ls -lR "$MNT" >/dev/null
    timeout 300 find "$MNT" -ls >/dev/null
    timeout 300 du -a "$MNT" >/dev/null
    timeout 300 tar -C "$MNT" -cf "$SCRATCH/tar" .
    timeout 300 find -L "$MNT/experiments" "$MNT/HP" "$MNT/data" "$MNT/models" -type f -exec cat {} + >/dev/null
    timeout 300 rsync -a "$MNT/" "$SCRATCH/links/"
    timeout 300 rsync -aL "$MNT/experiments" "$SCRATCH/files/"
    cmp "$SCRATCH/files/experiments/$A/HP/config.yaml" "$MNT/experiments/$A/HP/config.yaml"
    timeout 300 rsync -aLn --itemize-changes "$MNT/experiments" "$SCRATCH/files/" >"$SCRATCH/again"
    equal "$(cat "$SCRATCH/again")" "" "what a second rsync copies"
}

@test "views of experiments are the same after a remount, and when the daemon was killed" {
    mkdir "$R/data"
    echo x >"$R/data/x"
    two_experiments
    save "$R/step_100.safetensors" 9
    tree() { find "$MNT"/{branches,experiments,HP,data,models} \( -type l -printf '%p -> %l\n' -o -printf '%p\n' \) | sort; }
    tree >"$SCRATCH/before"
    remount
    tree | diff "$SCRATCH/before" -
    kill_daemon
    fusermount3 -uz "$MNT"
    mount_store
    tree | diff "$SCRATCH/before" -
}

# --- to whom ---

@test "a user is told of no experiment of a run into which he may not look" {
    require_user
    remount -o allow_other
    chmod 755 "$R"
    config "lr: 0.1"
    save "$R/step_1.safetensors" 1
    mkdir "$MNT/runs/hidden"
    echo "secret: 5" >"$MNT/runs/hidden/config.yaml"
    save "$MNT/runs/hidden/step_1.safetensors" 2
    local mine his
    mine=$(head_of r)
    his=$(head_of hidden)
    chmod 700 "$MNT/runs/hidden"
    equal "$(ls "$MNT/experiments" | wc -l)" 2
    equal "$(as_nobody ls "$MNT/experiments")" "$mine"
    equal "$(as_nobody ls "$MNT/HP")" "${mine:0:8}"
    as_nobody cat "$MNT/experiments/$mine/HP/config.yaml" | grep -qx "lr: 0.1"
    not as_nobody test -e "$MNT/experiments/$his"
    not as_nobody test -e "$MNT/HP/${his:0:8}"
    equal "$(as_nobody find -L "$MNT"/{experiments,HP,data,models} 2>&1 | grep -c "hidden\|$his\|denied" || true)" 0
    equal "$(as_nobody grep -c "hidden\|$his\|secret" "$MNT/.expfs/log" "$MNT/.expfs/lineage.json" | cut -d: -f2 | tr '\n' ' ')" "0 0 "
    not as_nobody cat "$MNT/branches/hidden/HEAD"
    not as_nobody cat "$MNT/branches/hidden/log"
    equal "$(as_nobody cat "$MNT/branches/r/HEAD")" "$mine"
    grep -q hidden "$MNT/.expfs/log"
}

@test "of an experiment of two runs a user is told what lies in the one into which he may look" {
    require_user
    remount -o allow_other
    chmod 755 "$R"
    mkdir "$MNT/runs/a" "$MNT/runs/z"
    local run n=10
    for run in a r z; do
        echo "lr: 0.1" >"$MNT/runs/$run/config.yaml"
        save "$MNT/runs/$run/step_$n.safetensors" 5
        n=$((n + 10))
    done
    local hash
    hash=$(head_of r)
    equal "$(head_of a) $(head_of z)" "$hash $hash"
    equal "$(ls "$MNT/experiments/$hash/step" | tr '\n' ' ')" "10 20 30 "
    chmod 700 "$MNT/runs/a" "$MNT/runs/z"
    equal "$(as_nobody readlink "$MNT/experiments/$hash/HP/config.yaml")" ../../../runs/r/config.yaml
    equal "$(as_nobody readlink "$MNT/experiments/$hash/latest")" "../../runs/r/$(ls "$R" | grep step)"
    equal "$(as_nobody readlink "$MNT/models/${hash:8:8}/step/0")" "../../../runs/r/$(ls "$R" | grep step)"
    equal "$(as_nobody ls "$MNT/experiments/$hash/step" | wc -l)" 1
    equal "$(as_nobody grep -cE "runs/[az]|of a|, z" "$MNT/.expfs/log" || true)" 0
}

@test "a user is told no values of a configuration that he may not read" {
    require_user
    remount -o allow_other
    two_experiments
    as_nobody grep -q "lr: 0.1 -> 0.01" "$B/log"
    chmod 600 "$R/config.yaml"
    grep -q "lr: 0.1 -> 0.01" "$B/log"
    equal "$(as_nobody grep -c "lr:" "$B/log" || true)" 0
    as_nobody grep -qx "changed    HP" "$B/log"
    not as_nobody cat "$MNT/experiments/$A/HP/config.yaml"
}
