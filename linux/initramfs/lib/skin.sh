# Runs the test programs of a skin; the first that fails ends it.
programs() {
    for program in /bin/"$1"-*; do
        echo "run ${program#/bin/}"
        "$program" || { echo "FAIL ${program#/bin/}"; return 1; }
    done >/dev/console 2>&1
}
