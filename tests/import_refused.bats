# expfs import: what is refused, and with which words.

load lib
load import

setup() {
    scratch
    store_init
    mount_store
    S=$SCRATCH/source
    mkdir "$S"
}
teardown() { cleanup; }

@test "what cannot be imported is refused with the reason" {
    mkdir "$S/x" "$S/.hidden"
    wl "$S/lab" dump $E1 0
    refused 3 "$EXPFS" import "$S/x" "$SCRATCH"
    refused 3 "$EXPFS" import "$S/nothing" "$MNT"
    refused 3 "$EXPFS" import "$MNT" "$MNT/runs/x"
    refused 3 "$EXPFS" import "$MNT/runs" "$MNT/runs/x"
    refused 3 "$EXPFS" import "$SCRATCH" "$MNT/runs/x"
    refused 3 "$EXPFS" import / "$MNT/runs/x"
    refused 3 "$EXPFS" import "$STORE" "$MNT/runs/x"
    [[ $MESSAGE == *"in the store"* ]]
    refused 3 "$EXPFS" import "$STORE/objects" "$MNT/runs/x"
    refused 3 "$EXPFS" import "$S/x" "$MNT/runs/run"
    [[ $MESSAGE == *"/x: has no file in it; name a directory that has" ]]
    echo a >"$S/x/a.pt"
    import "$S/x" "$MNT/runs/run" # a view branches/run is there
    mkdir -p "$S/view/branches/run"
    echo b >"$S/view/branches/run/file"
    wl "$S/view" dump $E1 0
    refused 3 "$EXPFS" import "$S/view" "$MNT"
    [[ $MESSAGE == *"$MNT/branches/run"*": Read-only file system;"*"name a DEST where no view is" ]]
    not test -e "$MNT/checkpoints" # before anything is written
    refused 1 "$EXPFS" import "$S/view" "$MNT" --dry-run
    refused 3 "$EXPFS" import "$S/lab/checkpoints" "$MNT"
    [[ $MESSAGE == *"import the directory that it is in" ]]
    refused 2 "$EXPFS" import "$S/.hidden" "$MNT"
    refused 2 "$EXPFS" import
    refused 3 "$EXPFS" import "$S/lab/checkpoints/manifest.yaml" "$MNT"
    umount_store
    refused 3 "$EXPFS" import "$S/x" --store "$STORE"
    [[ $MESSAGE == *"expfs mount $STORE MNT" ]]
    mount_store -o ro
    refused 3 "$EXPFS" import "$S/x" "$MNT"
    [[ $MESSAGE == *"Read-only file system"* ]]
}

@test "a DEST beside --store is refused with the line that does it, or with the mount that is missing" {
    hf_run "$S/hf"
    cd "$S"
    refused 2 "$EXPFS" import hf NAME --store "$STORE"
    [[ $MESSAGE == *"without --store: expfs import hf $MNT/runs/NAME" ]] || fail "$MESSAGE"
    PATH=${EXPFS%/*}:$PATH eval "${MESSAGE#*--store: } >/dev/null"
    same "$S/hf" "$MNT/runs/NAME"
    umount_store
    refused 3 "$EXPFS" import hf NAME --store "$STORE"
    [[ $MESSAGE == *"first: expfs mount $STORE MNT" ]] || fail "$MESSAGE"
}

@test "the line that a refused export prints brings in what is in the way" {
    local x="$SCRATCH/a drive"
    mkdir -p "$MNT/runs/a drive" "$x"
    checkpoint zip "$MNT/runs/a drive/step_1.pt" 10000 1
    checkpoint zip "$x/latest.pt" 10000 2
    refused 3 "$EXPFS" export "$MNT/runs/a drive" "$x"
    [[ $MESSAGE == *"or bring it in: expfs import "* ]] || fail "$MESSAGE"
    PATH=${EXPFS%/*}:$PATH eval "${MESSAGE#*bring it in: } >/dev/null"
    cmp "$x/latest.pt" "$MNT/runs/a drive-2/latest.pt"
    "$EXPFS" export "$MNT/runs/a drive" "$x" 3>&- >/dev/null
}
