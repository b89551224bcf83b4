# Functions for loads that wait for what commands say.

fail() {
    echo "not so: $*" >&2
    exit 1
}

# await TEXT COMMAND..: waits until a command prints the text; while a task loops, a second of Linux
# takes ten.
await() {
    text=$1
    shift
    for turn in $(seq 100); do
        "$@" >/tmp/said 2>&1
        grep -q "$text" /tmp/said && return
        usleep 100000
    done
    fail "$* shows $text: $(cat /tmp/said)"
}
