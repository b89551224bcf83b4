# SPDX-License-Identifier: GPL-2.0-only
# Completion of `pillion` for bash.

_pillion_tasks() {
    pillion ps 2>/dev/null | sed -n 's/^\([^ ].*\): .*, started .*/\1/p'
}

_pillion() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
    if [ "$COMP_CWORD" = 1 ]; then
        words="ps dmesg load unload --help"
    else
        case $command in
            ps) words=--json ;;
            dmesg) words="--follow --json" ;;
            load | unload)
                words=--json
                [ "$COMP_CWORD" != 2 ] || words="$(_pillion_tasks) --json"
                ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _pillion pillion
