# What a branch and its experiments are, as status and xattrs tell it.

# branch EXPRESSION [NAME]: of what status says of a branch b
branch() {
    "$EXPFS" status "$MNT" --json 3>&- | python3 -c '
import json, sys
r = json.load(sys.stdin)
b = next((b for b in r["branches"] if b["name"] == sys.argv[2]), None)
print(eval(sys.argv[1]))' "$1" "${2:-r}"
}

head_of() { branch 'b["head"]' "$@"; }
hash_of() { getfattr --only-values -n user.expfs.hash "$1"; }
