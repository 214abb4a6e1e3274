#!/usr/bin/env bash
# throttle.sh PROFILE DIR WORK: makes a device of another kind of the one that DIR is on, for one
# command: prints what to put before it (for a server, server.sh's LAUNCH), and writes that to WORK.
# throttle.sh reads WORK: prints the reads a second that were set.
# throttle.sh end WORK: removes it, when that command is over.
#   PROFILE  unthrottled, gp3 (3000 reads and 131 MB a second), hdd (150 and 157)
# Needs root and the kernel's blkio cgroup, which counts requests and knows of no seeks.
set -euo pipefail
group_of() { echo "/sys/fs/cgroup/blkio/innoscan-$(basename "$1")"; }
case ${1:-} in
end)
  rmdir "$(group_of "$2")" 2>/dev/null || true
  exit 0
  ;;
reads)
  awk '{ print $2 }' "$(group_of "$2")/blkio.throttle.read_iops_device"
  exit 0
  ;;
esac
[ $# = 3 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 1; }
case $1 in
unthrottled) exit 0 ;;
gp3) reads=3000 bytes=131072000 ;;
hdd) reads=150 bytes=157286400 ;;
*) echo "throttle.sh: no profile $1" >&2; exit 1 ;;
esac
disk=$(df --output=source "$2" | tail -n 1)
disk=$(lsblk -no PKNAME "$disk" | head -n 1 | sed 's|^.|/dev/&|' | grep . || echo "$disk")
device=$(lsblk -dno MAJ:MIN "$disk" | tr -d ' ')

# one for each WORK, so that two can be measured at a time
group=$(group_of "$3")
mkdir -p "$group"
echo "$device $reads" >"$group/blkio.throttle.read_iops_device"
echo "$device $bytes" >"$group/blkio.throttle.read_bps_device"
cat >"$3/throttled" <<IN
#!/bin/sh
echo \$\$ >$group/cgroup.procs
exec "\$@"
IN
chmod +x "$3/throttled"
echo "$3/throttled"
