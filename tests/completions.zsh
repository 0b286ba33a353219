# What zsh offers at the end of lines: zsh -f completions.zsh DIRECTORY-OF-_expfs LINE..., as LINE|CANDIDATE.
# A shell in a pseudo-terminal is given the line and a tab; compadd, by which all candidates go, prints them.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= fpath=(${(q)1} \$fpath) TERM=dumb; stty -echo columns 1000"
zpty -w shell 'unsetopt zle_bracketed_paste 2>/dev/null; autoload -Uz compinit; compinit -D -u
compadd() {
    local -a hits
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
    builtin compadd -A hits "$@"
    local hit
    for hit in $hits; do print -r -- "<<$hit>>"; done
}
offer() { zle complete-word; print -r -- "<<>>"; }
zle -N offer
bindkey "^I" offer
print -r -- "<<ready"">>"'
output() { # up to the text $1
    local line all=
    while [[ $all != *$1* ]] && zpty -r shell line; do all+=$line; done
    print -r -- $all
}
output '<<ready>>' >/dev/null
for line in "${@:2}"; do
    zpty -w -n shell $'\C-u'"$line"$'\t'
    output '<<>>' | tr -d '\r' | sed -n 's/.*<<\(.\{1,\}\)>>.*/\1/p' | while read -r hit; do print -r -- "$line|$hit"; done
done
zpty -d shell
