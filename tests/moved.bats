# Checkpoints whose directories are renamed, exchanged and removed: latest and history follow. After each test
# fsck finds that tracked paths agree with names and contents.

load lib

setup() { mount_run; }
teardown() { cleanup; }

save() { checkpoint zip "$1" 10000 "$2"; }

exchange() {
    python3 - "$1" "$2" <<'PY'
import ctypes, os, sys
if ctypes.CDLL(None, use_errno=True).renameat2(-100, os.fsencode(sys.argv[1]), -100, os.fsencode(sys.argv[2]), 2):
    sys.exit(os.strerror(ctypes.get_errno()))
PY
}

# save_dir PATH SEED: one with a subdirectory and a marker
save_dir() {
    mkdir -p "$1/sub"
    save "$1/model.pt" "$2"
    save "$1/sub/optimizer.pt" "1$2"
    echo '{}' >"$1/trainer_state.json"
}

@test "a checkpoint that lost a subdirectory by rename is in history, and what came in makes it another" {
    save_dir "$R/checkpoint-5" 1
    equal "$(readlink "$V/latest")" ../../runs/r/checkpoint-5
    mv "$R/checkpoint-5/sub" "$R/elsewhere"
    equal "$(readlink "$V/latest")" ../../.expfs/history/runs/r/checkpoint-5/1
    cmp "$V/latest/sub/optimizer.pt" "$R/elsewhere/optimizer.pt"
    mv "$R/elsewhere" "$R/checkpoint-5/sub"
    equal "$(readlink "$V/latest")" ../../runs/r/checkpoint-5
    mkdir "$R/in"
    echo x >"$R/in/note"
    mv "$R/in" "$R/checkpoint-5/in"
    wait_until test -e "$R/.expfs/history/checkpoint-5/2/in/note"
}

@test "a directory that was a checkpoint by its name for a while has its files' checkpoints again" {
    mkdir -p "$R/saving/e"
    save "$R/saving/e/m.pt" 1
    equal "$(readlink "$V/latest")" ../../runs/r/saving/e/m.pt
    mv "$R/saving" "$R/checkpoint-5"
    not test -e "$V/step/5/x"
    mv "$R/checkpoint-5" "$R/kept"
    equal "$(readlink "$V/latest")" ../../runs/r/kept/e/m.pt
    save "$R/kept/e/m.pt" 2
    cmp "$V/latest" "$R/kept/e/m.pt"
    wait_until test -e "$R/.expfs/history/kept/e/m.pt"
}

@test "a directory that becomes a checkpoint, something else and empty at once leaves no checkpoint" {
    mkdir "$R/x"
    save "$R/x/latest.pt" 1
    save "$R/x/step_3.pt" 2
    equal "$(readlink "$V/latest")" ../../runs/r/x/step_3.pt
    python3 - "$R" <<'PY'
import os, sys
os.chdir(sys.argv[1])
os.rename("x", "checkpoint-2")
open("checkpoint-2/note", "w").close()
os.rename("checkpoint-2", "y")
os.unlink("y/step_3.pt")
os.unlink("y/latest.pt")
PY
    not test -L "$V/latest"
    equal "$(ls "$V/step")" ""
}

@test "a directory that becomes a checkpoint and is removed at once is not waited for" {
    mkdir "$R/x" "$R/z"
    save "$R/x/latest.pt" 1
    save "$R/z/step_3.pt" 2
    equal "$(readlink "$V/latest")" ../../runs/r/z/step_3.pt
    python3 - "$R" <<'PY'
import os, sys
os.chdir(sys.argv[1])
os.rename("x", "checkpoint-2")
os.unlink("checkpoint-2/latest.pt")
os.rmdir("checkpoint-2")
PY
    equal "$(readlink "$V/latest")" ../../runs/r/z/step_3.pt
    not grep -q checkpoint-2 <("$EXPFS" status "$MNT")
}

@test "a checkpoint file and a directory that are exchanged have each other's names" {
    mkdir "$R/d"
    save "$R/step_1.pt" 1
    save "$R/step_2.pt" 2
    save "$R/d/step_3.pt" 3
    equal "$(ls "$V/step" | tr '\n' ' ')" "1 2 3 "
    exchange "$R/step_2.pt" "$R/d"
    equal "$(readlink "$V/latest")" ../../runs/r/step_2.pt/step_3.pt
    equal "$(ls "$V/step" | tr '\n' ' ')" "1 3 "
    exchange "$R/step_2.pt" "$R/d"
    equal "$(readlink "$V/step/3")" ../../../runs/r/d/step_3.pt
    equal "$(readlink "$V/step/2")" ../../../runs/r/step_2.pt
    rm "$R/d/step_3.pt"
    rmdir "$R/d"
    equal "$(ls "$V/step" | tr '\n' ' ')" "1 2 "
}
