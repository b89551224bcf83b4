# SPDX-License-Identifier: GPL-2.0-only
# Completion of `pillion` for bash.

_pillion_tasks() {
    pillion ps 2>/dev/null | sed -n 's/^\([^ ].*\): .*, started .*/\1/p'
}

_pillion() {
    local i
    if [ "${COMP_WORDS[1]}" = exec ] && [ "$COMP_CWORD" -gt 1 ]; then
        for ((i = 2; i <= COMP_CWORD; i++)); do
            if [[ ${COMP_WORDS[i]} != -* ]]; then
                # The program's own completion, where there is one.
                if declare -F _command_offset >/dev/null; then
                    _command_offset "$i"
                else
                    mapfile -t COMPREPLY < <(compgen -c -f -- "${COMP_WORDS[COMP_CWORD]}")
                fi
                return
            fi
        done
    fi
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
    if [ "$COMP_CWORD" = 1 ]; then
        words="ps dmesg load unload exec check hw --help"
    else
        case $command in
            ps) words=--json ;;
            exec) words="--warn --report" ;;
            check) mapfile -t COMPREPLY < <(compgen -f -W "--json --bundle --tasks" -- "$word") && return ;;
            hw) words="--json --dump --from" ;;
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
