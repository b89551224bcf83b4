#!/bin/sh
# Computes on every processor, and checks how much of each Linux says it lost: 40 % of the last one,
# on which a task computes, and nothing of the others. Part of stolen.toml and stolen-2.toml.
shares() {
    awk '/^cpu[0-9]/ {
        for (all = 0, i = 2; i <= 9; i++) all += $i
        if ($1 in before) printf "%s %d\n", $1, 100 * ($9 - stolen[$1]) / (all - before[$1])
        before[$1] = all
        stolen[$1] = $9
    }' "$@"
}

cat /proc/stat >/tmp/before
running=
for _ in $(seq "$(nproc)"); do
    while :; do :; done &
    running="$running $!"
done
sleep 3
cat /proc/stat >/tmp/after
kill $running

shares /tmp/before /tmp/after >/tmp/lost
cat /tmp/lost
awk -v last="cpu$(($(nproc) - 1))" '{ n++ } ($1 == last) != ($2 >= 38 && $2 <= 41) { bad = 1 } $1 != last && $2 > 1 { bad = 1 }
    END { exit bad || !n }' /tmp/lost || {
    echo "other shares than tasks took: $(tr '\n' ' ' </tmp/lost)" >&2
    exit 1
}
echo "$(nproc) processors"
