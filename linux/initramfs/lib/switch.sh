#!/bin/busybox sh
# Switches to a full system on a disk: the one that ride.root names, or the first with an init.
. /lib/pillion/settings.sh
mkdir -p /mnt
candidates=$root
[ "$root" != auto ] || candidates=$(ls /dev/vd* | sort)
for device in $candidates; do
    mount -t ext4 -o rw "$device" /mnt 2>/dev/null || continue
    if [ -x /mnt/sbin/init ] || [ -L /mnt/sbin/init ]; then
        note root "$device"
        # A system with a module of its own for this kernel loads that one.
        if ls "/mnt/lib/modules/$(uname -r)/updates/dkms/pillion.ko"* >/dev/null 2>&1; then
            rmmod pillion 2>/dev/null
        fi
        killall udhcpc 2>/dev/null
        umount /tmp /run /dev/shm /dev/pts
        mount --move /dev /mnt/dev
        umount /proc /sys
        exec switch_root /mnt /sbin/init
    fi
    umount /mnt
done
note root failed no ext4 file system with an init
echo "init: no disk holds an ext4 file system with /sbin/init; here is a shell instead"
exec setsid cttyhack sh -l
