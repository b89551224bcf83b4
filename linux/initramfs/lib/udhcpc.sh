#!/bin/busybox sh
# Called by udhcpc: configures the network as the emulator offers it.
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
ip addr flush dev "$interface"
ip addr add "$ip/${mask:-24}" dev "$interface"
[ -z "$router" ] || ip route add default via "${router%% *}"
for server in $dns; do
    echo "nameserver $server"
done >/etc/resolv.conf
