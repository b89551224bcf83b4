#!/bin/busybox sh
# Carries out requests of the user at the terminal: lines that the host tool writes to a port of its
# own (tools/x/src/run/requests.rs).
port=$(echo /dev/vport*)
[ -e "$port" ] || exit 0
while read -r what rows columns; do
    case $what in
        size) stty rows "$rows" cols "$columns" </dev/console ;;
        leave) /sbin/poweroff ;;
    esac
done <"$port"
