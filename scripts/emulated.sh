#!/bin/sh
# Runs a command in an environment in which arm64 programs also run, under an emulator.
# Usage: emulated.sh COMMAND [ARGUMENT…]
#
# The kernel must know the emulator (binfmt_misc), because the launcher is executed from a file in
# memory. It is registered in a separate user and mount namespace (Linux 6.7 and later have one
# binfmt_misc for each), so the machine is not changed, and no privileges are needed. Flag O passes
# the program as an open file, since the file in memory is closed when it is executed; P preserves
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
