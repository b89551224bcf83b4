#!/bin/busybox sh
# Suggestions for what to try.
cat /etc/banner
[ -e /dev/pillion ] || exit 0
# Tasks that are programs: neither the broker nor the task of dual mode.
programs=$(pillion ps | sed -n '/^broker:/d; /^dual:/d; s/^\([^ ]*\): .*/\1/p' | tr '\n' ' ')
[ -z "$programs" ] || cat <<END
  Real-time programs beside Linux: $programs

    pillion ps                  their threads, periods and FIFOs
    pillion dmesg               what they printed
    cat /dev/rtf0               what one put into its FIFO 0

END
[ ! -e /dev/pillion-dual ] || cat <<END
  Threads of Linux's programs can run on the real-time side, too:

    pillion exec cyclictest -m -N -p 95 -i 100 -l 20000   one that measures how late it wakes
    pillion exec --report PROGRAM   where and why threads of a program went to Linux
    pillion ps                  its threads, while it runs

END
