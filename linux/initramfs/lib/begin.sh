# begin_load NAME: this load takes more than a moment until it is one; load_begun says when.
begin_load() {
    begins=/tmp/$1.begins
    trap 'rm -f $begins' EXIT
    : >"$begins"
}

load_begun() {
    rm "$begins"
}

# await_loads: waits until all loads that said so have begun.
await_loads() {
    while ls /tmp/*.begins >/dev/null 2>&1; do
        usleep 10000
    done
}
