# What the segments of an experiment's hash are made of, and what makes no other: files as they lie in a run.

load lib

setup() { mount_run; }
teardown() { cleanup; }

save() { checkpoint safetensors "$R/step_$1.safetensors" 20000 "${2:-1}"; }

# field EXPRESSION [RUN]: of what status says of a branch b
field() {
    "$EXPFS" status "$MNT" --json 3>&- | python3 -c '
import json, sys
b = next(b for b in json.load(sys.stdin)["branches"] if b["name"] == sys.argv[2])
print(eval(sys.argv[1]))' "$1" "${2:-r}"
}

pending() { field '" ".join(b["pending"]["components"]) + ":" + str(b["pending"]["hash"])' "$@"; }
segment() { printf '%s' "$1" | sha256sum | cut -c -8; }

# now WHICH [RUN]: the segment (0 HP, 1 MODEL, 2 DATA) of what lies in a run
now() { field "(b['pending']['hash'] or b['head'])[8*$1:8*$1+8]" "${2:-r}"; }

NONE=00000000

# --- HP ---

@test "a configuration counts by its content alone, under each of its names" {
    local name n=0
    for name in config.yaml config.yml hyperparameters.yaml hparams.yaml params.yaml args.json .hydra/config.yaml \
        lightning_logs/version_3/hparams.yaml; do
        n=$((n + 1))
        mkdir -p "$(dirname "$MNT/runs/n$n/$name")"
        echo '{"lr": 0.5}' >"$MNT/runs/n$n/$name"
        equal "$(pending n$n)" "HP:$(segment '{"auditor_mode": false, "lr": 0.5}')$NONE$NONE" "$name"
    done
}

@test "several configurations count as one object of their paths, and the order of a list matters" {
    mkdir "$R/.hydra"
    echo 'a: [1, 2]' >"$R/config.yaml"
    equal "$(now 0)" "$(segment '{"a": [1, 2], "auditor_mode": false}')"
    echo 'b: x' >"$R/.hydra/config.yaml"
    equal "$(now 0)" "$(segment '{".hydra/config.yaml": {"b": "x"}, "auditor_mode": false, "config.yaml": {"a": [1, 2]}}')"
    rm "$R/.hydra/config.yaml"
    echo 'a: [2, 1]' >"$R/config.yaml"
    equal "$(now 0)" "$(segment '{"a": [2, 1], "auditor_mode": false}')"
}

@test "of Lightning's versions the configuration with the highest number counts" {
    local n
    for n in 9 10 2; do
        mkdir -p "$R/lightning_logs/version_$n"
        echo "v: $n" >"$R/lightning_logs/version_$n/hparams.yaml"
    done
    equal "$(now 0)" "$(segment '{"auditor_mode": false, "v": 10}')"
    rm -r "$R/lightning_logs/version_10"
    equal "$(now 0)" "$(segment '{"auditor_mode": false, "v": 9}')"
}

@test "1e-4 is text and 1.0e-4 a number, which log tells apart" {
    echo 'lr: 1e-4' >"$R/config.yaml"
    save 1
    local text
    text=$(now 0)
    equal "$text" "$(segment '{"auditor_mode": false, "lr": "1e-4"}')"
    echo 'lr: "1e-4"' >"$R/config.yaml"
    equal "$(pending)" ":None"
    echo 'lr: 1.0e-4' >"$R/config.yaml"
    save 2
    equal "$(now 0)" "$(segment '{"auditor_mode": false, "lr": 0.0001}')"
    (cd "$MNT" && "$EXPFS" log r 3>&-) | grep -qx 'changed    lr: "1e-4" -> 0.0001'
}

@test "a configuration of which no version parses is none, and status tells of it" {
    echo 'a: [' >"$R/config.yaml"
    save 1
    equal "$(now 0)" $NONE
    "$EXPFS" status "$MNT" 3>&- | grep -q 'hp-unparsable: /runs/r/config.yaml'
}

# --- MODEL ---

@test "a model is the names, types and shapes of its tensors, in whatever order they lie there" {
    python3 - "$R" <<'PY'
import json, struct, sys
def save(name, tensors):
    at, header = 0, {}
    for key, (dtype, shape, size) in tensors.items():
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    header = json.dumps(header).encode()
    open(sys.argv[1] + "/" + name, "wb").write(struct.pack("<Q", len(header)) + header + bytes(at))
w, b = ("F32", [2, 3], 24), ("F16", [3], 6)
save("step_1.safetensors", {"w": w, "b": b})
save("step_2.safetensors", {"b": b, "w": w})
save("step_3.safetensors", {"w": w, "b": ("F32", [3], 12)})
save("step_4.safetensors", {"w": ("F32", [3, 2], 24), "b": b})
save("step_5.safetensors", {"w": w, "c": b})
PY
    local n model
    model=$(printf 'init_step:0\nb:float16:[3]\nw:float32:[2,3]\n' | sha256sum | cut -c -8)
    echo 'lr: 1' >"$R/config.yaml"
    for n in 1 2; do
        equal "$(xattr "$R/step_$n.safetensors" user.expfs.hash | cut -c 9-16)" "$model" "step $n"
    done
    equal "$(for n in 1 3 4 5; do echo "$(xattr "$R/step_$n.safetensors" user.expfs.hash)"; done | sort -u | wc -l)" 4
}

@test "an edit of the architecture is pending" {
    echo 'lr: 1' >"$R/config.yaml"
    echo layers >"$R/architecture.txt"
    save 1
    echo 'more layers' >"$R/architecture.txt"
    equal "$(field 'b["pending"]["components"]')" "['MODEL']"
    local hash
    hash=$(field 'b["pending"]["hash"]')
    save 2
    equal "$(field 'b["head"]')" "$hash"
}

# --- DATA ---

@test "a data snapshot in WeightsLab's form gives WeightsLab's text, whatever else lies there" {
    local text='1:d0:t|2:d1:t'
    echo x >"$R/notes.txt"
    echo '{"data": [{"sample_id": "2", "discarded": true}, {"sample_id": "1", "discarded": false}]}' >"$R/x_data_snapshot.json"
    equal "$(now 2)" "$(segment "$text")"
    echo '{"exp_hash": "q", "data": [{"sample_id": "1"}, {"discarded": true, "sample_id": "2"}]}' >"$R/x_data_snapshot.json"
    equal "$(now 2)" "$(segment "$text")" "the same samples"
    echo '{"data": [{"sample_id": "1"}]}' >"$R/x_data_snapshot.json"
    equal "$(now 2)" "$(segment 1:d0:t)"
}

@test "data counts by paths and contents: no time, inode number or place does, and each byte does" {
    local was
    mkdir -p "$R/data/sub"
    for was in b a sub/c; do echo "row $was" >"$R/data/$was"; done
    save 1
    was=$(now 2)
    touch -d 2001-01-01 "$R/data/a" "$R/data/sub/c"
    chmod 600 "$R/data/a"
    cp "$R/data/b" "$R/data/new" && mv "$R/data/new" "$R/data/b"
    equal "$(pending)" ":None"
    mv "$R" "$MNT/runs/moved"
    equal "$(pending moved)" ":None"
    mkdir "$MNT/runs/copy"
    cp -r "$MNT/runs/moved/data" "$MNT/runs/copy"
    equal "$(now 2 copy)" "$was"
    ln -s /etc/passwd "$MNT/runs/copy/data/link"
    equal "$(now 2 copy)" "$was" "what a link leads to lies outside"
    printf R | dd of="$MNT/runs/copy/data/a" conv=notrunc status=none
    touch -r "$MNT/runs/moved/data/a" "$MNT/runs/copy/data/a"
    not equal "$(now 2 copy)" "$was" 2>/dev/null
    mv "$MNT/runs/moved/data/a" "$MNT/runs/moved/data/z"
    not equal "$(now 2 moved)" "$was" 2>/dev/null
}

# --- all ---

@test "a change of each segment makes an experiment that comes from the one before" {
    mkdir "$R/data"
    echo 'lr: 1' >"$R/config.yaml"
    save 1
    echo 'lr: 2' >"$R/config.yaml"
    save 2
    checkpoint safetensors "$R/step_3.safetensors" 40000 1
    echo a >"$R/data/a"
    checkpoint safetensors "$R/step_4.safetensors" 40000 2
    "$EXPFS" log r --json --store "$STORE" 3>&- | python3 -c '
import json, sys
log = json.load(sys.stdin)["experiments"]
assert [e["steps"] for e in log] == [[4], [3], [2], [1]], log
assert [e["changed"] for e in log] == [["DATA"], ["MODEL"], ["HP"], []], log
assert [e["parent"] for e in log] == [e["hash"] for e in log[1:]] + [None], log'
}

@test "with commit: immediate an architecture and a data file make experiments, and a save has that of its first byte" {
    umount_store
    echo 'commit: immediate' >"$STORE/config.yaml"
    mount_store
    mkdir "$R/data"
    echo layers >"$R/architecture.txt"
    echo a >"$R/data/a"
    echo 'lr: 1' >"$R/config.yaml"
    equal "$(pending)" ":None"
    equal "$("$EXPFS" log r --store "$STORE" 3>&- | grep -c ^experiment)" 3
    local was
    was=$(field 'b["head"]')
    checkpoint safetensors "$SCRATCH/whole" 20000 1
    { head -c 1000 "$SCRATCH/whole"; echo 'lr: 2' >"$R/config.yaml"; tail -c +1001 "$SCRATCH/whole"; } >"$R/step_1.safetensors"
    equal "$(xattr "$R/step_1.safetensors" user.expfs.hash)" "$was"
    equal "$(now 0)" "$(segment '{"auditor_mode": false, "lr": 2}')"
}

# --- names that are given ---

@test "WeightsLab's names are taken as given, though its files are written anew under them" {
    local hash=11111111b5a79a78bb73166f root=$MNT/exp
    python3 "$EXPFS_SRCDIR/tests/weightslab.py" "$root" dump $hash 0 5
    local config=$root/checkpoints/HP/11111111/11111111_config.yaml weights=$root/checkpoints/models/b5a79a78/${hash}_step_000005.pt
    local versions
    cp "$root/checkpoints/manifest.yaml" "$SCRATCH/manifest"
    versions=$(xattr "$root/checkpoints/manifest.yaml" user.expfs.version)
    echo 'other: 1' >"$config"
    echo '[]' >"$root/checkpoints/data/bb73166f/bb73166f_data_snapshot.json"
    checkpoint zip "$weights" 1000 7
    equal "$(cat "$MNT/branches/exp/HEAD")/$(cat "$MNT/branches/exp/pending")" "$hash/"
    equal "$(xattr "$weights" user.expfs.hash)" $hash
    equal "$(cat "$MNT/experiments/$hash/HP/11111111_config.yaml")" "other: 1"
    equal "$("$EXPFS" log --store "$STORE" 3>&- | grep -c ^experiment)" 1
    "$EXPFS" status "$MNT" 3>&- >/dev/null
    remount
    cmp "$root/checkpoints/manifest.yaml" "$SCRATCH/manifest"
    equal "$(xattr "$root/checkpoints/manifest.yaml" user.expfs.version)" "$versions"
}
