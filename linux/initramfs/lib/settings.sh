# Reads the host tool's settings on the kernel's command line into variables.
mode=shell loads= seconds=10 limited= rows= cols= fault= root= direct= boot=1 work=
for word in $(cat /proc/cmdline); do
    case $word in
        ride.mode=*) mode=${word#*=} ;;
        ride.load=*) loads=${word#*=} ;;
        ride.seconds=*) seconds=${word#*=} limited=1 ;;
        ride.rows=*) rows=${word#*=} ;;
        ride.cols=*) cols=${word#*=} ;;
        ride.fault=*) fault=${word#*=} ;;
        ride.root=*) root=${word#ride.root=} ;;
        ride.direct) direct=1 ;;
        ride.work=*) work=${word#*=} ;;
        ride.boot=*) boot=${word#*=} ;;
    esac
done

# Whole seconds since Linux started.
now() {
    read -r up _ </proc/uptime
    echo "${up%.*}"
}
