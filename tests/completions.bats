# Completions for bash, zsh and fish: they offer what the program has.

load lib

setup() {
    PATH=$(dirname "$EXPFS"):$PATH # the shells look for expfs there
    COMPLETIONS=$EXPFS_SRCDIR/contrib/completions
}

# offered SHELL LINE...: what the shell offers at the end of each line, as LINE|CANDIDATE, sorted
offered() {
    local shell=$1
    shift
    case $shell in
    bash)
        bash --norc -c '
            compopt() { :; }
            source "$1/expfs.bash"
            for line in "${@:2}"; do
                read -ra COMP_WORDS <<<"$line"
                [[ $line != *" " ]] || COMP_WORDS+=("")
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                _expfs
                ((${#COMPREPLY[@]} == 0)) || printf "$line|%s\n" "${COMPREPLY[@]}"
            done' bash "$COMPLETIONS" "$@"
        ;;
    fish)
        HOME=$BATS_TEST_TMPDIR fish -N -c '
            source $argv[1]/expfs.fish
            for line in $argv[2..]
                string join \n -- "$line|"(complete -C $line | cut -f 1)
            end' "$COMPLETIONS" "$@"
        ;;
    zsh) timeout 60 zsh -f "$BATS_TEST_DIRNAME/completions.zsh" "$COMPLETIONS" "$@" ;;
    esac 3>&- </dev/null | sort -u
}

# The commands that the sources have
commands() { sed -n 's/^\t\.name = "\(.*\)",$/\1/p' "$EXPFS_SRCDIR"/src/cmd/*.c; }

# The options of which the help of a command speaks, and which it takes
options() {
    local option
    for option in $("$EXPFS" help "$1" | grep -oE -e '(^|[[ ])--?[a-z][a-z-]*\b' | tr -d '[ ' | sort -u); do
        [[ $("$EXPFS" "$1" "$option" 2>&1 </dev/null) == *"no such option"* ]] || echo "$option"
    done
}

offers_everything() {
    local command option lines=("expfs ") wanted=()
    require_command_or_skip "$1"
    cd "$BATS_TEST_TMPDIR"
    for command in $(commands); do
        wanted+=("expfs |$command")
        lines+=("expfs $command -")
        for option in $(options "$command"); do wanted+=("expfs $command -|$option"); done
    done
    equal "$(offered "$1" "${lines[@]}")" "$(printf '%s\n' "${wanted[@]}" | sort)" "what $1 offers"
}

offers_values() {
    require_command_or_skip "$1"
    scratch
    store_init
    mount_store
    mkdir "$MNT/runs/first"
    echo x >"$MNT/runs/first/step_1.pt"
    touch "$MNT/runs/from.pt"
    cd "$MNT/runs"
    local got wanted=("expfs log fir|first" "expfs decide best RECO|RECOVER" "expfs help um|umount"
        "expfs mount -o nod|nodev" "expfs export --layout we|weightslab"
        "expfs umount ${MNT%mnt}|$MNT")
    got=$(offered "$1" "${wanted[@]%%|*}" "expfs history firs" "expfs log --store ${STORE%tore}" "expfs branch new --from f")
    comm -13 <(sort <<<"$got") <(printf '%s\n' "${wanted[@]}" | sort) >"$SCRATCH/missing"
    equal "$(cat "$SCRATCH/missing")" "" "what $1 does not offer"
    grep -q '^expfs history firs|first/\?$' <<<"$got"
    grep -q '^expfs branch new --from f|first$' <<<"$got"
    grep -q '^expfs branch new --from f|from.pt$' <<<"$got"
    grep -q '^expfs log --store .*|.*store/\?$' <<<"$got"
    cd /
}

# A shell that is not here is nobody's loss.
require_command_or_skip() { command -v "$1" >/dev/null || skip "no $1"; }
teardown() { cleanup; }

@test "bash completes each command and each of its options" { offers_everything bash; }

@test "bash completes branches, decisions, mounts and paths" { offers_values bash; }

@test "fish completes each command and each of its options" { offers_everything fish; }

@test "fish completes branches, decisions, mounts and paths" { offers_values fish; }

@test "zsh completes each command and each of its options" { offers_everything zsh; }

@test "zsh completes branches, decisions, mounts and paths" { offers_values zsh; }
