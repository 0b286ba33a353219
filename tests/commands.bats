# What the commands print, and mount(8)'s helper.

load lib

setup() {
    scratch
    store_init
    require_command python3
}
teardown() { cleanup; }

# field EXPRESSION: of the answer r of status --json for the store
field() { "$EXPFS" status --store "$STORE" --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

@test "a mistyped command is told with the one that is near" {
    refused 2 "$EXPFS" mont
    [[ $MESSAGE == *"did you mean mount?" ]] || fail "$MESSAGE"
    refused 2 "$EXPFS" statsu
    [[ $MESSAGE == *"did you mean status?" ]] || fail "$MESSAGE"
    refused 2 "$EXPFS" xyzzy
    [[ $MESSAGE != *mean* ]] || fail "$MESSAGE"
    refused 2 "$EXPFS"
}

@test "a mistyped option is told with the one that is near" {
    refused 2 "$EXPFS" status --jsn
    equal "$MESSAGE" "expfs: status: --jsn: no such option; did you mean --json?"
    refused 2 "$EXPFS" select x --agianst=y
    equal "$MESSAGE" "expfs: select: --agianst=y: no such option; did you mean --against?"
    refused 2 "$EXPFS" mount --jsom
    equal "$MESSAGE" "expfs: mount: --jsom: no such option; did you mean --json?"
    refused 2 "$EXPFS" status --xyzzy
    equal "$MESSAGE" "expfs: status: --xyzzy: no such option; see: expfs help status"
    refused 2 "$EXPFS" status --json=yes
    equal "$MESSAGE" "expfs: status: --json: takes no value; see: expfs help status"
    refused 2 "$EXPFS" status --store
    equal "$MESSAGE" "expfs: status: --store: wants a value; see: expfs help status"
}

@test "an option with one dash too few is told with two" {
    refused 2 "$EXPFS" branch new -from r --store "$STORE"
    equal "$MESSAGE" "expfs: branch: -from: no such option; did you mean --from?"
    refused 2 "$EXPFS" select x -name=y
    equal "$MESSAGE" "expfs: select: -name=y: no such option; did you mean --name?"
    refused 2 "$EXPFS" mount -json
    equal "$MESSAGE" "expfs: mount: -json: no such option; did you mean --json?"
    refused 2 "$EXPFS" status -x
    equal "$MESSAGE" "expfs: status: -x: no such option; see: expfs help status"
}

@test "--help and -h among the options of a command show its help, behind -- they are names" {
    local words
    for words in "status --help" "status -h" "status . --json --help" "mount -f -h" "init --help" "help status"; do
        equal "$("$EXPFS" $words | head -n 1 | cut -d ' ' -f 1,3)" "expfs $([[ $words == mount* ]] && echo '[STORE' || echo "[PATH]")" "$words" ||
            [[ $words == init* ]]
    done
    equal "$("$EXPFS" --help)" "$("$EXPFS" help)"
    equal "$("$EXPFS" -h)" "$("$EXPFS" help)"
    refused 3 "$EXPFS" show --store "$STORE/x" -- --help
}

@test "branch says of a --from that is no UTF-8 that it is none, not of the new name" {
    refused 2 "$EXPFS" branch new --from $'\xff' --store "$STORE"
    [[ $MESSAGE == *"--from"* ]] || fail "$MESSAGE"
}

# advises EXIT ARG...: exits so, with one line that names something, the reason and what to do
advises() {
    refused "$1" "$EXPFS" "${@:2}"
    [[ $MESSAGE == *": "*"; "?* || $MESSAGE == *": "*"did you mean"* ]] || fail "no advice: $MESSAGE"
}

@test "what is refused is refused with what to do about it" {
    mount_store
    mkdir -p "$MNT/runs/a"
    echo 'lr: 1' >"$MNT/runs/a/config.yaml"
    checkpoint zip "$MNT/runs/a/step_1.pt" 1000 1
    checkpoint torn-zip "$MNT/runs/a/step_2.pt" 1000 2
    advises 1 umount "$SCRATCH/absent"
    advises 1 umount "$SCRATCH"
    advises 1 umount "$MNT/runs"
    advises 3 mount "$STORE" "$SCRATCH/absent"
    advises 3 mount "$STORE" "$MNT"
    advises 3 status "$SCRATCH/absent/x"
    advises 3 status --store "$SCRATCH"
    advises 3 show "$STORE/log"
    advises 1 log nobranch --store "$STORE"
    advises 1 log "$MNT/nopath"
    advises 1 commit nobranch --store "$STORE"
    advises 1 load 0123456789ab nobranch --store "$STORE"
    advises 2 load xyz a --store "$STORE"
    advises 1 branch new --from nobranch --store "$STORE"
    advises 2 branch .new --from a --store "$STORE"
    advises 1 history "$MNT/nopath"
    advises 1 show 0123456789ab --store "$STORE"
    advises 1 forget "$MNT/runs/a/config.yaml@7"
    advises 1 restore "$MNT/runs/a/config.yaml@7"
    advises 1 select "$MNT/runs/a/step_2.pt"
    advises 1 verify "$MNT/runs/a/config.yaml"
    advises 1 decide nothing ACCEPT --by me --store "$STORE"
    advises 1 signal a nocurve --store "$STORE"
    advises 2 diff "$MNT/runs/a/config.yaml" "$MNT/runs/a/step_1.pt"
    advises 1 du "$MNT/nopath"
    advises 3 fsck "$SCRATCH/absent"
    advises 3 init "$SCRATCH"
}

@test "every help fits a screen" {
    local c
    for c in "" $("$EXPFS" help | awk '{ for (i = 1; i < 80; i += 40) if (substr($0, i, 11) ~ /^  [a-z]+ *$/) print substr($0, i, 11) }' | sort); do
        "$EXPFS" help $c >"$SCRATCH/out"
        (($(wc -l <"$SCRATCH/out") <= 24)) || fail "expfs help $c is longer than a screen"
        (($(wc -L <"$SCRATCH/out") <= 80)) || fail "expfs help $c is wider than a screen"
        [[ -z $c || $(head -n 1 "$SCRATCH/out") == "expfs $c"* ]] || fail "expfs help $c: $(cat "$SCRATCH/out")"
    done
    equal "$c" version "the last command"
    "$EXPFS" help | awk 'NR > 2 && (length(substr($0, 1, 40)) == 40 && substr($0, 39, 1) != " " || length($0) > 78) && !/^expfs/' >"$SCRATCH/out"
    [[ ! -s $SCRATCH/out ]] || fail "a summary is cut off: $(cat "$SCRATCH/out")"
}

@test "verify and diff say what becomes of a file outside of the mount, and a mount is not taken for a store" {
    mount_store
    checkpoint zip "$MNT/step_1.pt" 10000 1
    cp "$MNT/step_1.pt" "$SCRATCH/out.pt"
    refused 3 "$EXPFS" verify "$SCRATCH/out.pt" --against "$MNT/step_1.pt"
    equal "$MESSAGE" "expfs: $SCRATCH/out.pt: is in no expfs mount; a file outside is what a checkpoint is held against: expfs verify CHECKPOINT --against FILE"
    refused 3 "$EXPFS" diff "$MNT/step_1.pt" "$SCRATCH/out.pt"
    [[ $MESSAGE == "expfs: $SCRATCH/out.pt: is in no expfs mount; diff compares what a store has; "*"expfs verify CHECKPOINT --against FILE" ]] || fail "$MESSAGE"
    refused 3 "$EXPFS" show "$SCRATCH/out.pt"
    equal "$MESSAGE" "expfs: $SCRATCH/out.pt: is in no expfs mount; a store is named by --store"
    refused 3 "$EXPFS" log --store "$MNT"
    equal "$MESSAGE" "expfs: $MNT: is in the mount $MNT of a store; name the store: $STORE"
    refused 3 "$EXPFS" fsck "$MNT"
    equal "$MESSAGE" "expfs: $MNT: is in the mount $MNT of a store; name the store: $STORE"
    mkdir "$SCRATCH/plain"
    refused 3 "$EXPFS" log --store "$SCRATCH/plain"
    [[ $MESSAGE == *"is not a store; make one with: expfs init STORE" ]] || fail "$MESSAGE"
}

@test "a path where nothing is mounted, and one in a store itself, are told as what they are by every command" {
    local c point="nothing is mounted on $MNT; mount the store: expfs mount STORE $MNT"
    for c in status du log history forget show verify select commit signal "load abcd"; do
        # shellcheck disable=SC2086 # several words
        refused 3 "$EXPFS" $c "$MNT/runs/a"
        equal "$MESSAGE" "expfs: $MNT/runs/a: $point, or name it by --store"
    done
    refused 3 "$EXPFS" verify "$MNT"
    equal "$MESSAGE" "expfs: $MNT: $point, or name it by --store"
    refused 3 "$EXPFS" restore "$MNT/runs/a"
    equal "$MESSAGE" "expfs: $MNT/runs/a: $point"
    refused 3 "$EXPFS" status "$STORE"
    equal "$MESSAGE" "expfs: $STORE: is a store, no mount of it; mount it: expfs mount $STORE MNT, or give it so: --store $STORE"
    refused 3 "$EXPFS" history "$STORE/objects/none"
    [[ $MESSAGE == "expfs: $STORE/objects/none: lies in a store, no mount of it; mount it: "* ]] || fail "$MESSAGE"
    mount_store
    refused 3 "$EXPFS" log "$STORE/"
    [[ $MESSAGE == "expfs: $STORE/: "*" a store, no mount of it; give a path in its mount, $MNT, or: --store $STORE" ]] || fail "$MESSAGE"
    refused 3 "$EXPFS" status "$MNT/nothing"
    [[ $MESSAGE == "expfs: $MNT/nothing: No such file or directory; "* ]] || fail "$MESSAGE"
    cd "$MNT"
    refused 3 "$EXPFS" status first
    equal "$MESSAGE" "expfs: status: first: there is no such path here; of a branch tells: expfs log first"
}

@test "branches stand in columns, one of a thing is told as one, and reals in JSON are the shortest that say the same" {
    mount_store
    mkdir -p "$MNT/runs/ä" "$MNT/runs/longer"
    echo 'lr: 0.1' >"$MNT/runs/ä/config.yaml"
    checkpoint zip "$MNT/runs/longer/step_1.pt" 1000 1
    echo '{"step": 1, "val_loss": 0.1, "loss": 1e-07, "acc": 100.0, "big": 1e22, "odd": 0.30000000000000004}' >"$MNT/runs/longer/metrics.jsonl"
    "$EXPFS" commit "$MNT/runs/ä" >/dev/null 3>&-
    equal "$("$EXPFS" branch --store "$STORE" 3>&- | python3 -c 'import sys; print({l.index("  /runs") if "/runs" in l else l.index("  no checkpoint") for l in sys.stdin})')" "{32}"
    "$EXPFS" signal longer --store "$STORE" --json 3>&- >"$SCRATCH/json"
    equal "$(grep -o '[0-9.e+-]*$' "$SCRATCH/json" | grep '[.e]' | tr '\n' ' ')" "100.0 1e+22 1e-07 0.30000000000000004 0.1 "
    grep -q '"value": 0.1$' "$MNT/.expfs/status.json"
    equal "$("$EXPFS" forget "$MNT/runs/ä/config.yaml@1" 2>&1 3>&- | wc -l)" 1
    umount_store
    "$EXPFS" fsck "$STORE" | grep -q ', 1 content, \|, [02-9] contents, '
}

@test "an answer that cannot be written gives 3" {
    local status=0
    "$EXPFS" help >/dev/full 2>"$SCRATCH/err" || status=$?
    equal $status 3
    grep -q '^expfs: standard output: ' "$SCRATCH/err"
}

@test "status names each branch with its newest complete checkpoint" {
    mount_store
    mkdir -p "$MNT/runs/a" "$MNT/runs/b"
    checkpoint zip "$MNT/runs/a/step_9.pt" 10000 1
    checkpoint zip "$MNT/runs/a/step_10.pt" 10000 2
    checkpoint torn-zip "$MNT/runs/a/step_11.pt" 10000 3
    checkpoint zip "$MNT/runs/b/last.pt" 10000 4
    equal "$(field '[(b["name"], b["run"], b["latest"]) for b in r["branches"]]')" \
        "[('a', '/runs/a', {'path': '/runs/a/step_10.pt', 'step': 10}), ('b', '/runs/b', {'path': '/runs/b/last.pt', 'step': None})]"
    equal "$(field '[(w["kind"], w["path"]) for w in r["warnings"]]')" "[('torn', '/runs/a/step_11.pt')]"
    "$EXPFS" status "$MNT" >"$SCRATCH/out"
    grep -q 'a: /runs/a/step_10.pt, step 10$' "$SCRATCH/out"
    grep -q 'torn: /runs/a/step_11.pt ' "$SCRATCH/out"
    "$EXPFS" status "$MNT/runs/b" >"$SCRATCH/out"
    not grep -q '/runs/a' "$SCRATCH/out"
    grep -q '/runs/b/last.pt' "$SCRATCH/out"
}

@test "status warns of two names for one step, and not of a file that is being written" {
    mount_store
    mkdir -p "$MNT/runs/a"
    checkpoint zip "$MNT/runs/a/step_0900.pt" 10000 1
    checkpoint zip "$MNT/runs/a/step_900.pt" 10000 2
    checkpoint zip "$MNT/runs/a/model_step_9.pt" 10000 3
    checkpoint zip "$MNT/runs/a/optim_step_9.pt" 10000 4
    exec 4>"$MNT/runs/a/step_901.pt"
    echo some >&4
    equal "$(field '[w["kind"] for w in r["warnings"]]')" "['duplicate-step']"
    exec 4>&-
    equal "$(field 'sorted(w["kind"] for w in r["warnings"])')" "['duplicate-step']"
}

@test "status counts equal contents once and takes sizes of open files from where they are" {
    mount_store
    bytes "$D/a" 1000000 1
    cp "$D/a" "$D/b"
    exec 4>"$D/open"
    head -c 500000 "$D/a" >&4
    equal "$(field 'r["space"]["raw"], r["space"]["unique"], r["counts"]["files"], r["counts"]["objects"]')" "(2500000, 1500000, 3, 2)"
    (($(space stored) >= 1500000 && $(space stored) < 1600000)) || fail "stored: $(space stored)"
    exec 4>&-
}

@test "a configuration with a mistake is told by mount and status, and the mount works" {
    printf 'runs: ["/exp/*"\n' >"$STORE/config.yaml"
    mount_store
    grep -q '^expfs: .*config.yaml: line ' "$SCRATCH/mount.out"
    equal "$(field '[w["kind"] for w in r["warnings"]]')" "['config']"
    umount_store
    printf 'runs: ["/exp/*"]\n' >"$STORE/config.yaml"
    mount_store
    [[ ! -s $SCRATCH/mount.out ]]
    mkdir -p "$MNT/exp/x"
    checkpoint zip "$MNT/exp/x/last.pt" 1000 1
    equal "$(field '[b["run"] for b in r["branches"]], r["warnings"]')" "(['/exp/x'], [])"
}

is_idle() { [[ $(field 'sum(r["background"].values())') == 0 ]]; }

@test "status tells what waits for work in the background, and nothing where nothing does" {
    mount_store
    wait_until is_idle
    equal "$(field 'sorted(r["background"])')" "['due', 'events', 'moved', 'removals', 'unjudged', 'unread', 'unsynced', 'untold']"
    equal "$(field 'sum(r["background"].values())')" 0
    mkdir "$MNT/runs/a/checkpoint-1" -p
    checkpoint zip "$MNT/runs/a/checkpoint-1/model.bin" 1000 1 # more files may come
    equal "$(field 'r["background"]["unjudged"], r["background"]["due"]')" "(1, 0)"
    touch "$MNT/runs/a/checkpoint-1/trainer_state.json"
    wait_until is_idle
}

@test "status of a path in a bind mount is that of its place in the store" {
    require_root
    mount_store
    mkdir -p "$MNT/runs/a/sub" "$MNT/runs/b" "$SCRATCH/bind"
    echo x >"$MNT/runs/a/last.pt"
    echo x >"$MNT/runs/b/last.pt"
    mount --bind "$MNT/runs/a" "$SCRATCH/bind"
    "$EXPFS" status "$SCRATCH/bind/sub" >"$SCRATCH/out" || true
    umount "$SCRATCH/bind"
    grep -q '/runs/a/last.pt' "$SCRATCH/out"
    not grep -q '/runs/b' "$SCRATCH/out"
}

@test "names that could disturb a terminal do not" {
    mount_store
    mkdir "$MNT/runs/"$'evil\033[31m\n\xff'
    echo x >"$MNT/runs/"$'evil\033[31m\n\xff/last.pt'
    "$EXPFS" status "$MNT" >"$SCRATCH/out"
    not grep -q $'\033' "$SCRATCH/out"
    grep -q 'evil?\[31m?\\xff' "$SCRATCH/out"
    "$EXPFS" status "$MNT" --json | python3 -c 'import json, sys; json.load(sys.stdin)'
}

not_here() { [[ $(readlink "/proc/$1/ns/mnt") != $(readlink /proc/self/ns/mnt) ]]; }

# umount_waits TEXT COMMAND...: umount says so and waits until the command was run
umount_waits() {
    local umount text=$1
    shift
    "$EXPFS" umount "$MNT" 2>"$SCRATCH/err" 3>&- &
    umount=$!
    wait_until grep -q "$text" "$SCRATCH/err"
    kill -0 "$umount"
    "$@"
    wait "$umount"
    equal "$(wc -l <"$SCRATCH/err")" 1
}

@test "umount waits for a daemon that is not done, and says so" {
    require_root
    mount_store
    local pid
    pid=$(daemon_pid)
    mkdir "$SCRATCH/ns"
    mount --bind "$SCRATCH/ns" "$SCRATCH/ns"
    mount --make-private "$SCRATCH/ns"
    touch "$SCRATCH/ns/file"
    unshare --mount="$SCRATCH/ns/file" --propagation private true # keeps a copy of the mount, and nobody is in there
    umount_waits "$MNT: is unmounted; waiting for the daemon, process $pid, to end" umount "$SCRATCH/ns/file"
    umount "$SCRATCH/ns"
    no_process "$pid"
}

@test "umount says where else the file system is mounted, if that is what it waits for" {
    require_root
    mount_store
    mkdir "$SCRATCH/second"
    mount --bind "$MNT" "$SCRATCH/second"
    umount_waits "$MNT: is unmounted, but mounted in another place too; waiting; unmount it there: findmnt -S $STORE" umount "$SCRATCH/second"
}

@test "umount names a process for which the mount is there still, if that is what it waits for" {
    require_root
    mount_store
    background unshare -m --propagation private sleep 600 # keeps a copy of the mount
    wait_until not_here "$BG"
    local pid
    pid=$(daemon_pid)
    umount_waits "$MNT: is unmounted here, but not for process $BG (sleep), which" kill "$BG"
    no_process "$pid"
}

@test "the log of the store is put aside when it has grown" {
    head -c 1100000 /dev/zero >"$STORE/log"
    mount_store
    equal "$(stat -c %s "$STORE/log.1")" 1100000
    grep -q "mounted on $MNT" "$STORE/log"
    umount_store
    grep -q ended "$STORE/log"
}

@test "mount.expfs -o remount changes what the kernel lets through, and back" {
    require_root
    mount_store
    ln -s "$(realpath "$EXPFS")" "$SCRATCH/mount.expfs"
    "$SCRATCH/mount.expfs" "$STORE" "$MNT" -o rw,remount,ro
    equal "$(errno_of touch "$D/f")" "Read-only file system"
    "$SCRATCH/mount.expfs" "$STORE" "$MNT" -o ro,remount,rw
    touch "$D/f"
}

@test "status says that a mount is read-only as long as the kernel or the store lets nothing through" {
    require_root
    mount_store -o ro
    is_read_only
    equal "$(errno_of mkdir "$D")" "Read-only file system"
    ln -s "$(realpath "$EXPFS")" "$SCRATCH/mount.expfs"
    "$SCRATCH/mount.expfs" "$STORE" "$MNT" -o ro,remount,rw
    not is_read_only
    mkdir "$D"
    echo x >"$D/f"
    "$SCRATCH/mount.expfs" "$STORE" "$MNT" -o rw,remount,ro
    is_read_only
    equal "$(errno_of touch "$D/g")" "Read-only file system"
    equal "$(cat "$D/f")" x
    remount
    not is_read_only
    equal "$(cat "$D/f")" x
}

is_read_only() { "$EXPFS" status "$MNT" --json 3>&- | python3 -c 'import json, sys; sys.exit(not json.load(sys.stdin)["read_only"])'; }

@test "a mount right after umount(8) waits for the daemon of the one before" {
    require_root
    mount_store
    local i
    for i in 1 2 3 4 5; do
        head -c 20000000 /dev/urandom >"$D/f$i"
        umount "$MNT"
        mount_store
    done
}

@test "mount.expfs takes what mount(8) and fstab give it" {
    local helper=$SCRATCH/mount.expfs options
    ln -s "$(readlink -f "$EXPFS")" "$helper"
    for options in rw defaults,nofail,_netdev,x-systemd.automount noatime,user=me,comment=this,relatime; do
        "$helper" "$STORE" "$MNT" -n -v -s -o "$options" </dev/null >"$SCRATCH/mount.out" 2>&1 3>&- || fail "$options: $(cat "$SCRATCH/mount.out")"
        is_mounted "$MNT"
        umount_store
    done
    "$helper" "$STORE" "$MNT" -r -o noexec </dev/null 3>&-
    grep " $MNT ro,.*noexec" /proc/self/mountinfo
    umount_store
    "$helper" -f "$STORE" "$MNT"
    not is_mounted "$MNT"
    refused 1 "$helper" "$STORE" "$MNT" -o nonsense
    refused 1 "$helper" "$STORE"
    refused 32 "$helper" "$SCRATCH/absent" "$MNT"
}

@test "a line of /proc/mounts mounts a store when it is copied into fstab" {
    require_root
    local helper=$SCRATCH/mount.fuse.expfs options
    ln -s "$(readlink -f "$EXPFS")" "$helper"
    mount_store -o allow_other
    options=$(awk -v p="$MNT" '$2 == p { print $4 }' /proc/mounts)
    [[ $options == *user_id=0* ]]
    umount_store
    "$helper" "$STORE" "$MNT" -t fuse.expfs -o "$options" </dev/null 3>&-
    is_mounted "$MNT"
    umount_store
    refused 2 "$EXPFS" "$STORE" "$MNT" -o "$options"
    equal "$MESSAGE" "expfs: $STORE: is a store, no command; to mount it: expfs mount $STORE MNT; mount(8) and fstab know it by the type expfs"
}
