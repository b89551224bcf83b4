# begin_load NAME: this load needs some time before it loads the system; load_begun says when it
# does.
begin_load() {
    begins=/tmp/$1.begins
    trap 'rm -f $begins' EXIT
    : >"$begins"
}

load_begun() {
    rm "$begins"
}

# await_loads: waits until all loads that called begin_load have begun.
await_loads() {
    while ls /tmp/*.begins >/dev/null 2>&1; do
        usleep 10000
    done
}
