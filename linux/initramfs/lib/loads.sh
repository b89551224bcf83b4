#!/bin/busybox sh
# Runs the loads side by side and notes for each whether it really ran.
. /lib/pillion/settings.sh

# What a load counted: the last line that it said. A program of the user's (a link here) may count nothing: then that it ran is what counts.
units() {
    last=$(echo "$2" | tail -n 1)
    case ${last%% *} in
        "" | *[!0-9]*) [ ! -L "/lib/pillion/load/$1" ] || last="1 run" ;;
    esac
    [ ! -L "/lib/pillion/load/$1" ] || echo "$2" >/dev/console
    echo "$last"
}

run() {
    note load "$1" start
    if [ ! -x "/lib/pillion/load/$1" ]; then
        note load "$1" failed there is no such load
    elif said=$("/lib/pillion/load/$1" "$seconds" 2>"/tmp/$1.err"); then
        note load "$1" ok "$(units "$1" "$said")"
    else
        note load "$1" failed "$(tail -n 1 "/tmp/$1.err")"
    fi
}

[ -n "$loads" ] || sleep "$seconds"
for load in $(echo "$loads" | tr , ' '); do
    run "$load" &
done
wait
