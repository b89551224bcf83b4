#!/bin/busybox sh
# Runs the loads in parallel and notes for each whether it really ran.
. /lib/pillion/settings.sh

# Whether a load is a program of the user's, which is a link here.
is_own() {
    [ -L "/lib/pillion/load/$1" ]
}

# The count of a load: the last line that it printed. A program of the user's may count nothing:
# then the fact that it ran counts.
units() {
    last=$(echo "$2" | tail -n 1)
    case ${last%% *} in
        "" | *[!0-9]*) ! is_own "$1" || last="1 run" ;;
    esac
    echo "$last"
}

# A program of the user's also gets the time as an argument, and may ignore it: if the user asked
# for a time, it is ended that many seconds after it. One that heeds it may have needed time to get
# ready first.
patience=10

# Next to the load `measure`, which ends the run, no program has to be ended, and one more process
# would be measured.
is_limited() {
    [ -n "$limited" ] && [ -z "$measure" ] && is_own "$1"
}

execute() {
    ! is_limited "$1" || exec timeout -k "$patience" $((seconds + patience)) "/lib/pillion/load/$1" "$seconds"
    exec "/lib/pillion/load/$1" "$seconds"
}

# was_ended NAME STATUS: whether a signal ended it, not before its time.
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
    # To a file: a process that a script started may outlive it and would keep a pipe open.
    (execute "$1") >"/tmp/$1.said" 2>"/tmp/$1.err"
    status=$?
    said=$(cat "/tmp/$1.said")
    # The user wants to see the output in any case.
    ! is_own "$1" || cat "/tmp/$1.said" "/tmp/$1.err" >/dev/console
    if [ $status = 0 ] || was_ended "$1" $status; then
        note load "$1" ok "$(units "$1" "$said")"
    else
        why=$(tail -n 1 "/tmp/$1.err")
        note load "$1" failed "${why:-$(echo "$said" | tail -n 1)}"
    fi
    : >"/tmp/$1.ended"
}

# The others run for the load `measure`, which ends the run: one that ends before it leaves it
# without load.
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
