#!/bin/sh
# Runs a command where programs for arm64 run, too, by an emulator.
# Usage: emulated.sh COMMAND [ARGUMENT…]
#
# The kernel has to know of the emulator by itself (binfmt_misc), because the launcher is executed from a file in memory. That is set
# up in a namespace of users and mounts of its own (Linux 6.7 and later have one binfmt_misc for each), so nothing of the machine changes, and
# no rights are needed. Flag O hands the program over as an open file, since the file in memory is closed when it is executed; P keeps
# the program's own name; F opens the emulator beforehand.
set -eu

emulator=$(command -v qemu-aarch64-static) || {
    echo "emulated.sh: there is no qemu-aarch64-static (Debian: apt install qemu-user-static)" >&2
    exit 2
}
export EMULATOR="$emulator"
exec unshare -Ur -m sh -euc '
    mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
    magic="\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
    mask="\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
    printf "%s" ":assay-arm64:M::$magic:$mask:$EMULATOR:OFP" > /proc/sys/fs/binfmt_misc/register
    exec "$@"
' sh "$@"
