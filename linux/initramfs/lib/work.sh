#!/bin/busybox sh
# Does the work in ride.work, NAME:ROUNDS,.., one after the other. The host counts the instructions
# of each round.
. /lib/pillion/settings.sh

rounds() {
    note --step
    for _ in $(seq "$2"); do
        "/lib/pillion/work/$1" >/dev/null 2>"/tmp/$1.err" || return 1
        note --step
    done
}

for item in $(echo "$work" | tr , ' '); do
    name=${item%%:*}
    note work "$name" start
    if rounds "$name" "${item#*:}"; then
        note work "$name" ok
    else
        note work "$name" failed "$(tail -n 1 "/tmp/$name.err")"
    fi
done
