# What experiments.bats and experiment_checkpoints.bats share.

load lib
load status

setup() { mount_run; }
teardown() { cleanup; }

# weights PATH TENSOR [SEED]: a safetensors file with one tensor of 6 numbers; with a fourth argument that is run
# between its first byte and its last
weights() {
    python3 - "$@" <<'PY'
import json, os, struct, subprocess, sys
path, tensor, seed = sys.argv[1], sys.argv[2], float((sys.argv + ["0"])[3])
header = json.dumps({tensor: {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
with open(path, "wb", buffering=0) as f:
    f.write(struct.pack("<Q", len(header)) + header)
    if len(sys.argv) > 4:
        subprocess.run(sys.argv[4], shell=True, check=True)
    f.write(struct.pack("<6f", *[seed] * 6))
PY
}

# hp EXPRESSION: the HP segment of a configuration, as Python makes it
hp() {
    python3 - "$1" <<'PY'
import hashlib, json, sys
config = eval(sys.argv[1])
config.setdefault("auditor_mode", False)
print(hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode()).hexdigest()[:8])
PY
}

# model TENSOR [INIT_STEP]: the MODEL segment of weights with that tensor
model() {
    printf 'init_step:%d\n%s:float32:[2,3]\n' "${2:-0}" "$1" | sha256sum | cut -c -8
}

# data FILE...: the DATA segment of files, in order of their paths
data() {
    local f
    for f; do
        printf '%s %s\0' "$(getfattr --only-values -n user.expfs.digest "$R/$f")" "$f"
    done | sha256sum | cut -c -8
}

NONE=00000000

pending() { branch '" ".join(b["pending"]["components"]) + ":" + str(b["pending"]["hash"])' "$@"; }
warnings() { branch '" ".join(w["kind"] + "=" + str(w["path"]) for w in r["warnings"])'; }

# row EXPRESSION: of the database of the store, which is not mounted
row() { python3 -c 'import sqlite3, sys; print(*[" ".join(map(str, r)) for r in sqlite3.connect(sys.argv[1]).execute(sys.argv[2])], sep="\n")' "$STORE/expfs.db" "$1"; }

# line [NAME]: the hashes that a branch went through, and ends the mount
line() {
    head_of "${1:-r}" >/dev/null
    umount_store
    row "SELECT e.hash FROM line l JOIN experiment e ON e.id=l.experiment JOIN tracked t ON t.id=l.run WHERE t.name=CAST('${1:-r}' AS BLOB) ORDER BY l.at"
}
