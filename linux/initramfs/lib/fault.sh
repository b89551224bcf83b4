#!/bin/busybox sh
# Makes Linux fail in the way that ride.fault names: once, or as often as its name says, and after
# that it behaves. A fault that does not kill Linux is followed by a panic, so that there is a
# restart in any case.
. /lib/pillion/settings.sh
case $fault in
    reboots) ;;
    turns) [ "$boot" -le 3 ] || exit 0 ;;
    *) [ "$boot" = 1 ] || exit 0 ;;
esac
sleep $(((seconds + 1) / 2))
note fault "$fault"
"/lib/pillion/fault/$fault"
note fault "$fault" survived
sleep 1
echo c >/proc/sysrq-trigger
