# expfs import: what comes, in which order, and what is refused.

load lib
load import

setup() {
    require_command rsync getfattr
    scratch
    store_init
    mount_store
    B=$MNT/branches
    S=$SCRATCH/source
    mkdir "$S"
}
teardown() { cleanup; }

leads() { equal "$(readlink -f "$1")" "$2" "${1#"$MNT"/}"; }
steps() { ls -U "$B/$1/step" | tr '\n' ' '; }

@test "a root of fifty experiments comes with all that it holds, and tells the same experiments as where it was written" {
    wl_fifty "$S/lab"
    everything "$S/lab" >"$SCRATCH/before"
    cd "$MNT"
    import "$S/lab"
    everything "$S/lab" | diff "$SCRATCH/before" -
    same "$S/lab" "$MNT/runs/lab"
    equal "$(imported 'r["dest"], r["experiments"], r["places"][0]["experiments"], r["places"][0]["steps"]')" \
        "('/runs/lab', 50, 50, [0, 590])"
    cmp "$S/lab/checkpoints/manifest.yaml" "$MNT/runs/lab/checkpoints/manifest.yaml"
    sed -n "s/^  '\?\([0-9a-f]\{24\}\)'\?:$/\1/p" "$S/lab/checkpoints/manifest.yaml" | sort | diff <(ls "$MNT/experiments" | sort) -
    import "$S/lab"
    equal "$(imported 'r["new"], r["space"]["raw"]')" "(0, 0)" "the second time"
}

@test "the branches of a root that is imported are those of a copy, whichever is asked for in between" {
    wl "$S/lab" dump $E1 0 5 10 + pending $E2 + flush + save $E2 15 + load $E1 + dump $E4 5 10
    import "$S/lab" "$MNT"
    equal "$(imported 'r["dest"], r["branches"]')" "('/', ['main', 'main.2'])"
    equal "$(steps main)" "0 5 10 15 "
    equal "$(steps main.2)" "5 10 "
    equal "$(cat "$B/main.2/HEAD")" $E4
    cp -r "$S/lab" "$MNT/copy"
    equal "$(steps copy)" "0 5 10 15 "
    equal "$(steps copy.2)" "5 10 "
}

@test "several roots below a directory come together, and the same one is effective" {
    wl "$S/p/a" dump $E1 0
    wl "$S/p/x/b" dump $E2 5
    import "$S/p" --store "$STORE"
    equal "$(imported 'r["branches"], [p["path"] for p in r["places"]]')" \
        "(['runs.p.a', 'runs.p.x.b'], ['/runs/p/a', '/runs/p/x/b'])"
    leads "$MNT/runs/p/.expfs/latest" "$MNT/runs/p/x/b/checkpoints/models/${E2:8:8}/${E2}_step_000005.pt"
}

@test "a run comes with its times, and its latest is what was saved last there" {
    hf_run "$S/hf"
    ln "$S/hf/checkpoint-200/model.bin" "$S/hf/checkpoint-100/linked.bin"
    ln "$S/hf/checkpoint-200/model.bin" "$S/hf/checkpoint-200/nested/linked.bin"
    ln -s checkpoint-200 "$S/hf/last"
    ln -s /nowhere "$S/hf/outside"
    ln -s round "$S/hf/round"
    truncate -s 40M "$S/hf/holes.bin"
    bytes "$S/hf/end" 5000 3
    dd if="$S/hf/end" of="$S/hf/holes.bin" bs=1M seek=39 conv=notrunc status=none
    mkdir -m 750 "$S/hf/empty"
    chmod 640 "$S/hf/end"
    setfattr -n user.note -v text "$S/hf/end"
    import "$S/hf" "$MNT"
    same "$S/hf" "$MNT/runs/hf"
    equal "$(stat -c %h "$MNT/runs/hf/checkpoint-200/model.bin")" 3
    equal "$(getfattr --only-values -n user.note "$MNT/runs/hf/end")" text
    equal "$(imported 'r["branches"], r["experiments"], r["places"][0]["checkpoints"]')" "(['hf'], 1, 2)"
    ((4000 > $(du -k "$MNT/runs/hf/holes.bin" | cut -f 1)))
    equal "$(steps hf)" "100 200 "
    leads "$B/hf/latest" "$MNT/runs/hf/checkpoint-100"
    equal "$(xattr "$MNT/runs/hf/checkpoint-100" user.expfs.hash)" "$(cat "$B/hf/HEAD")" # though the configuration is newer
    leads "$B/hf/step/200" "$MNT/runs/hf/checkpoint-200"
}

@test "holes are kept of a file that comes from another mount, too" {
    local here=$MNT
    STORE=$SCRATCH/other MNT=$SCRATCH/elsewhere
    mkdir "$MNT"
    store_init
    mount_store
    mkdir "$MNT/runs/r"
    truncate -s 40M "$MNT/runs/r/holes.bin"
    bytes "$S/end" 5000 3
    dd if="$S/end" of="$MNT/runs/r/holes.bin" bs=1M seek=39 conv=notrunc status=none
    import "$MNT/runs/r" "$here/runs/r"
    cmp "$MNT/runs/r/holes.bin" "$here/runs/r/holes.bin"
    ((4000 > $(du -k "$here/runs/r/holes.bin" | cut -f 1)))
}

@test "metrics and other attributes that checkpoints and directories have come with them" {
    hf_run "$S/hf"
    setfattr -n user.expfs.metric.val_loss -v 0.25 "$S/hf/checkpoint-100"
    setfattr -n user.expfs.metric.val_loss -v 0.125 "$S/hf/checkpoint-200"
    setfattr -n user.note -v text "$S/hf"
    setfattr -n user.note -v deep "$S/hf/checkpoint-200/nested"
    import "$S/hf" "$MNT"
    leads "$B/hf/best" "$MNT/runs/hf/checkpoint-200"
    equal "$(getfattr --only-values -n user.note "$MNT/runs/hf" "$MNT/runs/hf/checkpoint-200/nested")" textdeep
    same "$S/hf" "$MNT/runs/hf"
}

@test "bits that lend an owner's rights come with the owner alone" {
    require_user
    umount_store
    mount_store -o allow_other
    chmod 777 "$MNT/runs"
    mkdir -m 2755 "$S/x"
    echo a >"$S/x/run"
    chmod 6755 "$S/x/run"
    import "$S/x" "$MNT"
    equal "$(stat -c '%a %u' "$MNT/runs/x/run" "$MNT/runs/x" | tr '\n' ' ')" "6755 0 2755 0 "
    as_nobody "$EXPFS" import "$S/x" "$MNT/runs/y" >/dev/null 3>&-
    equal "$(stat -c '%a %U' "$MNT/runs/y/run" "$MNT/runs/y" | tr '\n' ' ')" "755 nobody 755 nobody "
}

@test "what is imported counts as older than what was written in the mount, though it comes later and has a higher step" {
    mkdir -p "$MNT/runs/r"
    checkpoint zip "$MNT/runs/r/step_5.pt" 10000 1
    checkpoint zip "$S/step_9.pt" 10000 2
    checkpoint zip "$S/step_7.pt" 10000 3
    old "$S/step_7.pt" 20
    old "$S/step_9.pt" 10
    import "$S" "$MNT/runs/r"
    leads "$B/r/latest" "$MNT/runs/r/step_5.pt"
    rm "$MNT/runs/r/step_5.pt"
    leads "$B/r/latest" "$MNT/runs/r/step_7.pt"
}

@test "of Lightning's runs in one directory each has its own configuration" {
    local n
    for n in 0 1; do
        mkdir -p "$S/pl/lightning_logs/version_$n/checkpoints"
        echo "lr: 0.$n" >"$S/pl/lightning_logs/version_$n/hparams.yaml"
        checkpoint zip "$S/pl/lightning_logs/version_$n/checkpoints/epoch=$n-step=$((n + 1)).ckpt" 10000 $n
        old "$S/pl/lightning_logs/version_$n/hparams.yaml" $((n * 10))
        old "$S/pl/lightning_logs/version_$n/checkpoints/epoch=$n-step=$((n + 1)).ckpt" $((n * 10 + 5))
    done
    import "$S/pl" "$MNT"
    equal "$(imported 'r["experiments"]')" 2
    not equal "$(xattr "$MNT/runs/pl/lightning_logs/version_0/checkpoints/epoch=0-step=1.ckpt" user.expfs.hash)" \
        "$(xattr "$MNT/runs/pl/lightning_logs/version_1/checkpoints/epoch=1-step=2.ckpt" user.expfs.hash)" 2>/dev/null
}

@test "files that are equal to what the store has take no space" {
    bytes "$MNT/d/there" 300000 1
    bytes "$S/equal" 300000 1
    import "$S" "$MNT/copy"
    equal "$(imported 'r["space"]["raw"], r["space"]["stored"] < 100000')" "(300000, True)"
    not equal "$(stat -c %i "$MNT/copy/equal")" "$(stat -c %i "$MNT/d/there")" 2>/dev/null
}

@test "names that an export had to change are as they were, and others stay" {
    mkdir "$S/x"
    echo a >"$S/x/epoch=3%3Aval.log"
    echo b >"$S/x/Best.log"
    echo c >"$S/x/%62est.log"
    echo g >"$S/x/%2Eexpfs-part-mine"
    echo d >"$S/x/100%20done"
    mkdir "$S/x/both"
    echo e >"$S/x/both/a%3Ab"
    echo f >"$S/x/both/a:b"
    import "$S/x" "$MNT"
    equal "$(cd "$MNT/runs/x" && find . -type f | sort | tr '\n' ' ')" \
        "./.expfs-part-mine ./100%20done ./Best.log ./best.log ./both/a%3Ab ./both/a:b ./epoch=3:val.log "
    equal "$(cat "$MNT/runs/x/best.log")" c
    equal "$(imported 'r["given_back"]["count"], r["given_back"]["names"]')" \
        "(3, [{'from': '%2Eexpfs-part-mine', 'to': '.expfs-part-mine'}, \
{'from': '%62est.log', 'to': 'best.log'}, {'from': 'epoch=3%3Aval.log', 'to': 'epoch=3:val.log'}])"
}

@test "no name leads out of the directory that an import makes" {
    mkdir -p "$S/x/.%2E/.%2E/.%2E/out" "$S/x/%2E%2E" "$S/x/..%2Fout"
    echo a >"$S/x/.%2E/.%2E/.%2E/out/file"
    echo b >"$S/x/%2E"
    echo c >"$S/x/%2E%2E/..%2Ffile"
    import "$S/x" "$MNT"
    same "$S/x" "$MNT/runs/x"
    equal "$(ls "$MNT/runs")" x
    not test -e "$SCRATCH/out"
}

@test "what is no file is left out and told, what lies under a name of any bytes comes" {
    require_user
    local name=$'m\xff \n\t:*?"<>|\\.pt'
    mkdir "$S/x" "$S/x/deep"
    echo a >"$S/x/$name"
    printf '%0255d' 0 | xargs -I{} cp "$S/x/$name" "$S/x/deep/{}"
    mkfifo "$S/x/fifo"
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$S/x/socket"
    mknod "$S/x/null" c 1 3
    ln -s . "$S/x/loop"
    ln -s /etc "$S/x/etc"
    mkdir "$S/x/.expfs"
    echo half >"$S/x/.expfs-part-latest.pt"
    mkdir "$S/x/.expfs-old-latest"
    echo half >"$S/x/.deep.import-99e98c6f.part"
    everything "$S/x" >"$SCRATCH/before"
    import "$S/x" "$MNT"
    everything "$S/x" | diff "$SCRATCH/before" -
    imported '"\n".join(sorted(l["path"] + ": " + l["why"] for l in r["left_out"]["paths"]))' | diff - <(
        echo ".deep.import-99e98c6f.part: is what an import that was interrupted left"
        echo ".expfs-old-latest: is what an export that was interrupted left"
        echo ".expfs-part-latest.pt: is what an export that was interrupted left"
        echo ".expfs: is a name that no file in a mount can have"
        echo "fifo: is a FIFO"
        echo "null: is a device"
        echo "socket: is a socket"
    )
    equal "$(cat "$MNT/runs/x/$name")" a
    equal "$(readlink "$MNT/runs/x/loop") $(readlink "$MNT/runs/x/etc")" ". /etc"
    equal "$(ls "$MNT/runs/x/deep")" "$(printf '%0255d' 0)"
}

@test "what cannot be read is told, the rest comes, and the next time what was missing" {
    require_user
    umount_store
    mount_store -o allow_other
    chmod 777 "$MNT/runs"
    hf_run "$S/hf"
    echo secret >"$S/hf/secret"
    chmod 600 "$S/hf/secret" "$S/hf/checkpoint-200/model.bin"
    refused 3 "${AS_NOBODY[@]}" "$EXPFS" import "$S/hf" "$MNT"
    [[ $MESSAGE == *"3 could not be brought as they are"* ]]
    grep -q '^failed    secret: Permission denied' "$SCRATCH/out"
    grep -q '^failed    checkpoint-200: is not whole' "$SCRATCH/out"
    not test -e "$MNT/runs/hf/checkpoint-200" # not without its model
    leads "$B/hf/latest" "$MNT/runs/hf/checkpoint-100"
    chmod 644 "$S/hf/secret" "$S/hf/checkpoint-200/model.bin"
    as_nobody "$EXPFS" import "$S/hf" "$MNT" 3>&-
    diff -r "$S/hf" "$MNT/runs/hf"
    equal "$(steps hf)" "100 200 "
}

@test "a checkpoint of which a directory cannot be read comes when it can, and one without files as it is" {
    require_user
    umount_store
    mount_store -o allow_other
    chmod 777 "$MNT/runs"
    hf_run "$S/hf"
    mkdir -p "$S/hf/checkpoint-300" "$S/hf/checkpoint-400/nested"
    mkfifo "$S/hf/checkpoint-400/fifo"
    chmod 700 "$S/hf/checkpoint-200/nested"
    refused 3 "${AS_NOBODY[@]}" "$EXPFS" import "$S/hf" "$MNT"
    equal "$(ls "$MNT/runs/hf" | tr '\n' ' ')" "checkpoint-100 checkpoint-300 checkpoint-400 config.yaml "
    equal "$(ls "$MNT/runs/hf/checkpoint-400")" nested
    chmod 755 "$S/hf/checkpoint-200/nested"
    rm "$S/hf/checkpoint-400/fifo"
    as_nobody "$EXPFS" import "$S/hf" "$MNT" >/dev/null 3>&-
    same "$S/hf" "$MNT/runs/hf" --no-o --no-g
}

@test "of what is left out under a name of any bytes it is told why" {
    require_user
    umount_store
    mount_store -o allow_other
    chmod 777 "$MNT/runs"
    mkdir -p "$S/x"/$'\xff'/checkpoint-1
    echo a >"$S/x"/$'\xff'/checkpoint-1/model.bin
    chmod 600 "$S/x"/$'\xff'/checkpoint-1/model.bin
    as_nobody "$EXPFS" import "$S/x" "$MNT" --json >"$SCRATCH/imported" 2>/dev/null 3>&- || true
    equal "$(imported 'len(r["left_out"]["paths"]), r["left_out"]["count"]')" "(2, 2)"
}

@test "a file that is written after it was copied is told, as what belongs to it may not fit" {
    mkdir "$S/x"
    bytes "$S/x/loggers.duckdb" 1000 1
    bytes "$S/x/loggers.duckdb.wal" 1000 2
    bytes "$S/x/before" 20000000 3 # comes before them, and takes a while
    while :; do
        echo x >>"$S/x/loggers.duckdb.wal"
    done 3>&- &
    PIDS+=($!)
    wait_until grows "$S/x/loggers.duckdb.wal" 1000
    refused 3 "$EXPFS" import "$S/x" "$MNT"
    grep -Eq '^failed    loggers.duckdb.wal: (is|has been) written ' "$SCRATCH/out"
    not grep -q 'loggers.duckdb:' "$SCRATCH/out"
}

grows() { (($(stat -c %s "$1") > $2)); } # FILE SIZE

@test "a file that is written all the time is told and comes by no half" {
    mkdir "$S/x"
    bytes "$S/x/a.pt" 1000 1
    bytes "$S/x/busy.log" 20000000 2
    python3 -c '
import sys
with open(sys.argv[1], "ab", buffering=0) as f:
    while True: f.write(b"x")' "$S/x/busy.log" 3>&- &
    PIDS+=($!)
    wait_until grows "$S/x/busy.log" 20000000
    refused 3 "$EXPFS" import "$S/x" "$MNT"
    grep -q '^failed    busy.log: is written while it is read' "$SCRATCH/out"
    equal "$(ls -A "$MNT/runs/x")" a.pt
    kill -KILL "${PIDS[0]}"
    wait "${PIDS[0]}" || true
    import "$S/x" "$MNT"
    same "$S/x" "$MNT/runs/x"
}

@test "nothing is written over, and two runs do not become one" {
    hf_run "$S/hf"
    import "$S/hf" "$MNT"
    echo "lr: 0.2" >"$MNT/runs/hf/config.yaml"
    bytes "$S/hf/more.bin" 100 1
    refused 3 "$EXPFS" import "$S/hf" "$MNT"
    [[ $MESSAGE == *"/runs/hf/config.yaml: is there already and differs"* ]]
    not test -e "$MNT/runs/hf/more.bin"
    equal "$(cat "$MNT/runs/hf/config.yaml")" "lr: 0.2"
    cp -p "$S/hf/config.yaml" "$MNT/runs/hf/config.yaml"
    bytes "$MNT/runs/hf/own.bin" 100 2
    refused 3 "$EXPFS" import "$S/hf" "$MNT"
    [[ $MESSAGE == *"/runs/hf: is there already and holds own.bin, which $S/hf does not"* ]]
    import "$S/hf" "$MNT/runs/hf"
    equal "$(imported 'r["new"], r["there"]')" "(1, 7)"
    mkdir "$MNT/runs/other"
    echo file >"$MNT/runs/other/checkpoint-100"
    refused 3 "$EXPFS" import "$S/hf" "$MNT/runs/other"
    equal "$(cat "$MNT/runs/other/checkpoint-100")" file
}

@test "nothing is written through a link, and nothing at all where a file is in the place of a directory" {
    mkdir -p "$S/x/a/b" "$S/x/z" "$SCRATCH/outside" "$MNT/runs/x"
    echo c >"$S/x/a/b/c"
    echo 0 >"$S/x/0"
    ln -s "$SCRATCH/outside" "$MNT/runs/x/a"
    refused 3 "$EXPFS" import "$S/x" "$MNT/runs/x"
    [[ $MESSAGE == *"/runs/x/a: is there already and no directory"* ]]
    equal "$(ls "$SCRATCH/outside" "$MNT/runs/x" | grep -c '[0b]$')" 0
    rm "$MNT/runs/x/a"
    echo file >"$MNT/runs/x/z"
    refused 3 "$EXPFS" import "$S/x" "$MNT/runs/x"
    [[ $MESSAGE == *"/runs/x/z: is there already and no directory"* ]]
    equal "$(ls "$MNT/runs/x")" z
    rm "$MNT/runs/x/z"
    import "$S/x" "$MNT/runs/x"
    same "$S/x" "$MNT/runs/x"
}

@test "a file of the same size and time to the second is the same only with the same content" {
    mkdir "$S/x"
    bytes "$S/x/a.bin" 1000 1
    touch -d @1700000000 "$S/x/a.bin"
    import "$S/x" "$MNT"
    import "$S/x" "$MNT"
    equal "$(imported 'r["there"]')" 1
    bytes "$S/x/a.bin" 1000 2
    touch -d @1700000000 "$S/x/a.bin"
    refused 3 "$EXPFS" import "$S/x" "$MNT"
}

@test "directories of runs become runs, and what is a run itself is not taken apart among them" {
    hf_run "$S/all/a"
    hf_run "$S/all/b"
    mkdir -p "$MNT/mine/own"
    chmod 700 "$S/all"
    import "$S/all" "$MNT/runs"
    equal "$(imported 'r["branches"]')" "['a', 'b']"
    import "$S/all" "$MNT/mine"
    import "$S/all" "$MNT/new"
    equal "$(stat -c %a "$MNT/runs" "$MNT/mine" "$MNT/new" | tr '\n' ' ')" "755 755 700 " # of what was there the owner decides
    refused 3 "$EXPFS" import "$S/all/a" "$MNT/runs"
    [[ $MESSAGE == *"name one in it, as in: $MNT/runs/NAME"* ]]
}

@test "what does not fit is refused before anything is written" {
    require_loop
    umount_store
    loop_disk small 40
    "$EXPFS" init "$SCRATCH/small/store"
    "$EXPFS" mount "$SCRATCH/small/store" "$MNT" 3>&-
    bytes "$S/big.bin" 60000000 1
    refused 3 "$EXPFS" import "$S" "$MNT"
    [[ $MESSAGE == *"are needed and"*"are free"* ]]
    equal "$(ls "$MNT/runs")" ""
    truncate -s 0 "$S/big.bin"
    truncate -s 60000000 "$S/big.bin"
    import "$S" "$MNT"
    "$EXPFS" umount "$MNT" 3>&-
}

@test "two imports into one directory do not meet" {
    hf_run "$S/hf"
    mkdir "$MNT/runs/hf"
    exec 8<"$MNT/runs/hf"
    flock 8
    refused 3 "$EXPFS" import "$S/hf" "$MNT/runs/hf"
    [[ $MESSAGE == *"another import at or below it is at work"* ]]
    exec 8<&-
    exec 8<"$MNT/runs"
    flock -s 8 # as an import into a directory below has it
    refused 3 "$EXPFS" import "$S" "$MNT/runs"
    import "$S/hf" "$MNT/runs/hf"
    flock 8
    refused 3 "$EXPFS" import "$S/hf" "$MNT/runs/new"
    exec 8<&-
}

# No checkpoint that is seen lacks a file, and none is torn.
whole() {
    local dir
    for dir in "$MNT"/runs/hf/checkpoint-*; do
        [[ ! -e $dir ]] || diff -r "$S/hf/${dir##*/}" "$dir"
    done
    for dir in "$MNT"/runs/hf/step_*.pt; do
        [[ ! -e $dir ]] || cmp "$S/hf/${dir##*/}" "$dir"
    done
}

@test "what a killed import made of a checkpoint that is another by now does not come" {
    mkdir -p "$S/x/checkpoint-7/sub" "$S/x/checkpoint-7/turns" "$S/x/checkpoint-8"
    bytes "$S/x/checkpoint-7/model.bin" 20000 1
    bytes "$S/x/checkpoint-7/sub/gone" 100 2
    bytes "$S/x/checkpoint-7/turns/in" 100 3
    bytes "$S/x/checkpoint-7/kept.bin" 20000 4
    echo '{}' >"$S/x/checkpoint-7/trainer_state.json"
    import "$S/x" "$MNT"
    mv "$MNT/runs/x/checkpoint-7" "$MNT/runs/x/.checkpoint-7.import-2534f3f3.part" # as it is while it is made
    rm -r "$S/x/checkpoint-7/sub" "$S/x/checkpoint-7/turns"
    echo file >"$S/x/checkpoint-7/turns"
    bytes "$S/x/checkpoint-7/model.bin" 20000 5
    local kept
    kept=$(stat -c %i "$MNT/runs/x/.checkpoint-7.import-2534f3f3.part/kept.bin")
    import "$S/x" "$MNT"
    same "$S/x" "$MNT/runs/x"
    equal "$(stat -c %i "$MNT/runs/x/checkpoint-7/kept.bin")" "$kept" # it goes on
}

@test "an import that is killed leaves no half checkpoint, and the next one goes on to the same tree" {
    hf_run "$S/hf"
    local i rounds=8
    long && rounds=100
    for i in $(seq 1 12); do
        mkdir "$S/hf/checkpoint-$i"
        bytes "$S/hf/checkpoint-$i/model.bin" 3000000 "$i"
        bytes "$S/hf/checkpoint-$i/rest.bin" 100000 "$i$i"
        echo '{}' >"$S/hf/checkpoint-$i/trainer_state.json"
        checkpoint zip "$S/hf/step_$i.pt" 1000000 "$i"
    done
    ln "$S/hf/checkpoint-3/model.bin" "$S/hf/checkpoint-4/linked.bin"
    for i in $(seq 1 $rounds); do
        timeout -s KILL "0.0$((RANDOM % 90 + 10))" "$EXPFS" import "$S/hf" "$MNT" >/dev/null 2>&1 3>&- || true
        whole
        ((i % 3)) || remount
    done
    import "$S/hf" "$MNT"
    same "$S/hf" "$MNT/runs/hf"
    equal "$(steps hf)" "1 2 3 4 5 6 7 8 9 10 11 12 100 200 "
    equal "$(find "$MNT/runs/hf" -name '*.part')" ""
    remount
    same "$S/hf" "$MNT/runs/hf"
}
