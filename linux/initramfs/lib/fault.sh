#!/bin/busybox sh
# Makes Linux fail in the way that ride.fault names, once: after a restart it behaves. A fault that
# does not kill Linux is followed by a panic, so that there is a restart in any case.
. /lib/pillion/settings.sh
[ "$boot" = 1 ] || [ "$fault" = reboots ] || exit 0
sleep $(((seconds + 1) / 2))
note fault "$fault"
"/lib/pillion/fault/$fault"
note fault "$fault" survived
sleep 1
echo c >/proc/sysrq-trigger
