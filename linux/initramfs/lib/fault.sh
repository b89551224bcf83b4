#!/bin/busybox sh
# Lets Linux come to grief in the way that pillion.fault names, once: after a restart it behaves.
. /lib/pillion/settings.sh
[ "$boot" = 1 ] || exit 0
sleep $(((seconds + 1) / 2))
note fault "$fault"
exec "/lib/pillion/fault/$fault"
