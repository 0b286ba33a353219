# Which weights a checkpoint holds is found out unasked, and held against its label.

load lib
load weights

setup() { mount_run; }

teardown() { cleanup; }

# save NAME WEIGHTS [METADATA]: safetensors, or .npz; WEIGHTS: what they depend on
save() { python3 "$EXPFS_SRCDIR/tests/inner_step.py" "$R/$1" "${3:-dict()}" "$2"; }

# KiB, at most until now
daemon_memory() { awk '/^VmHWM/ { print $2 }' "/proc/$(daemon_pid)/status"; }

@test "a checkpoint that was saved late holds the weights of another step, which status, show and log say unasked" {
    save step_7.safetensors seven
    save step_9.safetensors nine
    save best_step_7.safetensors nine
    save copy_step_7.npz seven
    wait_read step_7.safetensors step_9.safetensors best_step_7.safetensors copy_step_7.npz
    local text="labelled step 7, holds step 9: its weights are those of /runs/r/step_9.safetensors"
    equal "$(labels)" "/runs/r/best_step_7.safetensors $text"
    equal "$(weights best_step_7.safetensors 'w["label"]')" "$text"
    equal "$(weights step_7.safetensors 'w["label"]')" None
    equal "$("$EXPFS" show "$R/best_step_7.safetensors" 3>&- | grep ^label)" "label      $text"
    equal "$(grep ^label "$MNT/branches/r/log")" "label      /runs/r/best_step_7.safetensors: $text"
    equal "$(weights step_9.safetensors 'w["model"]')" "$(weights best_step_7.safetensors 'w["model"]')"
    remount
    equal "$(labels)" "/runs/r/best_step_7.safetensors $text"
}

@test "one that was saved late is found when the step that it holds is saved after it, too" {
    save step_7.safetensors seven
    save best_step_7.safetensors nine
    wait_read step_7.safetensors best_step_7.safetensors
    equal "$(labels)" ""
    save step_9.safetensors nine
    wait_read step_9.safetensors
    equal "$(labels)" "/runs/r/best_step_7.safetensors labelled step 7, holds step 9: its weights are those of /runs/r/step_9.safetensors"
    save step_9.safetensors nine
    save again_step_9.npz nine
    wait_read again_step_9.npz
    equal "$(labels | wc -l)" 1
}

@test "epochs are labels, by the name or inside, where there are no steps" {
    save epoch_7.safetensors seven
    save epoch_9.safetensors nine '{"epoch": "9"}'
    save best.safetensors nine '{"epoch": "7"}'
    save last.safetensors nine '{"epoch": "9"}'
    wait_read epoch_7.safetensors epoch_9.safetensors best.safetensors last.safetensors
    equal "$(labels)" "/runs/r/best.safetensors labelled epoch 7, holds epoch 9: its weights are those of /runs/r/epoch_9.safetensors"
    equal "$(weights last.safetensors 'w["epoch"]')" 9
}

@test "weights that did not change between two steps are those of the first" {
    save step_1.safetensors same
    save step_2.safetensors same
    wait_read step_1.safetensors step_2.safetensors
    equal "$(labels)" "/runs/r/step_2.safetensors labelled step 2, holds step 1: its weights are those of /runs/r/step_1.safetensors"
}

@test "what is overwritten, mended or removed is warned of no more, and of other runs nothing is told" {
    save step_7.safetensors seven
    save step_9.safetensors nine
    save best_step_7.safetensors nine
    mkdir "$MNT/runs/other"
    cp "$R/step_9.safetensors" "$MNT/runs/other/step_5.safetensors"
    wait_read best_step_7.safetensors
    wait_until is_read ../other/step_5.safetensors
    equal "$(labels | wc -l)" 1
    cp "$R/step_7.safetensors" "$R/best_step_7.safetensors"
    equal "$(labels)" ""
    wait_read best_step_7.safetensors
    equal "$(labels)" ""
    save best_step_7.safetensors nine
    wait_read best_step_7.safetensors
    equal "$(labels | wc -l)" 1
    rm "$R/best_step_7.safetensors"
    equal "$(labels)" ""
}

@test "a directory checkpoint holds the weights of all its shards, whatever lies beside them" {
    local d
    for d in checkpoint-7 checkpoint-9; do
        mkdir "$R/$d"
        save $d/model-00001-of-00002.safetensors "$d a"
        save $d/model-00002-of-00002.safetensors "$d b"
        echo '{"global_step": 0, "log_history": []}' >"$R/$d/trainer_state.json"
    done
    mkdir "$R/checkpoint-11"
    save checkpoint-11/model-1.safetensors "checkpoint-9 a"
    save checkpoint-11/model-2.safetensors "checkpoint-9 b"
    save checkpoint-11/optimizer.safetensors "others"
    echo '{"global_step": 11, "log_history": []}' >"$R/checkpoint-11/trainer_state.json"
    wait_until test -e "$R/.expfs/step/11"
    wait_read checkpoint-7 checkpoint-9 checkpoint-11
    equal "$(labels)" "/runs/r/checkpoint-11 labelled step 11, holds step 9: its weights are those of /runs/r/checkpoint-9"
    equal "$(weights checkpoint-11 'w["parts"]')" "['optimizer', 'data-loader']"
}

@test "of what cannot be read it is said why, and nothing else of it is different" {
    echo no tensors >"$R/step_1.pth"
    python3 - "$R/step_2.safetensors" <<'P'
import json, struct, sys
header = json.dumps({"w": {"dtype": "F4", "shape": [4], "data_offsets": [0, 2]}}).encode()
open(sys.argv[1], "wb").write(struct.pack("<Q", len(header)) + header + b"12")
P
    save step_3.npz '' '{"step": 3}'
    cp "$EXPFS_SRCDIR/tests/data/format/legacy.pt" "$R/step_4.pt"
    tar -cf "$R/step_5.pt" --format=ustar -C "$EXPFS_SRCDIR/tests/data/format" legacy.pt
    wait_read step_1.pth step_2.safetensors step_4.pt step_5.pt
    equal "$(weights step_1.pth 'w["model"], w["why"]')" "(None, 'no file of tensors that can be read here')"
    equal "$(weights step_2.safetensors 'w["model"]')" None
    equal "$(weights step_2.safetensors 'w["why"]')" "w: a tensor whose elements are no whole bytes"
    [[ $("$EXPFS" show "$R/step_4.pt" 3>&-) == *"pickle outside of a zip file, as torch before 1.6 wrote them"* ]]
    [[ $("$EXPFS" show "$R/step_5.pt" 3>&-) == *"tar file, as torch before 0.1.10 wrote them"* ]]
    equal "$(readlink "$MNT/branches/r/step/1")" ../../../runs/r/step_1.pth
    equal "$(labels)" ""
}

@test "a compressed array holds what it unpacks to, and one that does not unpack is said to be so, once" {
    python3 - "$R" <<'P'
import sys, zipfile
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (90000,)}"
data = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + bytes(range(250)) * 1440
for name, method in ("step_7.npz", zipfile.ZIP_STORED), ("best_step_8.npz", zipfile.ZIP_DEFLATED), ("step_9.npz", zipfile.ZIP_DEFLATED):
    path = f"{sys.argv[1]}/{name}"
    with zipfile.ZipFile(path + ".new", "w", method) as file:
        file.writestr("w.npy", data[:-4] if name == "step_9.npz" else data)
    content = bytearray(open(path + ".new", "rb").read())
    if name == "step_9.npz":  # it is said to be as long as it should be
        at = content.rfind(b"PK\1\2") + 24
        content[at:at + 4] = len(data).to_bytes(4, "little")
    open(path, "wb").write(content)
P
    wait_read step_7.npz best_step_8.npz step_9.npz
    equal "$(weights best_step_8.npz 'w["model"]')" "$(weights step_7.npz 'w["model"]')"
    [[ $(weights step_7.npz 'w["model"]') != None ]]
    equal "$(weights step_9.npz 'w["model"], w["why"]')" "(None, 'array that does not unpack')"
    equal "$(labels)" "/runs/r/best_step_8.npz labelled step 8, holds step 7: its weights are those of /runs/r/step_7.npz"
}

@test "a checkpoint of torch.distributed.checkpoint is read by its metadata, and refused without them" {
    mkdir "$R/checkpoint-1" "$R/checkpoint-2"
    cp "$EXPFS_SRCDIR/tests/data/format/dcp.distcp" "$R/checkpoint-1/__0_0.distcp"
    cp "$EXPFS_SRCDIR/tests/data/format/dcp.distcp" "$R/checkpoint-2/__0_0.distcp"
    cp "$EXPFS_SRCDIR/tests/data/format/dcp.metadata" "$R/checkpoint-1/.metadata"
    echo none >"$R/checkpoint-2/.metadata"
    wait_until test -e "$R/.expfs/step/1" -a -e "$R/.expfs/step/2"
    wait_read checkpoint-1 checkpoint-2
    [[ $(weights checkpoint-1 'w["model"]') != None ]]
    equal "$(weights checkpoint-1 'w["parts"]')" "['optimizer']"
    equal "$(weights checkpoint-2 'w["model"], w["why"]')" "(None, '__0_0.distcp: pickle opcode that is not known')"
    remount
    [[ $(weights checkpoint-1 'w["model"]') != None ]]
    equal "$(labels)" ""
}

@test "a tensor that several processes saved in pieces is refused by name" {
    mkdir "$R/checkpoint-1"
    cp "$EXPFS_SRCDIR/tests/data/format/dcp.distcp" "$R/checkpoint-1/__0_0.distcp"
    python3 - "$R/checkpoint-1" <<'P'
import re, sys
file = open(sys.argv[1] + "/__0_0.distcp", "rb").read()
entries = "".join(f"cm\nI\n(tR(Vfqn\nVmodel.w\ndbcm\nS\n(tR(Vrelative_path\nV__0_0.distcp\nVoffset\nI{found.start()}\ndb"
                  for found in re.finditer(rb"PK\x03\x04.{26}[^/]+/data\.pkl", file, re.S))
open(sys.argv[1] + "/.metadata", "w").write(f"cm\nMetadata\n(tR(Vstorage_data\n({entries}ddb.")
P
    wait_until test -e "$R/.expfs/step/1"
    wait_read checkpoint-1
    equal "$(weights checkpoint-1 'w["model"], w["why"]')" \
        "(None, '__0_0.distcp: model.w: a tensor in several pieces, as several processes save it')"
}

@test "a checkpoint of more tensors than are read is said to be one, and takes no more memory than one file may" {
    mkdir "$R/checkpoint-1"
    python3 - "$R/checkpoint-1" <<'P'
import json, struct, sys
header = json.dumps({"t%d" % i: {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for i in range(200000)}).encode()
for n in 1, 2:
    open("%s/model-%d.safetensors" % (sys.argv[1], n), "wb").write(struct.pack("<Q", len(header)) + header)
P
    echo '{"global_step": 1, "log_history": []}' >"$R/checkpoint-1/trainer_state.json"
    wait_until test -e "$R/.expfs/step/1"
    wait_read checkpoint-1
    equal "$(weights checkpoint-1 'w["model"], w["why"]')" "(None, 'more tensors in it than are read')"
    (($(daemon_memory) < 200 * 1024)) || fail "the daemon took $(daemon_memory) KiB"
}

@test "weights that were saved before a daemon was killed are read by the next one" {
    local i
    for i in {1..20}; do save step_$i.safetensors $i; done
    kill_daemon
    fusermount3 -uz "$MNT"
    mount_store
    wait_read step_{1..20}.safetensors
    equal "$(weights step_20.safetensors 'w["model"] != None')" True
}

@test "a store of the third format opens with its history and experiments, and its weights are read" {
    umount_store
    rm -rf "$STORE"
    tar -xzf "$EXPFS_SRCDIR/tests/data/store-3.tar.gz" -C "$SCRATCH" --transform "s/^store3/store/"
    D=$MNT
    mount_store
    wait_read step_7.safetensors step_9.safetensors best_step_7.safetensors checkpoint-10
    equal "$(tail -n 1 "$STORE/format")" "format 5"
    equal "$(cat "$MNT/branches/r/HEAD")" e8ecd2874496c24500000000
    equal "$(ls "$R/.expfs/history/latest.safetensors" | paste -sd ' ')" "1.safetensors 2.safetensors"
    rm -r "$R/checkpoint-10"
    equal "$(readlink "$MNT/branches/r/step/10")" ../../../runs/r/latest.safetensors
    equal "$(labels)" "/runs/r/best_step_7.safetensors labelled step 7, holds step 9: its weights are those of /runs/r/step_9.safetensors"
    umount_store
    "$EXPFS" fsck "$STORE"
    mount_store
    equal "$(labels | wc -l)" 1
}

@test "weights are read by a thread that the disk serves when nobody else wants it" {
    local task
    for task in "/proc/$(daemon_pid)/task/"*; do ionice -p "${task##*/}"; done | grep -c idle | grep -x 1
}

# What the kernel has cached of the store's largest object.
cached() { fincore -bnro RES "$(find "$STORE/objects" -type f -printf '%s %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2)"; }

is_cached() { cat "$STORE"/objects/*/* >/dev/null && (($(cached) > 8000000)); } # others may drop caches meanwhile

@test "what was there before the mount leaves nothing in the page cache when its weights are read" {
    [[ $(stat -f -c %T "$STORE") != tmpfs ]] || skip "tmpfs is nothing but cache"
    python3 - "$R/step_1.npz" <<'P'
import sys, zipfile
header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (9000000,)}"
with zipfile.ZipFile(sys.argv[1], "w") as file:
    file.writestr("w.npy", b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + bytes(9000000))
P
    wait_read step_1.npz
    umount_store
    wait_until is_cached
    python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); [db.execute(sql) for sql in ("DELETE FROM weights", "DELETE FROM holds", "INSERT INTO unread SELECT id FROM version")]; db.commit()' "$STORE/expfs.db"
    mount_store
    wait_read step_1.npz
    [[ $(weights step_1.npz 'w["model"]') != None ]]
    equal "$(cached)" 0
}

@test "fsck has weights read again whose tables are lost" {
    save step_7.safetensors seven
    save step_9.safetensors nine
    save best_step_7.safetensors nine
    wait_read best_step_7.safetensors
    umount_store
    python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); [db.execute("DROP TABLE " + t) for t in ("holds", "weights")]; db.commit()' "$STORE/expfs.db"
    run "$EXPFS" fsck "$STORE" 3>&-
    equal $status 1
    "$EXPFS" fsck --repair "$STORE" >/dev/null || true
    "$EXPFS" fsck "$STORE"
    mount_store
    wait_read best_step_7.safetensors
    equal "$(labels | wc -l)" 1
}
