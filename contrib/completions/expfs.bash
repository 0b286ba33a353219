# bash completion for expfs. What there is to complete is read from `expfs help` itself: commands, options with the names of
# their values, and the names of operands, which tell what may stand there.

# NAME lines of the commands; the list may have two columns
_expfs_commands() {
    "$1" help 2>/dev/null |
        awk '{ for (at = 1; at <= 41; at += 40) if (substr($0, at) ~ /^  [a-z]+  *[a-z]/) { split(substr($0, at), w, " "); print w[1] } }'
}

# OPTION [VALUE] lines of a command
_expfs_options() {
    "$1" help "$2" 2>/dev/null |
        awk 'match($0, /^  (-[a-z]|--[a-z-]+)( [^ ]+)?(  |$)/) { split(substr($0, 1, RLENGTH), w, " "); print w[1], w[2] }'
}

# The names of operands that a command takes, in one line
_expfs_operands() {
    "$1" help "$2" 2>/dev/null |
        awk 'NR == 1 { gsub(/--?[a-z-]+( [^][ ]+(\[[^]]*\])*)?/, ""); gsub(/[][|@.]/, " "); $1 = $2 = ""; print; exit }'
}

_expfs_names_in() {
    local top
    top=$(findmnt -n -t fuse.expfs -o TARGET -T . 2>/dev/null) && command ls -1 -- "$top/$1" 2>/dev/null
}

# _expfs_values WORD...: what may stand for an operand, or a value, of one of these names
_expfs_values() {
    local word
    for word; do
        case $word in
        STORE | DIR)
            compopt -o filenames
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$cur")
            ;;
        PATH | DEST | FILE | A | B | X | FROM)
            compopt -o filenames
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
            ;;
        MNT)
            compopt -o filenames
            if [[ $command == umount ]]; then
                mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(
                    compgen -W "$(findmnt -n -l -t fuse.expfs -o TARGET 2>/dev/null)" -- "$cur"
                )
            else
                mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$cur")
            fi
            ;;
        esac
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(
            case $word in
            COMMAND) compgen -W "$(_expfs_commands "$expfs")" -- "$cur" ;;
            BRANCH) compgen -W "$(_expfs_names_in branches)" -- "$cur" ;;
            HASH) compgen -W "$(_expfs_names_in experiments)" -- "$cur" ;;
            FROM) compgen -W "$(_expfs_names_in branches) $(_expfs_names_in experiments)" -- "$cur" ;;
            DECISION) compgen -W "ACCEPT RECOVER RECAPTURE RERUN HOLD" -- "$cur" ;;
            OPTIONS) compgen -W "allow_other allow_root auto_unmount ro noexec nosuid nodev noatime" -- "$cur" ;;
            [a-z]*) compgen -W "${word//|/ }" -- "$cur" ;;
            esac
        )
    done
}

_expfs() {
    local expfs=${COMP_WORDS[0]/#\~/$HOME} cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} option value
    local -a operands names=() values=()

    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$(_expfs_commands "$expfs")" -- "$cur")
        return
    fi
    while read -r option value; do
        names+=("$option")
        [[ $option != "$prev" || -z $value ]] || values+=("$value")
    done < <(_expfs_options "$expfs" "$command")
    if ((${#values[@]})); then
        _expfs_values "${values[@]}"
        return
    fi
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${names[*]}" -- "$cur")
        return
    fi
    read -ra operands < <(_expfs_operands "$expfs" "$command")
    _expfs_values "${operands[@]}"
}

complete -F _expfs expfs
