. /lib/pillion/modules.sh

# find_disk SERIAL: the disk of that serial number becomes $disk.
find_disk() {
    for path in /sys/block/vd*; do
        [ "$(cat "$path/serial" 2>/dev/null)" = "$1" ] && disk=/dev/${path##*/}
    done
    [ -n "$disk" ] || { echo "no disk $1" >&2; exit 1; }
}

# find_scratch: the scratch disk becomes $disk. It may be a memory card (x run --card), which takes
# a moment to be there.
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

# move SERIAL PIECE_KIB MIB: half of the amount is written past the page cache, then as much is
# read.
move() {
    find_disk "$1"
    count=$(($3 * 512 / $2))
    dd if=/dev/zero of="$disk" bs="$2k" count="$count" oflag=direct conv=notrunc status=none &&
        dd if="$disk" of=/dev/null bs="$2k" count="$count" iflag=direct status=none
}
