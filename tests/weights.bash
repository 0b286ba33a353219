# Checkpoints with given tensors, and what is said of them. R: the directory that names are below.

# save PATH EXPRESSION: see weights.py; below R, unless the path is absolute
save() { python3 "$EXPFS_SRCDIR/tests/weights.py" "$([[ $1 == /* ]] || echo "$R/")$1" "$2"; }

# weights NAME EXPRESSION: of what show says of them, w
weights() { "$EXPFS" show "$R/$1" --json 3>&- | python3 -c 'import json, sys; w = json.load(sys.stdin)["weights"]; print(eval(sys.argv[1]))' "$2"; }

is_read() { [[ $(weights "$1" 'w["read"]') == True ]]; }
wait_read() { local n; for n; do wait_until is_read "$n"; done; }

# labels: what status warns of, a line each
labels() {
    "$EXPFS" status "$MNT" --json 3>&- | python3 -c '
import json, sys
for w in json.load(sys.stdin)["warnings"]:
    if w["kind"] == "label":
        print(w["path"], w["text"])'
}

# verdict EXIT ARGUMENT...: the answer is printed, with which verify exits
verdict() {
    local wanted=$1 status=0
    shift
    "$EXPFS" verify "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" 3>&- || status=$?
    equal "$status" "$wanted" "exit status ($(cat "$SCRATCH/out" "$SCRATCH/err"))"
    head -n 1 "$SCRATCH/out" | cut -d ' ' -f 1
}

# field EXPRESSION ARGUMENT...: of the answer in JSON, a
field() { { "$EXPFS" verify "${@:2}" --json 3>&- || true; } | python3 -c 'import json, sys; a = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
