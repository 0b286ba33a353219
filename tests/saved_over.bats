# A checkpoint directory that is complete, and of which a file changes before anybody judged it: what was complete is a version.

load experiments

setup() {
    scratch
    store_init
    mount_store
    R=$MNT/runs/r
    C=$R/checkpoint-1
    mkdir -p "$R"
}
teardown() { cleanup; }

# trainer PROGRAM: Python in one process, so that all is done long before the directory is looked at by itself. save(N) saves all,
# put(NAME, N) a file by truncation, replace(NAME, N) one by a file beside it, inside(NAME, N) one in place
trainer() {
    python3 - "$C" "$1" <<'PY'
import json, os, struct, sys
dir = sys.argv[1]
names = ["model.safetensors", "optim.safetensors", "trainer_state.json"]
def content(name, n):
    if name.endswith(".json"):
        return b'{"global_step": 1, "save": %d}' % n
    header = json.dumps({"w": {"dtype": "F32", "shape": [300], "data_offsets": [0, 1200]}}).encode()
    return struct.pack("<Q", len(header)) + header + struct.pack("<I", n) * 300
def into(path, mode, bytes):
    with open(path, mode) as f:
        f.write(bytes)
def put(name, n):
    into(f"{dir}/{name}", "wb", content(name, n))
def inside(name, n):
    into(f"{dir}/{name}", "r+b", content(name, n))
def beside(name, n, tmp="{}.tmp"):
    into(f"{dir}/{tmp.format(name)}", "wb", content(name, n))
def rename(name, tmp="{}.tmp"):
    os.replace(f"{dir}/{tmp.format(name)}", f"{dir}/{name}")
def replace(name, n, tmp="{}.tmp"):
    beside(name, n, tmp)
    rename(name, tmp)
def save(n, one=put):
    os.makedirs(dir, exist_ok=True)
    for name in names:
        one(name, n)
exec(sys.argv[2])
PY
}

# is_of DIR N: all of the directory is of that save, and nothing else is there
is_of() {
    equal "$(ls "$1/")" $'model.safetensors\noptim.safetensors\ntrainer_state.json'
    equal "$(tail -qc 4 "$1/model.safetensors" "$1/optim.safetensors" | od -An -tu4 | xargs)" "$2 $2"
    grep -q "\"save\": $2}" "$1/trainer_state.json"
}

first_is_kept() {
    equal "$(readlink "$MNT/branches/r/latest")" ../../.expfs/history/runs/r/checkpoint-1/1
    equal "$(ls "$MNT/.expfs/history/runs/r/checkpoint-1")" 1
    is_of "$MNT/branches/r/latest" 1
}

# is_kept: also by a daemon that is killed
is_kept() {
    first_is_kept
    kill_daemon
    mount_store
    first_is_kept
}

@test "what was complete stays a version when a file of it is truncated and saved anew at once, and what there is then is mixed" {
    trainer 'save(1); put("model.safetensors", 2)'
    is_kept
    sleep 10.5
    first_is_kept
    equal "$(warnings)" mixed=/runs/r/checkpoint-1
    umount_store
    "$EXPFS" fsck "$STORE"
}

@test "what was complete stays a version, without the file beside it, when a file of it is replaced at once, and what there is then is mixed" {
    trainer 'save(1); replace("model.safetensors", 2)'
    is_kept
    sleep 10.5
    first_is_kept
    equal "$(warnings)" mixed=/runs/r/checkpoint-1
}

@test "what was complete stays a version when a file of it is replaced by one with any name" {
    trainer 'save(1); replace("model.safetensors", 2, "tmp8x_{}")'
    is_kept
}

@test "what was complete stays a version when all files of the next save are there before the first is renamed" {
    trainer 'save(1)
for name in names: beside(name, 2)
rename(names[0])'
    equal "$(readlink "$MNT/branches/r/latest")" ../../.expfs/history/runs/r/checkpoint-1/1
    is_of "$MNT/branches/r/latest" 1
}

@test "what was complete stays a version when a file of it is written in place, cut or given room" {
    trainer 'save(1); inside("model.safetensors", 2)'
    is_kept
    rm -r "$C"
    local how n=1
    for how in 'os.truncate(p, 100)' 'os.ftruncate(os.open(p, os.O_WRONLY), 100)' 'os.posix_fallocate(os.open(p, os.O_RDWR), 0, 5000)' \
        'd = os.open(p, os.O_RDWR); mmap.mmap(d, 0)[0:4] = b"abcd"; os.close(d)'; do
        trainer "import mmap
save($((++n))); p = dir + '/optim.safetensors'; $how"
        is_of "$MNT/.expfs/history/runs/r/checkpoint-1/$n" $n
        rm -r "$C"
    done
}

@test "each of several saves one over the other is a version" {
    local one
    for one in put inside replace; do
        trainer "save(1); save(2, $one); save(3, $one); $one('model.safetensors', 4)"
        is_of "$MNT/.expfs/history/runs/r/checkpoint-1/1" 1
        is_of "$MNT/.expfs/history/runs/r/checkpoint-1/2" 2
        is_of "$MNT/.expfs/history/runs/r/checkpoint-1/3" 3
        equal "$(ls "$MNT/.expfs/history/runs/r/checkpoint-1" | wc -l)" 3 "$one"
        rm -r "$C"
        umount_store
        rm -r "$STORE"
        store_init
        mount_store
        mkdir -p "$R"
    done
}
