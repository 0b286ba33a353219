# Stores of earlier formats are opened, and are of this one then.

load history

# old_store N [SQL]: of that format, mounted; changed by SQL before
old_store() {
    umount_store
    rm -rf "$STORE"
    tar -xzf "$EXPFS_SRCDIR/tests/data/store-$1.tar.gz" -C "$SCRATCH" --transform "s/^store$1/store/"
    D=$MNT
    [[ -z ${2:-} ]] || python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])' "$STORE/expfs.db" "$2"
    mount_store
}

@test "a store of the first format opens with its files as version 1, and latest is right" {
    old_store 1
    equal "$(cat "$MNT/runs/a/.expfs/history/config.yaml/1.yaml")" "lr: 0.1"
    equal "$(cat "$MNT/runs/a/.expfs/history/checkpoint-1/1/model.bin")" weights
    equal "$(readlink "$MNT/branches/a/latest")" ../../runs/a/checkpoint-1
    echo "lr: 0.2" >"$MNT/runs/a/config.yaml"
    equal "$(versions config.yaml "$MNT/runs/a/.expfs/history")" "1.yaml 2.yaml "
}

@test "a store of the second format opens with its files as version 1, and latest is right" {
    old_store 2
    local h=$MNT/runs/a/.expfs/history
    equal "$(readlink "$MNT/branches/a/latest")" ../../runs/a/step_20.pt
    equal "$(readlink "$MNT/branches/a/step/10")" ../../../runs/a/checkpoint-10
    equal "$(versions config.yaml "$h")$(versions step_20.pt "$h")$(versions step_30.pt "$h")$(versions checkpoint-10 "$h")" \
        "1.yaml 1.pt 1.pt 1 "
    diff -r "$h/checkpoint-10/1" "$MNT/runs/a/checkpoint-10"
    cmp "$h/step_20.pt/1.pt" "$MNT/runs/a/step_20.pt"
    cmp "$MNT/runs/b/.expfs/history/best.pt/1.pt" "$MNT/runs/b/last.pt"
    equal "$(answer history "$MNT/runs/a/step_30.pt" '[v["complete"] for v in r["versions"]]')" "[False]"
    equal "$(tail -n 1 "$STORE/format")" "format 5"
    rm "$MNT/runs/a/step_20.pt"
    equal "$(readlink "$MNT/branches/a/latest")" ../../runs/a/checkpoint-10
    remount
    test -e "$h/step_20.pt/1.pt"
    umount_store
    "$EXPFS" fsck "$STORE"
}

has_warning() { [[ $(answer status "$MNT" '[w["path"] for w in r["warnings"]]') == "['$1']" ]]; }

@test "a store of the fourth format opens with its branches, also of a removed run, and takes selections" {
    old_store 4 "UPDATE weights SET why='compressed array'; UPDATE holds SET held=NULL, model=NULL"
    equal "$(readlink "$MNT/branches/r/best")" ../../runs/r/step_9.safetensors
    equal "$(readlink "$MNT/branches/gone/latest")" ../../.expfs/history/runs/gone/step_1.safetensors/1.safetensors
    equal "$(cat "$MNT/branches/r/HEAD")" e8ecd28774b452c900000000
    wait_until has_warning /runs/r/best_step_7.safetensors # the weights are read again
    equal "$(tail -n 1 "$STORE/format")" "format 5"
    umount_store
    python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("INSERT INTO ledger SELECT 60000, t.run, ?, 0, v.id, 0, ? FROM version v JOIN tracked t ON t.id=v.tracked LIMIT 1", ("best", "{}"))
db.commit()' "$STORE/expfs.db"
    "$EXPFS" fsck "$STORE"
}

@test "a store of the first format opens, its files as they were, and is of this format then" {
    old_store 1
    equal "$(cat "$MNT/runs/a/config.yaml")" "lr: 0.1"
    equal "$(cat "$MNT/same")$(cat "$MNT/hard")$(cat "$MNT/runs/a/checkpoint-1/model.bin")" weightsweightsweights
    equal "$(cat "$MNT/live") $(cat "$MNT/unsynced")" "line 1 new"
    equal "$(stat -c %h "$MNT/same") $(readlink "$MNT/link") $(xattr "$MNT/same" user.note) $(stat -c %s "$MNT/empty")" "2 runs/a hello 0"
    echo more >>"$MNT/live"
    umount_store
    equal "$(tail -n 1 "$STORE/format")" "format 5"
    "$EXPFS" fsck "$STORE"
    mount_store
    equal "$(cat "$MNT/live")" $'line 1\nmore'
}
