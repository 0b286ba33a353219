# expfs verify: which weights a checkpoint holds, against an independent record.

load lib
load weights

setup() { mount_run; }

teardown() { cleanup; }

# save PATH WEIGHTS [METADATA]: safetensors, or .npz; in the run, unless the path is absolute
save() { python3 "$EXPFS_SRCDIR/tests/inner_step.py" "$([[ $1 == /* ]] || echo "$R/")$1" "${3:-dict()}" "$2"; }

@test "one that was saved at once is accepted, and one that was saved late is not, with what to bring back" {
    save step_7.safetensors state7
    save step_9.safetensors state9
    save best_step_7.npz state7
    save late_step_7.safetensors state9
    equal "$(verdict 0 "$R/best_step_7.npz")" ACCEPT
    equal "$(verdict 10 "$R/late_step_7.safetensors")" RECOVER
    equal "$(cat "$SCRATCH/out")" "RECOVER    /runs/r/late_step_7.safetensors
against    /runs/r/step_7.safetensors@1, step 7
tensors    1 content
holds      /runs/r/step_9.safetensors@1, step 9
recover    /runs/r/step_7.safetensors@1, step 7
control    /runs/r/step_9.safetensors@1, step 9
           1 tensor
command    rm $R/late_step_7.safetensors && expfs restore $R/step_7.safetensors@1 $R/late_step_7.safetensors
           what the path holds now stays in its history"
    equal "$(field 'a["reference"]["path"], a["different"]' "$R/late_step_7.safetensors")" \
        "('/runs/r/step_7.safetensors', [{'name': 'w', 'difference': 'content'}])"
    remount
    equal "$(verdict 10 "$R/late_step_7.safetensors")" RECOVER
    umount_store
    equal "$(verdict 10 --store "$STORE" runs/r/late_step_7.safetensors)" RECOVER
}

@test "a version of the path is brought back with what RECOVER names, and is accepted then" {
    save step_7.safetensors state7
    save best_step_7.safetensors state7
    save best_step_7.safetensors state9
    save step_9.safetensors state9
    equal "$(verdict 10 "$R/best_step_7.safetensors")" RECOVER
    local from
    from=$(field 'a["instead"]["path"].replace("/runs/r/", "'"$R"'/") + "@" + str(a["instead"]["version"])' "$R/best_step_7.safetensors")
    rm "$R/best_step_7.safetensors"
    "$EXPFS" restore "$from" "$R/best_step_7.safetensors" >/dev/null
    equal "$(verdict 0 "$R/best_step_7.safetensors")" ACCEPT
}

# recovery: the command that the last verdict told
recovery() { sed -n 's/^command    //p' "$SCRATCH/out"; }
recover() { PATH=$(dirname "$EXPFS"):$PATH sh -c "$(recovery)" >/dev/null 3>&-; }

@test "the command that RECOVER tells brings the state back, whatever is in the names, and what was there stays in history" {
    R="$MNT/runs/r/it's a run"
    mkdir "$R"
    save "step_7.safetensors" state7
    save "late_step_7.safetensors" state9
    equal "$(verdict 10 "$R/late_step_7.safetensors")" RECOVER
    recover
    equal "$(verdict 0 "$R/late_step_7.safetensors")" ACCEPT
    equal "$(verdict 10 "$R/late_step_7.safetensors@1")" RECOVER # which the path does not hold any more
    [[ $(recovery) == "expfs restore '$MNT/runs/r/it'\\''s a run/step_7.safetensors@1' PLACE" ]] || fail "$(recovery)"
    save "step_7.safetensors" state9 # over itself
    equal "$(verdict 10 "$R/step_7.safetensors")" RECOVER
    recover
    equal "$(verdict 0 "$R/step_7.safetensors" --against "$R/late_step_7.safetensors")" ACCEPT
    save "gone_step_7.safetensors" state9
    rm -r "$R"
    equal "$(verdict 10 "$R/gone_step_7.safetensors@1")" RECOVER
    recover
    equal "$(verdict 0 "$R/gone_step_7.safetensors" --against "$R/step_7.safetensors@1")" ACCEPT
    umount_store
    equal "$(verdict 10 --store "$STORE" "${R#"$MNT/"}/late_step_7.safetensors@1")" RECOVER
    equal "$(recovery)" "" # restore is for mounts
}

@test "the command that RECOVER tells replaces a directory, too" {
    local n
    for n in 7 8; do
        mkdir "$R/checkpoint-$n"
        save "checkpoint-$n/model.safetensors" "state$n"
        echo '{"log_history": []}' >"$R/checkpoint-$n/trainer_state.json"
        wait_until whole "$R/checkpoint-$n"
    done
    equal "$(verdict 10 "$R/checkpoint-8" --against "$R/checkpoint-7")" RECOVER
    recover
    equal "$(verdict 0 "$R/checkpoint-8" --against "$R/checkpoint-7")" ACCEPT
    "$EXPFS" history "$R/checkpoint-8" --json 3>&- | grep -q '"n": 2'
}
whole() { [[ $(xattr "$1" user.expfs.complete) == 1 ]]; }

@test "nothing is verified against itself, or a link to it" {
    save step_7.safetensors state7
    ln "$R/step_7.safetensors" "$R/hard_step_7.safetensors"
    ln -s step_7.safetensors "$R/link"
    local against
    for against in step_7.safetensors hard_step_7.safetensors link; do
        refused 2 "$EXPFS" verify "$R/step_7.safetensors" --against "$R/$against"
        [[ $MESSAGE == *"is not verified against itself"* ]] || fail "$MESSAGE"
    done
    equal "$(verdict 13 "$R/step_7.safetensors")" HOLD
    equal "$(verdict 13 "$R/hard_step_7.safetensors")" HOLD # the first under its label is itself
    equal "$(field 'a["why"], a["control_differs"]' "$R/step_7.safetensors")" \
        "('it is itself the record of step 7, as the first that was committed under it; to hold it against another, give --against', 0)"
    cp "$R/step_7.safetensors" "$R/copy_step_7.safetensors" # equal bytes in another file are another record
    equal "$(verdict 0 "$R/copy_step_7.safetensors")" ACCEPT
}

@test "what a checkpoint without another of its label is held for says whether it has one, or is the record itself" {
    save best.safetensors state7
    equal "$(verdict 13 "$R/best.safetensors")" HOLD
    equal "$(field 'a["why"]' "$R/best.safetensors")" "no step or epoch is in its name, or in it, to hold it against; give --against"
    save step_7.safetensors state7
    save copy_step_7.safetensors state7
    equal "$(field 'a["why"].split(",")[0], [h["path"] for h in a["holds"] if h["step"] == 7]' "$R/step_7.safetensors")" \
        "('it is itself the record of step 7', ['/runs/r/copy_step_7.safetensors'])"
}

@test "a file outside of the mount, a version and a step of an experiment are references" {
    echo 'lr: 0.1' >"$R/config.yaml"
    save step_7.safetensors state7
    save step_9.safetensors state9
    save best.safetensors state7
    save best.safetensors state9
    save "$SCRATCH/seven.safetensors" state7
    save "$SCRATCH/eight.safetensors" state8
    equal "$(verdict 10 "$R/best.safetensors" --against "$SCRATCH/seven.safetensors")" RECOVER
    equal "$(field 'a["instead"]["path"], a["reference"]' "$R/best.safetensors" --against "$SCRATCH/seven.safetensors")" \
        "('/runs/r/step_7.safetensors', {'file': '$SCRATCH/seven.safetensors'})"
    equal "$(verdict 13 "$R/best.safetensors" --against "$SCRATCH/eight.safetensors")" HOLD
    equal "$(verdict 0 "$R/step_7.safetensors" --against "$SCRATCH/seven.safetensors")" ACCEPT
    equal "$(verdict 0 "$R/step_7.safetensors" --against "$R/best.safetensors@1")" ACCEPT
    local hash
    hash=$(cat "$MNT/branches/r/HEAD")
    equal "$(verdict 0 "$R/best.safetensors" --against "$hash@9")" ACCEPT
    equal "$(verdict 10 "$R/best.safetensors" --against "${hash:0:8}@7")" RECOVER
    refused 1 "$EXPFS" verify "$R/best.safetensors" --against "$hash@8"
    refused 3 "$EXPFS" verify "$R/best.safetensors" --against "$SCRATCH"
    refused 1 "$EXPFS" verify "$R/config.yaml"
    refused 1 "$EXPFS" verify "$R/nothing.pt"
}

@test "where no version has the state, it is saved again if the run has not gone past it" {
    save step_7.safetensors state7
    save late_step_7.safetensors state8
    save "$SCRATCH/six.safetensors" state6
    equal "$(verdict 11 "$R/late_step_7.safetensors" --against "$SCRATCH/six.safetensors")" RECAPTURE
    save step_9.safetensors state9
    equal "$(verdict 13 "$R/late_step_7.safetensors" --against "$SCRATCH/six.safetensors")" HOLD
}

@test "when every good version was let go, it is held, or run again from a checkpoint that has all for it" {
    echo 'lr: 0.1' >"$R/config.yaml"
    mkdir "$R/checkpoint-5"
    save checkpoint-5/model.safetensors state5
    save checkpoint-5/optimizer.safetensors opt
    echo '{"global_step": 5, "log_history": []}' >"$R/checkpoint-5/trainer_state.json"
    wait_until test -e "$R/.expfs/step/5"
    save step_7.safetensors state7
    save late_step_7.safetensors state9
    save step_9.safetensors state9
    equal "$(verdict 10 "$R/late_step_7.safetensors")" RECOVER
    rm "$R/step_7.safetensors"
    equal "$(verdict 10 "$R/late_step_7.safetensors")" RECOVER
    "$EXPFS" forget "$R/step_7.safetensors" >/dev/null
    equal "$(verdict 13 "$R/late_step_7.safetensors")" HOLD
    equal "$(field 'a["holds"][0]["path"]' "$R/late_step_7.safetensors")" /runs/r/step_9.safetensors
}

@test "what cannot be read is held, with the reason" {
    save step_7.safetensors state7
    echo no tensors >"$R/best_step_7.pth"
    equal "$(verdict 13 "$R/best_step_7.pth")" HOLD
    equal "$(field 'a["why"]' "$R/best_step_7.pth")" "the checkpoint cannot be read: no file of tensors that can be read here"
    equal "$(verdict 13 "$R/step_7.safetensors" --against "$R/best_step_7.pth")" HOLD
    head -c 100 "$R/step_7.safetensors" >"$R/torn_step_7.safetensors"
    equal "$(verdict 13 "$R/torn_step_7.safetensors")" HOLD
    mkfifo "$SCRATCH/fifo"
    refused 3 timeout 300 "$EXPFS" verify "$R/step_7.safetensors" --against "$SCRATCH/fifo"
}

@test "names behind a prefix are the same, other types and shapes are not" {
    python3 - "$R" <<'P'
import json, struct, sys
def save(name, tensors):
    header, data = {}, b""
    for key, (dtype, shape, content) in tensors.items():
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    header = json.dumps(header).encode()
    open("%s/%s" % (sys.argv[1], name), "wb").write(struct.pack("<Q", len(header)) + header + data)
a, b = b"abcdefgh", b"ABCD"
save("step_1.safetensors", {"layer.weight": ("F32", [2], a), "layer.bias": ("F32", [1], b)})
save("x_step_1.safetensors", {"module.layer.weight": ("F32", [2], a), "module.layer.bias": ("F32", [1], b)})
save("y_step_1.safetensors", {"model.layer.weight": ("F32", [2], a), "model.layer.bias": ("F32", [1], b)})
save("z_step_1.safetensors", {"layer.weight": ("I32", [2], a), "layer.bias": ("F32", [1, 1], b)})
save("u_step_1.safetensors", {"layer.weight": ("F32", [2], a)})
save("v_step_1.safetensors", {"layer.weight": ("F32", [2], a), "layer.bias": ("F32", [1], b), "layer.scale": ("F32", [1], b)})
save("w_step_1.safetensors", {"layer.bias": ("F32", [2], a), "layer.weight": ("F32", [1], b)})
P
    local n
    for n in x y; do equal "$(verdict 0 "$R/${n}_step_1.safetensors")" ACCEPT; done
    for n in z u v w; do equal "$(verdict 10 "$R/${n}_step_1.safetensors")" RECOVER; done
    equal "$(field 'a["model"]["type"], a["model"]["shape"]' "$R/z_step_1.safetensors")" "(1, 1)"
    equal "$(field 'a["model"]["extra"], a["model"]["missing"]' "$R/u_step_1.safetensors")" "(0, 1)"
    equal "$(field 'a["model"]["extra"], a["model"]["missing"]' "$R/v_step_1.safetensors")" "(1, 0)"
    equal "$(field 'a["model"]["shape"]' "$R/w_step_1.safetensors")" 2
}

@test "without other weights in the branch the control is one changed bit" {
    save step_1.safetensors one
    save copy_step_1.npz one
    equal "$(verdict 0 "$R/copy_step_1.npz")" ACCEPT
    equal "$(field 'a["control"], a["control_differs"]' "$R/copy_step_1.npz")" "(None, 1)"
}
