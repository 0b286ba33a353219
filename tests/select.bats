# Selections: what is frozen, what its record says, and what takes it as an argument.

load lib
load selections

@test "select freezes what a checkpoint holds, and records what it is" {
    save step_9.safetensors nine
    selects step_9.safetensors --metric val_loss=0.25 --source 8f3e2a1 --software torch=2.13.0 --software numpy=2.3
    equal "$(answered 's["name"], s["branch"], s["path"], s["version"], s["current"], s["held"]')" \
        "('best', 'r', '/runs/r/step_9.safetensors', 1, True, True)"
    equal "$(answered 's["step"], s["metric"], s["source"], s["software"]')" \
        "(9, {'name': 'val_loss', 'value': 0.25}, '8f3e2a1', {'torch': '2.13.0', 'numpy': '2.3'})"
    equal "$(answered 's["sha256"]')" "$(sha256sum "$R/step_9.safetensors" | cut -d' ' -f 1)"
    equal "$(answered 's["capture"], s["captured_at"] <= s["completed_at"] <= s["selected_at"]')" "('in place', True)"
    equal "$(answered 's["experiment"]')" "$(cat "$MNT/branches/r/HEAD")"
    wait_read step_9.safetensors
    equal "$(answered 's["model"]')" "$("$EXPFS" show "$R/step_9.safetensors" --json 3>&- | field 'r["weights"]["model"]')"
    cmp "$MNT$(answered 's["found"]')" "$R/step_9.safetensors"
}

@test "the digest of the tensors is what a program makes of them by itself" {
    require_command xxh128sum
    save step_9.safetensors nine
    selects step_9.safetensors
    equal "$(answered 's["tensors"]')" "$(python3 - "$R/step_9.safetensors" <<'P'
import hashlib, json, struct, subprocess, sys
f = open(sys.argv[1], "rb").read()
n = struct.unpack("<Q", f[:8])[0]
names = {"U8": "uint8"}
def xxh3(data):
    return subprocess.run("xxh128sum", input=data, stdout=subprocess.PIPE).stdout.split()[0].decode()
lines = []
for name, t in json.loads(f[8:8 + n]).items():
    if name == "__metadata__":
        continue
    a, b = t["data_offsets"]
    lines.append((name, "%s %s %s  %s\n" % (xxh3(f[8 + n + a:8 + n + b]), names[t["dtype"]], ",".join(map(str, t["shape"])), name)))
print(hashlib.sha256("".join(l for _, l in sorted(lines)).encode()).hexdigest())
P
)"
}

@test "of a directory the SHA-256 is that of its files' sums, as sha256sum prints them" {
    save_dir checkpoint-10 ten
    selects checkpoint-10
    equal "$(answered 's["sha256"]')" "$(cd "$R/checkpoint-10" && find . -type f -printf '%P\n' | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d' ' -f 1)"
    equal "$(answered 's["step"], s["model"] != None, s["tensors"] != None')" "(10, True, True)"
    rm -r "$R/checkpoint-10"
    (cd "$R" && "$EXPFS" restore best "$SCRATCH/back" 3>&-)
    equal "$(cd "$SCRATCH/back" && find . -type f -printf '%P\n' | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d' ' -f 1)" "$(answered 's["sha256"]')"
}

@test "how a checkpoint came to its path is told" {
    save step_1.safetensors one
    save two.safetensors two "$SCRATCH"
    cp "$SCRATCH/two.safetensors" "$R/step_2.tmp"
    mv "$R/step_2.tmp" "$R/step_2.safetensors"
    save step_3.safetensors three
    mv "$R/step_3.safetensors" "$R/moved.safetensors"
    ln "$R/step_1.safetensors" "$R/link.safetensors"
    save four.safetensors four "$SCRATCH"
    cp "$SCRATCH/four.safetensors" "$R/step_4.tmp"
    ln "$R/step_4.tmp" "$R/step_4.safetensors"
    cp "$R/step_1.safetensors" "$R/copy.safetensors"
    save over.safetensors one_more
    save over.safetensors another
    equal "$(captures step_1 step_2 moved link step_4 copy over)" "in place,renamed,renamed,linked,linked,copied,in place,"
    rm "$R/step_2.safetensors"
    selects step_2.safetensors@1
    equal "$(answered 's["capture"]')" None
}

@test "a selection is made of a path in a view, of a version by its number, and of a checkpoint of an experiment" {
    save latest.safetensors one
    save latest.safetensors two
    save step_3.safetensors three
    wait_until test -e "$MNT/branches/r/step/3"
    selects latest.safetensors@1
    equal "$(answered 's["path"], s["version"]')" "('/runs/r/latest.safetensors', 1)"
    selects .expfs/history/latest.safetensors/2.safetensors
    equal "$(answered 's["path"], s["version"]')" "('/runs/r/latest.safetensors', 2)"
    selects "$MNT/branches/r/latest"
    equal "$(answered 's["path"], s["version"]')" "('/runs/r/step_3.safetensors', 1)"
    rm "$R/step_3.safetensors"
    selects "$MNT/.expfs/history/runs/r/step_3.safetensors/1.safetensors"
    equal "$(answered 's["path"], s["version"], s["held"]')" "('/runs/r/step_3.safetensors', 1, True)"
    (cd "$R" && selects "$(cat "$MNT/branches/r/HEAD")@3")
    equal "$(answered 's["path"], s["step"]')" "('/runs/r/step_3.safetensors', 3)"
}

@test "what is not whole, being written, no checkpoint or not known is not selected" {
    head -c 100 /dev/zero >"$R/step_1.safetensors"
    refused 1 "$EXPFS" select "$R/step_1.safetensors"
    [[ $MESSAGE == *"not complete"* ]]
    echo "lr: 1" >"$R/config.yaml"
    refused 1 "$EXPFS" select "$R/config.yaml"
    [[ $MESSAGE == *"no checkpoint"* ]]
    refused 1 "$EXPFS" select "$R/none.pt"
    refused 1 "$EXPFS" select "$R"
    refused 1 "$EXPFS" select "$R/none.pt@2"
    save step_2.safetensors two
    exec 4>>"$R/step_2.safetensors"
    refused 1 "$EXPFS" select "$R/step_2.safetensors"
    [[ $MESSAGE == *"being written"* ]]
    exec 4>&-
    save_dir checkpoint-10 ten
    refused 1 "$EXPFS" select "$R/checkpoint-10/model.safetensors"
    [[ $MESSAGE == *"part of the checkpoint"* ]]
    refused 1 "$EXPFS" show best --store "$STORE"
    [[ $MESSAGE == *"no selection has that name"* ]]
    refused 1 "$EXPFS" show cafe --store "$STORE"
    [[ $MESSAGE == *"no selection has that name"* ]]
}

@test "a version that a program has open for writing still is not selected by its number either, and that is said" {
    save step_1.safetensors one "$SCRATCH"
    cat >"$SCRATCH/open.py" <<'P'
import os, subprocess, sys
path, whole, expfs = sys.argv[1:]
d = os.open(path, os.O_RDWR | os.O_CREAT)
os.write(d, open(whole, "rb").read())
os.close(os.dup(d))
sys.exit(subprocess.run([expfs, "select", path + "@1"]).returncode)
P
    refused 1 python3 "$SCRATCH/open.py" "$R/step_2.safetensors" "$SCRATCH/step_1.safetensors" "$EXPFS"
    [[ $MESSAGE == *"open still in a program that writes it"* ]]
    selects step_2.safetensors@1
}

@test "what was written over was captured when that was begun, unless the same bytes were there before" {
    save best.safetensors one
    sleep 0.1
    save best.safetensors two
    save other.safetensors three
    selects best.safetensors
    equal "$(answered 's["captured_at"] <= s["completed_at"]')" True
    local second
    second=$(answered 's["captured_at"]')
    selects best.safetensors@1
    equal "$(answered "s['completed_at'] < '$second'")" True
    save best.safetensors one
    selects best.safetensors
    equal "$(answered 's["captured_at"], s["capture"]')" "(None, 'in place')"
}

@test "what cannot be read for tensors is selected all the same, and its tensors are not known" {
    echo "no weights" >"$R/model.pth"
    selects model.pth
    equal "$(answered 's["model"], s["tensors"], s["sha256"][:8]')" "(None, None, '$(sha256sum "$R/model.pth" | cut -c1-8)')"
    save step_1.safetensors one
    run "$EXPFS" select "$R/model.pth" --name other --against "$R/step_1.safetensors" 3>&-
    equal "$status" 13
}

@test "a copy that came with an old time was captured when it was made, and completed after that" {
    save step_1.safetensors one "$SCRATCH"
    touch -d 2020-01-01 "$SCRATCH/step_1.safetensors"
    cp -p "$SCRATCH/step_1.safetensors" "$R/"
    selects step_1.safetensors
    equal "$(answered 's["captured_at"] > "2026", s["captured_at"] <= s["completed_at"]')" "(True, True)"
}

@test "a time that somebody set to before there was the file, or to what is yet to come, is not when a checkpoint was completed" {
    local when times='s["completed_at"] and "2026" < s["completed_at"] <= s["selected_at"]'
    for when in 2001-01-01 @0 2100-01-01; do
        save first.safetensors one
        touch -d "$when" "$R/first.safetensors"
        selects first.safetensors
        equal "$(answered "$times")" True "$when"
        save first.safetensors two
        save first.safetensors three
        touch -d "$when" "$R/first.safetensors"
        selects first.safetensors
        equal "$(answered "$times")" True "$when, written over"
    done
    save first.safetensors four
    selects first.safetensors@9
    equal "$(answered 's["completed_at"], s["captured_at"]')" "(None, None)" "of a version whose file is written over"
}

@test "requests that no command makes are refused" {
    save step_1.safetensors one
    python3 - "$STORE" <<'P'
import json, os, socket, sys
os.chdir(sys.argv[1])
def ask(op, **args):
    s = socket.socket(socket.AF_UNIX)
    s.connect("control")
    s.sendall(json.dumps({"op": op, "args": args}).encode() + b"\n")
    text = b""
    while not text.endswith(b"\n"):
        more = s.recv(65536)
        if not more:
            break
        text += more
    return json.loads(text)["exit"]
path = "/runs/r/step_1.safetensors"
for wrong in ({"label": "x"}, {"label": -1}, {"metric": 5}, {"metric": {"name": "a"}}, {"metric": {"name": 5, "value": "1"}}, {"software": {"a": 5}}, {"against": 5},
              {"against": {}}, {"against": {"file": "/none"}}, {"name": ""}, {"name": 5}, {"source": "\x01"}):
    got = ask("select", path=path, **wrong)
    assert got in (2, 3), (wrong, got)
assert ask("select") == 2 and ask("select", path=5) == 2 and ask("select", selection=5) == 2 and ask("select", hash="", step="x") == 1
assert ask("decide") == 2 and ask("decide", selection="best") == 2 and ask("decide", selection="best", decision=5, by=5) == 2
assert ask("show", selection={}) == 2 and ask("show", selection="") == 1 and ask("show", selection="x" * 2000) == 1
P
}

@test "what is given with a selection has bounds, and is told what is wrong with it" {
    save step_1.safetensors one
    local f=$R/step_1.safetensors x
    for x in "a/b" "a:b" "a@1" "a b" "" "-x" ".x" sel-5 $'a\nb' $'a\x9fb' "$(printf '%065d' 0)" $'best\u200b' $'a\u00a0b' $'\ufeffa' \
        $'a\u00adb' $'a\u2060b'; do
        refused 2 "$EXPFS" select "$f" --name "$x"
    done
    refused 2 "$EXPFS" select "$f" --step x
    refused 2 "$EXPFS" select "$f" --step -1
    refused 2 "$EXPFS" select "$f" --metric loss
    refused 2 "$EXPFS" select "$f" --metric loss=low
    refused 2 "$EXPFS" select "$f" --metric =1
    refused 2 "$EXPFS" select "$f" --software torch
    refused 2 "$EXPFS" select "$f" --source $'a\nb'
    refused 2 "$EXPFS" select "$f" --source "$(printf '%01025d' 0)"
    local many=()
    for x in {1..20}; do many+=(--software "$x$(printf '%01000d' 0)=1"); done
    refused 2 "$EXPFS" select "$f" "${many[@]}"
    [[ $MESSAGE == *"16 KiB"* ]]
    for x in {21..33}; do many+=(--software "$x=1"); done
    refused 2 "$EXPFS" select "$f" "${many[@]}"
    refused 2 "$EXPFS" select
    refused 2 "$EXPFS" select "$f" "$f"
    selects "$f" --name "β-1" --metric loss=nan
    equal "$(answered 's["name"], s["metric"]["value"]')" "('β-1', 'nan')"
}

@test "an option that is given twice is refused, and a version is taken as pip writes it" {
    save step_1.safetensors one
    local f=$R/step_1.safetensors
    refused 2 "$EXPFS" select "$f" --metric loss=1 --metric acc=2
    [[ $MESSAGE == *"--metric is given twice"* ]]
    refused 2 "$EXPFS" select "$f" --software torch=2.1 --software torch=2.2
    [[ $MESSAGE == *"torch=2.2"*twice* ]]
    refused 2 "$EXPFS" verify "$f" --against "$f" --against "$f"
    refused 1 "$EXPFS" show best --store "$STORE"
    selects "$f" --software torch==2.1 --software numpy=1.26
    equal "$(answered 's["software"]')" "{'torch': '2.1', 'numpy': '1.26'}"
}

@test "with --against a selection is made only if the tensors are the same, and else answered as by verify" {
    save step_7.safetensors seven
    save step_9.safetensors nine
    save best_step_7.safetensors nine
    cp "$R/step_9.safetensors" "$SCRATCH/independent.safetensors"
    selects best_step_7.safetensors --against "$SCRATCH/independent.safetensors"
    equal "$(answered 's["step"]')" 7
    run "$EXPFS" select "$R/best_step_7.safetensors" --name second --against "$R/step_7.safetensors" 3>&-
    equal "$status" 10
    [[ $output == RECOVER* ]]
    refused 1 "$EXPFS" show second --store "$STORE"
    run "$EXPFS" select "$R/best_step_7.safetensors" --name second --against "$R/best_step_7.safetensors" 3>&-
    equal "$status" 2
    (cd "$R" && selects step_9.safetensors --name third --against best)
    refused 3 "$EXPFS" select "$R/best_step_7.safetensors" --against "$SCRATCH"
}

@test "a store that is not mounted takes selections and decisions, and answers" {
    save step_9.safetensors nine
    umount_store
    "$EXPFS" select runs/r/step_9.safetensors --store "$STORE" --json >"$SCRATCH/answer"
    "$EXPFS" decide best HOLD --by me --store "$STORE"
    equal "$("$EXPFS" show best --store "$STORE" --json | field 'r["selection"]["decisions"][0]["decision"]')" HOLD
    equal "$("$EXPFS" show runs/r/step_9.safetensors --store "$STORE" --json | field '[s["name"] for s in r["selections"]]')" "['best']"
    run "$EXPFS" verify best --store "$STORE"
    equal "$status" 13
}

@test "files are served while a large one is summed, and a version that is selected meanwhile stays" {
    save step_1.safetensors one
    python3 - "$R/step_2.safetensors" <<'P'
import json, struct, sys
n = 200 << 20
header = json.dumps({"w": {"dtype": "U8", "shape": [n], "data_offsets": [0, n]}}).encode()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<Q", len(header)) + header)
    for i in range(n >> 20):
        f.write(bytes([i % 251]) * (1 << 20))
P
    "$EXPFS" select "$R/step_2.safetensors" --json >"$SCRATCH/answer" 3>&- &
    local pid=$!
    rm "$R/step_2.safetensors"
    save step_3.safetensors three
    "$EXPFS" select "$R/step_3.safetensors" --name other >/dev/null 3>&-
    wait "$pid" || [[ $? == 1 ]] # it may have been gone before it was looked at
    selects step_2.safetensors@1
    equal "$(answered 's["sha256"]')" "$(sha256sum "$MNT/.expfs/history/runs/r/step_2.safetensors/1.safetensors" | cut -d' ' -f 1)"
}
