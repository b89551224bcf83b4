#!/bin/busybox sh
# Runs the loads side by side and notes for each whether it really ran.
. /lib/pillion/settings.sh

run() {
    note load "$1" start
    if [ ! -x "/lib/pillion/load/$1" ]; then
        note load "$1" failed there is no such load
    elif units=$("/lib/pillion/load/$1" "$seconds" 2>"/tmp/$1.err"); then
        note load "$1" ok "$units"
    else
        note load "$1" failed "$(tail -n 1 "/tmp/$1.err")"
    fi
}

[ -n "$loads" ] || sleep "$seconds"
for load in $(echo "$loads" | tr , ' '); do
    run "$load" &
done
wait
