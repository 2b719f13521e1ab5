#!/bin/sh
# Runs a private systemd in its own namespaces, on an in-memory copy of this machine's files.
# Nothing done there affects the machine, and everything ends with the process that started it.
# Usage: systemd.sh DIRECTORY PROGRAMS     DIRECTORY: an empty one; PROGRAMS are in /mnt there
# Prints `started` when it runs. Then each line is a command for a shell there, whose output is
# printed, followed by `ended STATUS`.
set -eu
directory=$1 programs=$2

if [ "${3-}" = inside ]; then
    # In the namespaces: sets up the files, then replaces this shell with systemd.
    mount --make-rprivate /
    mount -t tmpfs tmpfs "$directory"
    mkdir "$directory/upper" "$directory/work" "$directory/root"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$directory/upper,workdir=$directory/work" "$directory/root"
    root=$directory/root
    mount -t proc proc "$root/proc"
    # Kernel settings are shared with the machine, and therefore read-only.
    mount --bind "$root/proc/sys" "$root/proc/sys"
    mount -o remount,bind,ro "$root/proc/sys"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    mount -t tmpfs tmpfs "$root/run"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mount -t tmpfs tmpfs "$root/dev"
    for node in null:3 zero:5 full:7 random:8 urandom:9; do
        mknod -m 666 "$root/dev/${node%:*}" c 1 "${node#*:}"
    done
    mknod -m 600 "$root/dev/console" c 1 3
    mkdir "$root/dev/shm" "$root/dev/pts" "$root/dev/mqueue" "$root/dev/hugepages"
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount -t devpts devpts "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /run/systemd/journal/dev-log "$root/dev/log"
    ln -s /proc/self/fd "$root/dev/fd"
    mount --bind "$programs" "$root/mnt"
    # Services enabled on this machine are not started there.
    rm -rf "$root"/etc/systemd/system/*.wants "$root"/etc/rc?.d
    for target in sysinit local-fs multi-user sockets timers; do
        rm -rf "$root/lib/systemd/system/$target.target.wants"
    done
    : > "$root/etc/fstab"
    mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
    ip link set lo up
    cd "$root"
    exec chroot . /usr/bin/env -i container=assay PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=multi-user.target
fi

unshare --mount --pid --fork --net --uts --ipc --cgroup --kill-child sh "$0" "$directory" "$programs" inside > /dev/null 2> "$directory.said" < /dev/null &
unshare=$!
trap 'kill -9 $unshare 2>/dev/null || true' EXIT
# Interrupts are handled by the process that started this script.
trap '' INT
first=
there() { nsenter --target "$first" --mount --pid --net --uts --ipc --cgroup --root --wd -- "$@"; }
runs() {
    case $(there systemctl is-system-running 2>/dev/null) in running | degraded) ;; *) return 1 ;; esac
}
for _ in $(seq 300); do
    first=$(cat "/proc/$unshare/task/$unshare/children" 2>/dev/null || true)
    first=${first%% *}
    if [ -n "$first" ] && runs; then break; fi
    kill -0 $unshare 2>/dev/null || { cat "$directory.said" >&2; exit 1; }
    sleep 0.2
done
runs || { echo "systemd.sh: it never ran" >&2; exit 1; }
echo started
while read -r asked; do
    status=0
    there sh -c "cd /; $asked" 2>&1 < /dev/null || status=$?
    echo "ended $status"
done
