# SPDX-License-Identifier: GPL-2.0-only
# Completion of `pillion` for fish.
function __pillion_tasks
    pillion ps 2>/dev/null | sed -n 's/^\([^ ].*\): .*, started .*/\1/p'
end

complete -c pillion -f
complete -c pillion -n __fish_use_subcommand -a ps -d 'show tasks'
complete -c pillion -n __fish_use_subcommand -a dmesg -d 'show what tasks printed'
complete -c pillion -n __fish_use_subcommand -a load -d 'start a task'
complete -c pillion -n __fish_use_subcommand -a unload -d 'end a task'
complete -c pillion -n __fish_use_subcommand -a exec -d 'run a program in dual mode'
complete -c pillion -n __fish_use_subcommand -a check -d 'check a system file'
complete -c pillion -n __fish_use_subcommand -a hw -d 'say what this machine has'
complete -c pillion -F -n '__fish_seen_subcommand_from check'
complete -c pillion -n '__fish_seen_subcommand_from hw' -r -l dump -d 'write what was read'
complete -c pillion -n '__fish_seen_subcommand_from hw' -r -l from -d 'judge another machine'
complete -c pillion -n '__fish_seen_subcommand_from exec' -s w -l warn -d 'send SIGXCPU to a thread that goes to Linux'
complete -c pillion -n '__fish_seen_subcommand_from exec' -s r -l report -d 'say at the end where threads went to Linux'
complete -c pillion -n '__fish_seen_subcommand_from exec' -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c pillion -n '__fish_seen_subcommand_from load unload' -a '(__pillion_tasks)'
complete -c pillion -s j -l json -d 'write JSON'
complete -c pillion -s f -l follow -d 'keep printing as more arrives'
complete -c pillion -s h -l help -d 'show a summary'
