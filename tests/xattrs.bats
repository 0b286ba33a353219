# What xattrs tell of files with a role and of checkpoints.

load views

@test "role, step, digest and complete are readable and not listed" {
    save "$R/step_12.pt" 1
    echo 'lr: 0.1' >"$R/config.yaml"
    checkpoint torn-zip "$R/step_13.pt" $SIZE 2
    equal "$(xattr "$R/step_12.pt" user.expfs.role)" WEIGHTS
    equal "$(xattr "$R/step_12.pt" user.expfs.step)" 12
    equal "$(xattr "$R/step_12.pt" user.expfs.complete)" 1
    equal "$(xattr "$R/step_13.pt" user.expfs.complete)" 0
    equal "$(xattr "$R/config.yaml" user.expfs.role)" HP
    equal "$(xattr "$R/config.yaml" user.expfs.step)" ""
    mkdir "$R/checkpoint-5"
    save "$R/checkpoint-5/model.pt" 3
    equal "$(xattr "$R/checkpoint-5" user.expfs.complete)" 0
    echo '{}' >"$R/checkpoint-5/trainer_state.json"
    equal "$(xattr "$R/checkpoint-5" user.expfs.complete)" 1
    equal "$(xattr "$R/checkpoint-5" user.expfs.role)" WEIGHTS
    equal "$(xattr "$R/checkpoint-5" user.expfs.step)" 5
    equal "$(xattr "$R/checkpoint-5/model.pt" user.expfs.step)" ""
    python3 - "$R" <<'PY'
import os, sys
for name in os.listdir(sys.argv[1]): assert os.listxattr(os.path.join(sys.argv[1], name)) == [], name
PY
    echo log >"$R/train.log"
    equal "$(xattr "$R/train.log" user.expfs.role)" ""
}

@test "user.expfs.digest is the XXH3-128 of the content and changes with it" {
    require_command xxh128sum
    save "$R/step_1.pt" 1
    equal "$(xattr "$R/step_1.pt" user.expfs.digest)" "$(xxh128sum <"$R/step_1.pt" | cut -d' ' -f1)"
    save "$R/step_1.pt" 2
    equal "$(xattr "$R/step_1.pt" user.expfs.digest)" "$(xxh128sum <"$R/step_1.pt" | cut -d' ' -f1)"
    printf x | dd of="$R/step_1.pt" bs=1 seek=100 conv=notrunc status=none
    equal "$(xattr "$R/step_1.pt" user.expfs.digest)" "$(xxh128sum <"$R/step_1.pt" | cut -d' ' -f1)"
    remount
    equal "$(xattr "$R/step_1.pt" user.expfs.digest)" "$(xxh128sum <"$R/step_1.pt" | cut -d' ' -f1)"
}

@test "user.expfs.sha256 is that of the content, of an empty file and of a large one too, and of none while it is written" {
    save "$R/step_1.pt" 1
    bytes "$R/last.pt" 9000001 2
    : >"$R/config.yaml"
    echo '{"loss": 1}' >"$R/metrics.jsonl"
    local f
    for f in step_1.pt last.pt config.yaml metrics.jsonl; do
        equal "$(xattr "$R/$f" user.expfs.sha256)" "$(sha256sum <"$R/$f" | cut -d' ' -f1)" "sha256 of $f"
    done
    printf x | dd of="$R/step_1.pt" bs=1 seek=100 conv=notrunc status=none
    equal "$(xattr "$R/step_1.pt" user.expfs.sha256)" "$(sha256sum <"$R/step_1.pt" | cut -d' ' -f1)"
    exec 7>>"$R/last.pt"
    echo more >&7
    equal "$(xattr "$R/last.pt" user.expfs.sha256)" ""
    exec 7>&-
    equal "$(xattr "$R/last.pt" user.expfs.sha256)" "$(sha256sum <"$R/last.pt" | cut -d' ' -f1)"
    echo log >"$R/train.log"
    mkdir "$R/checkpoint-5"
    equal "$(xattr "$R/train.log" user.expfs.sha256)$(xattr "$R/checkpoint-5" user.expfs.sha256)" ""
}

@test "user.expfs.version is the number of the version that the path holds" {
    echo 1 >"$R/config.yaml"
    equal "$(xattr "$R/config.yaml" user.expfs.version)" 1
    echo 2 >"$R/config.yaml"
    equal "$(xattr "$R/config.yaml" user.expfs.version)" 2
    exec 7>"$R/config.yaml"
    echo 3 >&7
    equal "$(xattr "$R/config.yaml" user.expfs.version)" ""
    exec 7>&-
    equal "$(xattr "$R/config.yaml" user.expfs.version)" 3
    remount
    equal "$(xattr "$R/config.yaml" user.expfs.version)" 3
    checkpoint torn-zip "$R/step_13.pt" $SIZE 2
    equal "$(xattr "$R/step_13.pt" user.expfs.version)" 1
    mkdir "$R/checkpoint-5"
    save "$R/checkpoint-5/model.pt" 3
    equal "$(xattr "$R/checkpoint-5" user.expfs.version)" ""
    echo '{}' >"$R/checkpoint-5/trainer_state.json"
    equal "$(xattr "$R/checkpoint-5" user.expfs.version)" 1
    echo '{"more": 1}' >"$R/checkpoint-5/trainer_state.json"
    equal "$(xattr "$R/checkpoint-5" user.expfs.version)" 2
    rm "$R/config.yaml"
    echo 4 >"$R/config.yaml"
    equal "$(xattr "$R/config.yaml" user.expfs.version)" 4
    mkdir -p "$R/orbax/1/d" "$R/orbax/2"
    touch "$R/orbax/1/_CHECKPOINT_METADATA"
    echo x >"$R/orbax/1/d/0"
    equal "$(xattr "$R/orbax/1" user.expfs.role) $(xattr "$R/orbax/1" user.expfs.step) $(xattr "$R/orbax/1" user.expfs.tier)" "WEIGHTS 1 hot"
}

@test "user.expfs.tier and user.expfs.stored_bytes tell of anything with a role, checkpoint directories too" {
    save "$R/step_1.pt" 1
    mkdir "$R/checkpoint-5" "$R/plain"
    save "$R/checkpoint-5/a.pt" 2
    save "$R/checkpoint-5/b.pt" 3
    equal "$(xattr "$R/step_1.pt" user.expfs.tier)/$(xattr "$R/checkpoint-5" user.expfs.tier)" hot/hot
    equal "$(xattr "$R/step_1.pt" user.expfs.stored_bytes)" "$(($(stat -c %b "$R/step_1.pt") * 512))"
    equal "$(xattr "$R/checkpoint-5" user.expfs.stored_bytes)" \
        "$((($(stat -c %b "$R/checkpoint-5/a.pt") + $(stat -c %b "$R/checkpoint-5/b.pt")) * 512))"
    equal "$(xattr "$R/plain" user.expfs.tier)$(xattr "$R/plain" user.expfs.stored_bytes)" ""
}

@test "user.expfs.note is set, read, listed and removed as any other, and goes with a copy" {
    save "$R/step_1.pt" 1
    python3 - "$R" <<'PY'
import os, shutil, sys
path, name = sys.argv[1] + "/step_1.pt", "user.expfs.note"
os.setxattr(path, name, "the good one: é".encode())
assert os.getxattr(path, name).decode() == "the good one: é"
assert os.listxattr(path) == [name]
shutil.copy2(path, sys.argv[1] + "/step_2.pt")
assert os.getxattr(sys.argv[1] + "/step_2.pt", name).decode() == "the good one: é"
os.removexattr(path, name)
assert os.listxattr(path) == []
PY
}

@test "xattrs of expfs cannot be set or removed, and copies do not carry them" {
    save "$R/step_1.pt" 1
    local name
    for name in role step digest complete sha256 version tier stored_bytes; do
        python3 - "$R/step_1.pt" "user.expfs.$name" <<'PY'
import os, sys
for call in (lambda: os.setxattr(sys.argv[1], sys.argv[2], b"9"), lambda: os.removexattr(sys.argv[1], sys.argv[2])):
    try: call()
    except OSError: continue
    raise SystemExit(sys.argv[2] + " was changed")
PY
    done
    equal "$(xattr "$R/step_1.pt" user.expfs.step)" 1
    cp -a "$R/step_1.pt" "$R/step_2.pt"
    equal "$(xattr "$R/step_2.pt" user.expfs.step)" 2
}

@test "user.expfs.parts tells what a resume finds beside the model, once that was read" {
    local weights=$EXPFS_SRCDIR/tests/weights.py
    python3 "$weights" "$R/step_1.pt" '{"model": {"a": w(1)}, "optimizer": {"m": w(2)}, "rng": {"torch": w(3), "numpy": w(4)}, "sampler": {"at": 5}}'
    python3 "$weights" "$R/step_2.pt" '{"model": {"a": w(1)}}'
    mkdir -p "$R/checkpoint-5"
    python3 "$weights" "$R/checkpoint-5/model.safetensors" '{"a": w(1)}'
    python3 "$weights" "$R/checkpoint-5/optimizer.pt" '{"state": {0: {"m": w(2)}}}'
    echo '{"global_step": 5}' >"$R/checkpoint-5/trainer_state.json"
    wait_until getfattr -n user.expfs.parts "$R/checkpoint-5"
    equal "$(xattr "$R/step_1.pt" user.expfs.parts)" optimizer,rng-numpy,rng-torch,data-loader
    getfattr -n user.expfs.parts "$R/step_2.pt"
    equal "$(xattr "$R/step_2.pt" user.expfs.parts)" ""
    equal "$(xattr "$R/checkpoint-5" user.expfs.parts)" optimizer,data-loader
    ! getfattr -n user.expfs.parts "$R/checkpoint-5/optimizer.pt"
    ! getfattr -n user.expfs.parts "$R/config.yaml"
    [[ $(errno_of setfattr -n user.expfs.parts -v x "$R/step_1.pt") == "Operation not permitted" ]]
}
