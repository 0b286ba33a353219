# expfs diff: how checkpoints, configurations and data snapshots differ.

load lib

setup() { mount_run; }

teardown() { cleanup; }

# field EXPRESSION A B: of the answer in JSON, d
field() { "$EXPFS" diff "${@:2}" --json 3>&- | python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

# tensors NAME KEY=TYPE:VALUES…: safetensors; values of F32, F64, BF16 or I64, separated by commas
tensors() {
    python3 - "$R/$1" "${@:2}" <<'P'
import json, struct, sys
header, data = {}, b""
for arg in sys.argv[2:]:
    key, _, rest = arg.partition("=")
    dtype, _, values = rest.partition(":")
    values = [float(v) for v in values.split(",")]
    pack = {"F32": lambda v: struct.pack("<f", v), "F64": lambda v: struct.pack("<d", v), "I64": lambda v: struct.pack("<q", int(v)),
            "BF16": lambda v: struct.pack("<f", v)[2:], "F16": lambda v: struct.pack("<e", v)}[dtype]
    content = b"".join(map(pack, values))
    header[key] = {"dtype": dtype, "shape": [len(values)], "data_offsets": [len(data), len(data) + len(content)]}
    data += content
header = json.dumps(header).encode()
open(sys.argv[1], "wb").write(struct.pack("<Q", len(header)) + header + data)
P
}

@test "of two checkpoints it is told which tensors changed, in how many elements, by how much, and which came or went" {
    tensors step_1.safetensors l.w=F32:1,2,3,4 l.b=F32:1,1 l.n=I64:5 l.t=F32:1 l.h=BF16:1,2 l.old=F32:1
    tensors step_2.safetensors module.l.w=F32:1,2,3.5,4 module.l.b=F32:1,1 module.l.n=I64:7 module.l.t=F64:1 module.l.h=BF16:1,-2 module.l.new=F32:1
    equal "$("$EXPFS" diff "$R/step_1.safetensors" "$R/step_2.safetensors" 3>&-)" \
        "content   l.h  1 of 2 elements, by at most 4, cosine -0.6
content   l.n  1 of 1 elements, by at most 2, cosine 1
added     l.new
removed   l.old
type      l.t  float32 -> float64
content   l.w  1 of 4 elements, by at most 0.5, cosine 0.997364949
tensors   1 equal, 3 content, 1 type, 1 added, 1 removed"
    equal "$(field '[(t["name"], t["difference"], t.get("changed"), t.get("max")) for t in d["tensors"]]' "$R/step_1.safetensors" "$R/step_2.safetensors")" \
        "[('l.h', 'content', 1, 4.0), ('l.n', 'content', 1, 2.0), ('l.new', 'added', None, None), ('l.old', 'removed', None, None), ('l.t', 'type', None, None), ('l.w', 'content', 1, 0.5)]"
    equal "$(field 'round([t["cosine"] for t in d["tensors"] if t["name"] == "l.w"][0], 6)' "$R/step_1.safetensors" "$R/step_2.safetensors")" 0.997365
    equal "$(field 'd["counts"]["equal"], d["tensors"]' "$R/step_1.safetensors" "$R/step_1.safetensors")" "(6, [])"
}

@test "numbers of half precision, and those that are none, count by what they are" {
    tensors step_1.safetensors a=F16:1,0.000000059604644775390625,65504 b=F32:nan,1 c=F32:0,0
    tensors step_2.safetensors a=F16:1,0,65504 b=F32:nan,2 c=F32:0,1
    equal "$(field '[(t["name"], t["changed"], t["max"], t["cosine"]) for t in d["tensors"]]' "$R/step_1.safetensors" "$R/step_2.safetensors")" \
        "[('a', 1, 5.960464477539063e-08, 1.0), ('b', 1, 1.0, 1.0), ('c', 1, 1.0, None)]"
}

@test "of two configurations each key is told that differs, with both values and types" {
    printf 'lr: 1e-4\nseed: 1\nnet: {width: 8, depth: 2}\n' >"$R/config.yaml"
    printf 'lr: 1.0e-4\nseed: 1\nnet: {width: 16, depth: 2}\nnew: [1]\n' >"$R/config.yaml"
    equal "$("$EXPFS" diff "$R/config.yaml@1" "$R/config.yaml" 3>&-)" 'lr: "1e-4" (text) -> 0.0001 (float)
net.width: 8 (int) -> 16 (int)
new: none (none) -> [1] (list)'
    echo 'a: [' >"$R/config.yaml"
    refused 1 "$EXPFS" diff "$R/config.yaml@1" "$R/config.yaml"
    [[ $MESSAGE == *"/runs/r/config.yaml: does not parse: "* ]] || fail "$MESSAGE"
}

@test "of two data snapshots the samples are told that came, went or were discarded" {
    snapshot() { python3 -c 'import json, sys; print(json.dumps({"data": [{"sample_id": i, "discarded": d} for i, d in json.loads(sys.argv[1])]}))' "$1"; }
    snapshot '[["1", false], ["10", false], ["2", false]]' >"$R/11111111_data_snapshot.json"
    snapshot '[["10", true], ["2", false], ["3", false]]' >"$R/22222222_data_snapshot.json"
    equal "$("$EXPFS" diff "$R/11111111_data_snapshot.json" "$R/22222222_data_snapshot.json" 3>&-)" \
        $'added     1: 3\nremoved   1: 1\nchanged   1: 10'
}

@test "what cannot be compared is said" {
    echo 'lr: 1' >"$R/config.yaml"
    tensors step_1.safetensors a=F32:1
    echo none >"$R/step_2.pth"
    refused 2 "$EXPFS" diff "$R/config.yaml" "$R/step_1.safetensors"
    refused 1 "$EXPFS" diff "$R/step_1.safetensors" "$R/step_2.pth"
    refused 1 "$EXPFS" diff "$R/step_1.safetensors" "$R/step_1.safetensors@7"
    refused 1 "$EXPFS" diff "$R/step_1.safetensors" "$R/nothing.pt"
    refused 2 "$EXPFS" diff "$R/step_1.safetensors"
}
