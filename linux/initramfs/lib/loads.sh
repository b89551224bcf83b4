#!/bin/busybox sh
# Runs the loads side by side and notes for each whether it really ran.
. /lib/pillion/settings.sh

# A program of the user's is a link here.
is_own() {
    [ -L "/lib/pillion/load/$1" ]
}

# What a load counted: the last line that it said. A program of the user's may count nothing: then
# that it ran is what counts.
units() {
    last=$(echo "$2" | tail -n 1)
    case ${last%% *} in
        "" | *[!0-9]*) ! is_own "$1" || last="1 run" ;;
    esac
    echo "$last"
}

# A program of the user's is told how long, too, and may not listen: when the user asked for a time,
# it is ended that many seconds after it. One that listens may have had to get ready first.
patience=10

# Beside a load `measure`, which ends the run, nobody needs to be ended, and one process more would
# be measured.
is_limited() {
    [ -n "$limited" ] && [ -z "$measure" ] && is_own "$1"
}

execute() {
    ! is_limited "$1" || exec timeout -k "$patience" $((seconds + patience)) "/lib/pillion/load/$1" "$seconds"
    exec "/lib/pillion/load/$1" "$seconds"
}

# was_ended NAME STATUS: by a signal, and not before its time.
was_ended() {
    case $2 in
        137 | 143) is_limited "$1" && [ $(($(now) - ${begin%.*})) -ge "$seconds" ] ;;
        *) false ;;
    esac
}

run() {
    note load "$1" start
    if [ ! -x "/lib/pillion/load/$1" ]; then
        note load "$1" failed there is no such load
        return
    fi
    # Into a file: what a script started may outlive it and would hold a pipe.
    (execute "$1") >"/tmp/$1.said" 2>"/tmp/$1.err"
    status=$?
    said=$(cat "/tmp/$1.said")
    # Whoever wrote it wants to see it, whatever became of it.
    ! is_own "$1" || cat "/tmp/$1.said" "/tmp/$1.err" >/dev/console
    if [ $status = 0 ] || was_ended "$1" $status; then
        note load "$1" ok "$(units "$1" "$said")"
    else
        why=$(tail -n 1 "/tmp/$1.err")
        note load "$1" failed "${why:-$(echo "$said" | tail -n 1)}"
    fi
    : >"/tmp/$1.ended"
}

# The others are there for a load `measure`, which ends the run: one that ended before it left it
# without a load.
outlast() {
    for load in $(echo "$loads" | tr , ' '); do
        [ "$load" != measure ] || continue
        if [ -e "/tmp/$load.ended" ]; then
            note load "$load" failed it ended before the measurement
        else
            note load "$load" ok 1 run
        fi
    done
}

[ -n "$loads" ] || sleep "$seconds"
read -r begin _ </proc/uptime
case ,$loads, in *,measure,*) measure=1 ;; *) measure= ;; esac
for load in $(echo "$loads" | tr , ' '); do
    run "$load" &
    [ "$load" != measure ] || measure=$!
done
wait $measure
[ -z "$measure" ] || outlast
