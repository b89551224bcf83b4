#!/bin/busybox sh
# stress.sh STRESSOR SECONDS [OPTION].. runs one stressor of stress-ng and prints its number of
# operations.
stressor=$1 seconds=$2
shift 2
cd /tmp || exit 1
stress-ng --"$stressor" 1 "$@" --timeout "${seconds}s" --metrics-brief >"$stressor.out" 2>&1 || {
    tail -n 1 "$stressor.out" >&2
    exit 1
}
count=$(awk -v name="$stressor" '{ for (i = 1; i < NF; i++) if ($i == name && $(i + 1) ~ /^[0-9]+$/) print $(i + 1) }' "$stressor.out" | tail -n 1)
[ "${count:-0}" -gt 0 ] || { echo "stress-ng counted nothing" >&2; exit 1; }
echo "$count operations"
