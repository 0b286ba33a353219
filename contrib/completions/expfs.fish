# fish completion for expfs. What there is to complete is read from `expfs help` itself: commands, options with the names of
# their values, and the names of operands, which tell what may stand there.

# NAME<tab>SUMMARY lines of the commands; the list may have two columns
function __expfs_commands
    expfs help 2>/dev/null | awk '{
        for (at = 1; at <= 41; at += 40) {
            line = at == 1 && substr($0, 41) ~ /^  [a-z]+  *[a-z]/ ? substr($0, 1, 40) : substr($0, at)
            if (line ~ /^  [a-z]+  *[a-z]/) {
                split(line, w, " "); sub(/^  [a-z]+ +/, "", line); sub(/ +$/, "", line)
                print w[1] "\t" line
            }
        }
    }'
end

# OPTION<tab>SUMMARY or, with a second argument, the name of the value of that option
function __expfs_options
    expfs help $argv[1] 2>/dev/null | awk -v option="$argv[2]" '
        match($0, /^  (-[a-z]|--[a-z-]+)( [^ ]+)?(  |$)/) {
            split(substr($0, 1, RLENGTH), w, " "); text = substr($0, RLENGTH + 1); sub(/^ +/, "", text)
            if (option == "") print w[1] "\t" text; else if (w[1] == option) print w[2]
        }'
end

function __expfs_operands
    expfs help $argv[1] 2>/dev/null |
        awk 'NR == 1 { gsub(/--?[a-z-]+( [^][ ]+(\[[^]]*\])*)?/, ""); gsub(/[][|@.]/, " "); $1 = $2 = ""; print; exit }' | string split -n " "
end

function __expfs_names_in
    set -l top (findmnt -n -t fuse.expfs -o TARGET -T . 2>/dev/null)
    and command ls -1 -- $top/$argv[1] 2>/dev/null
end

function __expfs_values
    set -l command $argv[1]
    for word in $argv[2..]
        switch $word
            case MNT
                if test $command = umount
                    findmnt -n -l -t fuse.expfs -o TARGET 2>/dev/null
                else
                    __fish_complete_directories (commandline -ct)
                end
            case STORE DIR
                __fish_complete_directories (commandline -ct)
            case PATH DEST FILE A B X
                __fish_complete_path (commandline -ct)
            case COMMAND
                __expfs_commands
            case BRANCH
                __expfs_names_in branches
            case HASH
                __expfs_names_in experiments
            case FROM
                __expfs_names_in branches
                __expfs_names_in experiments
                __fish_complete_path (commandline -ct)
            case DECISION
                printf '%s\n' ACCEPT RECOVER RECAPTURE RERUN HOLD
            case OPTIONS
                printf '%s\n' allow_other allow_root auto_unmount ro noexec nosuid nodev noatime
            case '*'
                string match -qr '^[a-z]' -- $word && string split '|' -- $word
        end
    end
end

function __expfs_complete
    set -l words (commandline -opc)
    if test (count $words) -lt 2
        __expfs_commands
        return
    end
    set -l value (__expfs_options $words[2] $words[-1])
    if test -n "$value"
        __expfs_values $words[2] $value
    else if string match -q -- '-*' (commandline -ct)
        __expfs_options $words[2]
    else
        __expfs_values $words[2] (__expfs_operands $words[2])
    end
end

complete -c expfs -f -a '(__expfs_complete)'
