# Where the space goes: expfs du.

load lib

setup() { mount_run; }
teardown() { cleanup; }

# du_of EXPRESSION OPERAND...: of the answer a; e is its entries by path and kind ("/runs files", "/runs/r")
du_of() {
    "$EXPFS" du "${@:2}" --json | python3 -c 'import json, sys
a = json.load(sys.stdin)
e = {x["path"] + ("" if x["kind"] == "path" else " " + x["kind"]): x for x in a["entries"]}
print(eval(sys.argv[1]))' "$1"
}

@test "du tells what each directory has, what it shares, and what only history holds" {
    mkdir "$MNT/runs/s" "$R/sub"
    bytes "$R/log.txt" 100000 1
    cp "$R/log.txt" "$MNT/runs/s/copy.txt"
    bytes "$R/sub/own.txt" 200000 2
    checkpoint zip "$R/step_1.pt" 300000 3
    checkpoint zip "$R/step_1.pt" 300000 4
    equal "$(du_of 'e["/runs/r"]["raw"] // 10000, e["/runs/r"]["unique"] // 10000, e["/runs/s"]["raw"]' "$MNT/runs")" "(60, 90, 100000)"
    equal "$(du_of 'e["/runs/r"]["own"] // 100000, e["/runs/r"]["history"] // 100000, e["/runs/s"]["own"]' "$MNT/runs")" "(8, 3, 0)"
    equal "$(du_of 'a["total"]["raw"] // 10000, a["total"]["unique"] // 10000, a["total"]["own"] == a["total"]["stored"]' "$MNT/runs")" "(70, 90, True)"
    equal "$(du_of '[x["path"] for x in a["entries"]]' "$R")" "['/runs/r', '/runs/r/sub']"
    equal "$(du_of 'e["/runs/r files"]["files"], e["/runs/r/sub"]["raw"]' "$R")" "(2, 200000)"
    equal "$(du_of 'e["/runs/r/step_1.pt"]["history"] == e["/runs/r/step_1.pt"]["own"] / 2, e["/runs/r/log.txt"]["own"]' "$R"/*)" "(True, 0)"
    "$EXPFS" du "$MNT/runs" >"$SCRATCH/out"
    grep -Eq '^ 5[0-9.]+ KiB   8[0-9.]+ KiB .* /runs/r$' "$SCRATCH/out"
    grep -Eq 'total$' "$SCRATCH/out"
    not grep -q 'its files' "$SCRATCH/out"
}

@test "the total of du is what status says, mounted or not" {
    local total='a["total"]["raw"], a["total"]["unique"], a["total"]["stored"], a["total"]["files"]' wanted
    bytes "$D/a" 100000 1
    ln "$D/a" "$D/b"
    cp "$D/a" "$R/c"
    checkpoint zip "$R/step_1.pt" 50000 3
    checkpoint zip "$R/step_1.pt" 50000 4
    mkdir "$R/checkpoint-5"
    checkpoint zip "$R/checkpoint-5/model.bin" 30000 5
    touch "$R/checkpoint-5/trainer_state.json"
    readlink "$MNT/branches/r/latest"
    rm -r "$R/checkpoint-5"
    exec 4>"$D/open"
    head -c 20000 /dev/zero >&4
    : >"$D/empty"
    wanted="($(space raw), $(space unique), $(space stored), 5)"
    equal "$(du_of "$total" "$MNT")" "$wanted"
    equal "$(du_of 'e["/runs/r removed"]["history"] // 1000' "$R")" 32
    exec 4>&-
    wanted="($(space raw), $(space unique), $(space stored), 5)"
    umount_store
    equal "$(du_of "$total" --store "$STORE")" "$wanted"
    equal "$(du_of 'e["/runs/r/checkpoint-5"]["files"], e["/runs/r/checkpoint-5"]["history"] // 1000' --store "$STORE" runs/r/checkpoint-5)" "(0, 32)"
}

@test "a file with another name elsewhere, and an open one without a name, are nobody's own" {
    bytes "$D/a" 100000 1
    mkdir "$D/x" "$D/y"
    mv "$D/a" "$D/x/a"
    ln "$D/x/a" "$D/y/a"
    equal "$(du_of 'e["/d/x"]["own"], e["/d/y"]["own"], a["total"]["own"] // 10000, a["total"]["files"]' "$D")" "(0, 0, 10, 1)"
    rm "$D/y/a"
    equal "$(du_of 'e["/d/x"]["own"] // 10000' "$D")" 10
    cp "$D/x/a" "$D/y/gone"
    exec 4<"$D/y/gone"
    rm "$D/y/gone"
    equal "$(du_of 'e["/d/x"]["own"]' "$D")" 0
    exec 4>&-
}

@test "du of what never was is no, of another store wrong usage" {
    refused 1 "$EXPFS" du "$MNT/nothing"
    equal "$MESSAGE" "expfs: /nothing: is not there, and has no history; see: expfs status"
    store_init "$SCRATCH/other"
    mkdir "$SCRATCH/mnt2"
    "$EXPFS" mount "$SCRATCH/other" "$SCRATCH/mnt2" 3>&-
    refused 2 "$EXPFS" du "$MNT" "$SCRATCH/mnt2"
    "$EXPFS" umount "$SCRATCH/mnt2"
}
