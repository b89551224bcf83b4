# Reads what the host tool said on the kernel's command line into variables.
mode=shell loads= seconds=10 rows= cols= fault= root= direct= boot=1 work=
for word in $(cat /proc/cmdline); do
    case $word in
        pillion.mode=*) mode=${word#*=} ;;
        pillion.load=*) loads=${word#*=} ;;
        pillion.seconds=*) seconds=${word#*=} ;;
        pillion.rows=*) rows=${word#*=} ;;
        pillion.cols=*) cols=${word#*=} ;;
        pillion.fault=*) fault=${word#*=} ;;
        pillion.root=*) root=${word#pillion.root=} ;;
        pillion.direct) direct=1 ;;
        pillion.work=*) work=${word#*=} ;;
        pillion.boot=*) boot=${word#*=} ;;
    esac
done

# Whole seconds since Linux started.
now() {
    read -r up _ </proc/uptime
    echo "${up%.*}"
}
