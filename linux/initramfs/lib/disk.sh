. /lib/pillion/modules.sh

# find_disk SERIAL: sets $disk to the disk with that serial number.
find_disk() {
    for path in /sys/block/vd*; do
        [ "$(cat "$path/serial" 2>/dev/null)" = "$1" ] && disk=/dev/${path##*/}
    done
    [ -n "$disk" ] || { echo "no disk $1" >&2; exit 1; }
}

# find_scratch: sets $disk to the scratch disk. It may be a memory card (x run --card), which takes
# a moment to appear.
find_scratch() {
    [ -e /lib/modules/card ] || { find_disk pillion-scratch; return; }
    load_modules card || exit 1
    disk=/dev/mmcblk0 tries=0
    until [ -b $disk ]; do
        tries=$((tries + 1))
        [ $tries -lt 500 ] || { echo "no memory card" >&2; exit 1; }
        usleep 10000
    done
}

# move SERIAL PIECE_KIB MIB: writes half of the amount past the page cache, then reads as much.
move() {
    find_disk "$1"
    count=$(($3 * 512 / $2))
    dd if=/dev/zero of="$disk" bs="$2k" count="$count" oflag=direct conv=notrunc status=none &&
        dd if="$disk" of=/dev/null bs="$2k" count="$count" iflag=direct status=none
}
