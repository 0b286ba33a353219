# What metrics.bats, and those of what is best, share.

load lib

setup() { mount_run; }
teardown() { cleanup; }

save() { checkpoint zip "$1" 20000 "$2"; }

# best_is PATH: both views of the run lead there
best_is() {
    local view
    for view in "$V/best" "$R/.expfs/best"; do
        equal "$(readlink -f "$view")" "$1" "${view#"$MNT"/}"
        [[ -e $view ]] || fail "${view#"$MNT"/} leads nowhere"
    done
}

no_best() {
    local view
    for view in "$V/best" "$R/.expfs/best"; do
        [[ ! -L $view && ! -e $view ]] || fail "$view leads to $(readlink "$view")"
        not grep -qx best <(ls "$(dirname "$view")")
    done
}

# metric PATH VALUE [NAME]
metric() { setfattr -n "user.expfs.metric.${3:-val_loss}" -v "$2" "$1"; }

# steps N...: checkpoints of these steps
steps() {
    local n
    for n; do save "$R/step_$n.pt" "$n"; done
}

configure() {
    umount_store
    printf '%s\n' "$@" >"$STORE/config.yaml"
    mount_store
}

# in_history PATH N: best leads to that version of the path, below the run
in_history() {
    equal "$(readlink -f "$V/best")" "$MNT/.expfs/history/runs/r/$1/$2.pt"
    equal "$(readlink -f "$R/.expfs/best")" "$R/.expfs/history/$1/$2.pt"
}

# select_best PATH [OPTION...]
select_best() { "$EXPFS" select "$@" >/dev/null; }

# status_of BRANCH EXPRESSION: of its entry b in status --json
status_of() {
    "$EXPFS" status "$MNT" --json | python3 -c "
import json, sys
b = [b for b in json.load(sys.stdin)['branches'] if b['name'] == sys.argv[1]][0]
print($2)" "$1"
}

# needed PATH SELECTION: forget refuses, and says that this selection needs it
needed() {
    refused 1 "$EXPFS" forget "$1"
    [[ $MESSAGE == *" is needed: it is the selection $2, until another one is selected under that name" ]] || fail "$MESSAGE"
}
