#!/bin/busybox sh
# Suggestions for what to try.
cat /etc/banner
[ ! -e /dev/pillion ] || cat <<END
  Real-time programs beside Linux: $(pillion ps | sed -n '/^broker:/d; s/^\([^ ]*\): .*/\1/p' | tr '\n' ' ')

    pillion ps                  their threads, periods and FIFOs
    pillion dmesg               what they printed
    cat /dev/rtf0               what one put into its FIFO 0

END
