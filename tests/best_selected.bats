# best by selection: what was selected under that name goes before the metric, and is never let go.

load best

# losses VALUE...: of the steps from 1 on
losses() {
    local n=0 v
    for v; do printf '{"step": %d, "val_loss": %s}\n' $((++n)) "$v"; done >"$R/metrics.jsonl"
}

# --- which one ---

@test "what is selected as best goes before the metric, and what is selected under another name does not" {
    steps 1 2 3
    losses 0.5 0.25 0.75
    best_is "$R/step_2.pt"
    select_best "$R/step_1.pt" --name other
    best_is "$R/step_2.pt"
    select_best "$R/step_3.pt"
    best_is "$R/step_3.pt"
    grep -qx best <(ls "$V")
    remount
    best_is "$R/step_3.pt"
}

@test "there is a best by selection where no checkpoint has a metric" {
    steps 1 2
    no_best
    select_best "$R/step_1.pt"
    best_is "$R/step_1.pt"
}

@test "another selection is the best from the next look-up on, also for who has the view's directory open" {
    steps 1 2 3
    losses 0.5 0.25 0.75
    python3 - "$EXPFS" "$R" "$V" <<'PY'
import os, subprocess, sys
expfs, run, view = sys.argv[1:]
d = os.open(view, os.O_RDONLY)
os.chdir(view)
for step in 3, 1, 2, 1, 3:
    subprocess.run([expfs, "select", f"{run}/step_{step}.pt"], check=True, stdout=subprocess.DEVNULL)
    want = f"../../runs/r/step_{step}.pt"
    assert os.readlink("best") == os.readlink("best", dir_fd=d) == want, (step, os.readlink("best"))
    assert os.path.samefile("best", f"{run}/step_{step}.pt")
    assert "best" in os.listdir(d)
PY
}

@test "the selected version is the best when its file is overwritten, torn, renamed away or removed" {
    local what
    for what in overwritten torn renamed removed; do
        save "$R/$what.pt" 1
        save "$R/step_9.pt" 9
        select_best "$R/$what.pt"
        best_is "$R/$what.pt"
        case $what in
            overwritten) save "$R/$what.pt" 2 ;;
            torn) head -c 9000 "$R/step_9.pt" >"$R/$what.pt" ;;
            renamed) mv "$R/$what.pt" "$R/elsewhere.pt" ;;
            removed) rm "$R/$what.pt" ;;
        esac
        in_history "$what.pt" 1
        save "$SCRATCH/as_it_was" 1
        cmp "$V/best" "$SCRATCH/as_it_was"
        cmp "$R/.expfs/best" "$SCRATCH/as_it_was"
        remount
        in_history "$what.pt" 1
    done
}

@test "a selected checkpoint directory is the best, also when the directory around it is removed" {
    mkdir -p "$R/out/checkpoint-5"
    bytes "$R/out/checkpoint-5/model.bin" 50000 1
    echo '{}' >"$R/out/checkpoint-5/trainer_state.json"
    steps 9
    select_best "$R/out/checkpoint-5"
    best_is "$R/out/checkpoint-5"
    equal "$(readlink -f "$R/out/.expfs/best")" "$R/out/checkpoint-5"
    cp "$R/out/checkpoint-5/model.bin" "$SCRATCH/model"
    rm -r "$R/out"
    equal "$(readlink -f "$V/best")" "$MNT/.expfs/history/runs/r/out/checkpoint-5/1"
    equal "$(readlink -f "$R/.expfs/best")" "$R/.expfs/history/out/checkpoint-5/1"
    cmp "$V/best/model.bin" "$SCRATCH/model"
}

@test "what a program writes into the selected file in place, or through a forked child's copy, is not in the selection" {
    save "$R/last.pt" 1
    select_best "$R/last.pt"
    save "$SCRATCH/as_it_was" 1
    dd if=/dev/zero of="$R/last.pt" bs=1000 count=3 seek=5 conv=notrunc status=none
    cmp "$V/best" "$SCRATCH/as_it_was"
    python3 - "$R/fork.pt" "$SCRATCH/as_it_was" "$EXPFS" <<'PY'
import os, subprocess, sys
path, whole, expfs = sys.argv[1:]
f = open(path, "wb", buffering=0)
f.write(open(whole, "rb").read())
if os.fork() == 0:
    f.close()
    os._exit(0)
os.wait()
subprocess.run([expfs, "select", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
f.seek(100)
f.write(b"\0" * 5000)
f.close()
PY
    cmp "$V/best" "$SCRATCH/as_it_was"
}

@test "what is selected stays when a program writes the same into its file again, closes a copy of its descriptor and goes on" {
    save "$R/step_1.pt" 1
    save "$SCRATCH/as_it_was" 1
    select_best "$R/step_1.pt"
    python3 - "$R/step_1.pt" "$EXPFS" <<'PY'
import os, subprocess, sys
path, expfs = sys.argv[1:]
d = os.open(path, os.O_RDWR)
os.pwrite(d, open(path, "rb").read(), 0)
os.close(os.dup(d))
subprocess.run([expfs, "select", path + "@2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
os.pwrite(d, b"\0" * 100, 300)
os.close(d)
PY
    cmp "$V/best" "$SCRATCH/as_it_was"
}

# --- for which views it speaks ---

@test "a selection speaks for the directories above what it selected, and for no other" {
    mkdir "$R/a" "$R/b"
    save "$R/a/step_1.pt" 1
    save "$R/b/step_2.pt" 2
    metric "$R/b/step_2.pt" 0.5
    select_best "$R/a/step_1.pt"
    best_is "$R/a/step_1.pt"
    equal "$(readlink "$R/a/.expfs/best")" ../step_1.pt
    equal "$(readlink "$R/b/.expfs/best")" ../step_2.pt
    equal "$(readlink "$MNT/runs/.expfs/best")" ../r/a/step_1.pt
    equal "$(readlink "$MNT/.expfs/best")" ../runs/r/a/step_1.pt
    rm -r "$R/a"
    equal "$(readlink "$R/b/.expfs/best")" ../step_2.pt
    equal "$(readlink "$MNT/runs/.expfs/best")" history/r/a/step_1.pt/1.pt
}

@test "of what several branches have selected in a directory, an experiment or a model the one that was selected last counts" {
    local run hash view
    for run in r s; do
        mkdir -p "$MNT/runs/$run"
        echo 'lr: 1' >"$MNT/runs/$run/config.yaml"
        echo arch >"$MNT/runs/$run/architecture.txt"
        save "$MNT/runs/$run/step_1.pt" 1
        save "$MNT/runs/$run/step_2.pt" 2
    done
    metric "$R/step_2.pt" 0.5
    hash=$(cat "$V/HEAD")
    equal "$(cat "$MNT/branches/s/HEAD")" "$hash"
    everywhere() {
        for view in "experiments/$hash" "models/${hash:8:8}" .expfs runs/.expfs; do
            equal "$(readlink -f "$MNT/$view/best")" "$1" "$view"
        done
    }
    everywhere "$R/step_2.pt"
    select_best "$R/step_1.pt"
    everywhere "$R/step_1.pt"
    select_best "$MNT/runs/s/step_1.pt"
    everywhere "$MNT/runs/s/step_1.pt"
    best_is "$R/step_1.pt"
    equal "$(readlink "$MNT/branches/s/best")" ../../runs/s/step_1.pt
    select_best "$R/step_1.pt"
    everywhere "$R/step_1.pt"
}

@test "a selection speaks for the experiment of what it selected alone" {
    local one two
    echo 'lr: 1' >"$R/config.yaml"
    steps 1
    one=$(cat "$V/HEAD")
    echo 'lr: 2' >"$R/config.yaml"
    steps 2
    two=$(cat "$V/HEAD")
    metric "$R/step_2.pt" 0.5
    select_best "$R/step_1.pt"
    best_is "$R/step_1.pt"
    equal "$(readlink -f "$MNT/experiments/$one/best")" "$R/step_1.pt"
    equal "$(readlink -f "$MNT/experiments/$two/best")" "$R/step_2.pt"
    rm "$R/step_1.pt"
    equal "$(readlink "$MNT/experiments/$one/best")" ../../.expfs/history/runs/r/step_1.pt/1.pt
}

@test "who may not look at what was selected has the best by the metric" {
    require_user
    umount_store
    mount_store -o allow_other
    mkdir "$R/closed"
    save "$R/closed/step_1.pt" 1
    steps 2
    metric "$R/step_2.pt" 0.5
    select_best "$R/closed/step_1.pt"
    chmod 755 "$R" "$MNT/runs"
    chmod 700 "$R/closed"
    best_is "$R/closed/step_1.pt"
    equal "$(as_nobody readlink "$V/best")" ../../runs/r/step_2.pt
    equal "$(as_nobody readlink "$R/.expfs/best")" ../step_2.pt
    rm -r "$R/closed"
    in_history closed/step_1.pt 1
    equal "$(as_nobody readlink "$V/best")" ../../runs/r/step_2.pt
}

# --- status ---

@test "status says that the best was selected, and what was said of it" {
    steps 1 2
    losses 0.5 0.25
    equal "$(status_of r 'b["best"]')" "{'path': '/runs/r/step_2.pt', 'step': 2, 'metric': 'val_loss', 'value': 0.25}"
    select_best "$R/step_1.pt" --metric accuracy=0.75
    equal "$(status_of r '[b["best"][k] for k in ("path", "step", "metric", "value")], type(b["best"]["selection"]).__name__')" \
        "['/runs/r/step_1.pt', 1, 'accuracy', 0.75] str"
    "$EXPFS" status "$MNT" | grep -qx '            best /runs/r/step_1.pt, selected, accuracy 0.75'
    select_best "$R/step_1.pt"
    equal "$(status_of r '[b["best"][k] for k in ("path", "step", "metric", "value")]')" "['/runs/r/step_1.pt', 1, None, None]"
    "$EXPFS" status "$MNT" | grep -qx '            best /runs/r/step_1.pt, selected'
    rm "$R/step_1.pt"
    equal "$(status_of r 'b["best"]["path"]')" /.expfs/history/runs/r/step_1.pt/1.pt
    umount_store
    "$EXPFS" status --store "$STORE" | grep -qx '            best /.expfs/history/runs/r/step_1.pt/1.pt, selected'
}

# --- runs that are renamed, removed, moved ---

@test "a renamed run takes its selections along" {
    steps 1 2
    select_best "$R/step_1.pt"
    mv "$R" "$MNT/runs/q"
    equal "$(readlink "$MNT/branches/q/best")" ../../runs/q/step_1.pt
    needed "$MNT/runs/q/step_1.pt@1" q:best
    mkdir "$R"
    save "$R/step_3.pt" 3
    no_best
}

@test "a removed run keeps its selections, and a new one of its name begins without" {
    steps 1 2
    losses 0.25 0.5
    select_best "$R/step_2.pt"
    rm -r "$R"
    equal "$(readlink "$V/best")" ../../.expfs/history/runs/r/step_2.pt/1.pt
    needed "$R/step_2.pt@1" r:best
    mkdir "$R"
    save "$R/step_3.pt" 3
    no_best
    equal "$(readlink "$MNT/branches/r~1/best")" ../../.expfs/history/runs/r~1/step_2.pt/1.pt
    equal "$(status_of r~1 '"selection" in b["best"]')" True
    needed "$MNT/runs/r~1/step_2.pt@1" r~1:best
    select_best "$R/step_3.pt"
    best_is "$R/step_3.pt"
    save "$SCRATCH/2" 2
    cmp "$MNT/branches/r~1/best" "$SCRATCH/2"
}

@test "what was selected in a run that is moved away is needed under its path, and best again when the run is back" {
    steps 1
    save "$MNT/step_7.pt" 7
    select_best "$R/step_1.pt"
    mv "$R" "$MNT/archive"
    needed "$MNT/archive/step_1.pt@1" archive:best
    not test -L "$MNT/branches/main/best"
    equal "$(readlink "$MNT/archive/.expfs/best")" ../step_1.pt
    mv "$MNT/archive" "$R"
    best_is "$R/step_1.pt"
    needed "$R/step_1.pt@1" r:best
}

@test "a run of which nothing is left but what it has selected elsewhere keeps its selections" {
    mkdir "$R/sub" "$MNT/runs/q"
    save "$R/sub/step_1.pt" 1
    save "$R/step_2.pt" 2
    select_best "$R/sub/step_1.pt"
    mv "$R/sub" "$MNT/runs/q/sub"
    equal "$(readlink -f "$V/best")" "$MNT/runs/q/sub/step_1.pt"
    rm -r "$R"
    "$EXPFS" forget "$R/step_2.pt" >/dev/null
    needed "$MNT/runs/q/sub/step_1.pt@1" r:best
    mkdir "$R"
    save "$R/step_3.pt" 3
    no_best
    needed "$MNT/runs/q/sub/step_1.pt@1" r~1:best
}

@test "whoever looks while others are selected finds one that was selected, whole" {
    local n
    steps 1 2 3
    for n in 1 2 3; do save "$SCRATCH/$n" "$n"; done
    select_best "$R/step_1.pt"
    python3 - "$EXPFS" "$R" "$V/best" "$SCRATCH" <<'PY'
import subprocess, sys, threading
expfs, run, best, scratch = sys.argv[1:]
whole = {open(f"{scratch}/{n}", "rb").read() for n in (1, 2, 3)}
done = False
faults = []
def look():
    while not done:
        try:
            with open(best, "rb") as f:
                if f.read() not in whole:
                    faults.append("another content")
        except OSError as e:
            faults.append(str(e))
threads = [threading.Thread(target=look) for _ in range(2)]
for t in threads: t.start()
try:
    for i in range(12):
        n = 1 + i % 3
        subprocess.run([expfs, "select", f"{run}/step_{n}.pt"], check=True, stdout=subprocess.DEVNULL)
finally:
    done = True
    for t in threads: t.join()
assert not faults, faults[:3]
PY
}

# --- what a selection needs is not let go ---

@test "forget lets nothing go that a selection needs, and says which; what another one took the place of goes" {
    save "$R/last.pt" 1
    select_best "$R/last.pt"
    save "$R/last.pt" 2
    select_best "$R/last.pt" --name published
    save "$R/last.pt" 3
    save "$R/last.pt" 4
    needed "$R/last.pt@1" r:best
    needed "$R/last.pt@2" r:published
    rm "$R/last.pt"
    "$EXPFS" forget "$R/last.pt" >"$SCRATCH/out"
    grep -q "^/runs/r/last.pt: 2 versions forgotten" "$SCRATCH/out"
    grep -qx "version 1 is kept: it is the selection r:best, until another one is selected under that name" "$SCRATCH/out"
    save "$SCRATCH/1" 1
    cmp "$V/best" "$SCRATCH/1"
    save "$R/last.pt" 5
    select_best "$R/last.pt"
    "$EXPFS" forget "$R/last.pt@1" >/dev/null
    needed "$R/last.pt@2" r:published
    best_is "$R/last.pt"
}

# select_due: the last version of last.pt, whose experiment nobody found out yet; fails where it is known
select_due() {
    python3 - "$STORE/expfs.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
version, run = db.execute("SELECT v.id, t.run FROM version v JOIN tracked t ON t.id=v.tracked JOIN due d ON d.version=v.id"
                          " WHERE t.name=? AND v.n=2", (b"last.pt",)).fetchone()
db.execute("INSERT INTO ledger VALUES(?, ?, 'best', 0, ?, 0, '{}')", (version, run, version))
db.commit()
PY
}

@test "a version that is selected before its experiment is found out is not joined with one that holds the same" {
    echo 'lr: 1' >"$R/config.yaml"
    save "$SCRATCH/1" 1
    local i
    for i in {1..20}; do
        cp "$SCRATCH/1" "$R/last.pt"
        cat "$V/HEAD" >/dev/null
        cp "$SCRATCH/1" "$R/last.pt"
        kill_daemon
        fusermount3 -uz "$MNT"
        ! select_due 2>/dev/null || break
        mount_store
        rm -r "$R"
        mkdir "$R"
        echo 'lr: 1' >"$R/config.yaml"
    done
    ((i < 20)) || skip "the daemon is always quicker"
    mount_store
    cat "$V/HEAD" >/dev/null
    best_is "$R/last.pt"
    rm "$R/last.pt"
    in_history last.pt 2
    cmp "$V/best" "$SCRATCH/1"
}

@test "what was selected stays when the run stops to record checkpoints, and takes another state" {
    echo 'lr: 1' >"$R/config.yaml"
    steps 1
    select_best "$R/step_1.pt"
    printf 'lr: 2\ncheckpoint_manager: {dump_model_state: false}\n' >"$R/config.yaml"
    save "$R/step_1.pt" 2
    save "$SCRATCH/1" 1
    cmp "$V/best" "$SCRATCH/1"
    rm "$R/step_1.pt"
    local status=0
    "$EXPFS" forget "$R/step_1.pt" >/dev/null || status=$?
    equal "$status" 1
    in_history step_1.pt 1
    cmp "$V/best" "$SCRATCH/1"
}

# --- after a death, and damage ---

@test "a selection is there after the daemon was killed" {
    steps 1 2
    losses 0.5 0.25
    select_best "$R/step_1.pt"
    kill_daemon
    fusermount3 -uz "$MNT"
    mount_store
    best_is "$R/step_1.pt"
    needed "$R/step_1.pt@1" r:best
}

@test "where the selected version is lost nothing else is shown as the best until another one is selected" {
    steps 1 2
    losses 0.5 0.25
    select_best "$R/step_1.pt"
    umount_store
    python3 - "$STORE/expfs.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM version WHERE id=(SELECT of FROM ledger)")
db.commit()
PY
    not "$EXPFS" fsck "$STORE" >"$SCRATCH/found"
    grep -q 'selection whose version is not there' "$SCRATCH/found"
    "$EXPFS" fsck --repair "$STORE" >/dev/null || true
    mount_store
    not test -L "$V/best"
    equal "$(status_of r 'b["best"]')" None
    "$EXPFS" status "$MNT" | grep -q '^warnings  damaged: /runs/r what was selected as r:best is lost; select another one'
    select_best "$R/step_2.pt"
    best_is "$R/step_2.pt"
}
