#!/bin/sh
# Compiles the launcher, the workload, the counting library and the tests of the crate that measures for arm64, and runs the tests as arm64
# programs under an emulator. Installs what is missing, with apt and rustup, as root only.
# Usage: arm64-tests.sh [TEST…]     TEST: names of test files, as in `runs kept` [default: all]
#
# The kernel has to know of the emulator by itself (binfmt_misc), because the launcher is executed from a file in memory. That is set
# up in a namespace of users and mounts of its own (Linux 6.7 and later have one binfmt_misc for each), so nothing of the machine changes, and
# no rights are needed. Flag O hands the program over as an open file, since the file in memory is closed when it is executed; P keeps
# the program's own name; F opens the emulator beforehand.
set -eu

cd "$(dirname "$0")/.."
target=aarch64-unknown-linux-gnu
compiler=aarch64-linux-gnu-gcc
emulator=qemu-aarch64-static
libraries=/usr/aarch64-linux-gnu

missing=
command -v "$emulator" >/dev/null || missing="$missing qemu-user-static"
command -v "$compiler" >/dev/null || missing="$missing gcc-aarch64-linux-gnu"
[ -e "$libraries/lib/libc.so.6" ] || missing="$missing libc6-dev-arm64-cross"
if [ -n "$missing" ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "arm64-tests: install$missing" >&2
        exit 2
    fi
    # Without the packages that are only recommended: one of them would change the machine's own binfmt_misc.
    apt-get install -y --no-install-recommends $missing >&2
fi
if command -v rustup >/dev/null; then
    rustup target list --installed | grep -qx "$target" || rustup target add "$target" >&2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Tests compile programs with `cc`: those have to be of this processor, too.
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s "$@"\n' "$compiler" > "$work/bin/cc"
chmod +x "$work/bin/cc"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$compiler
export CC_aarch64_unknown_linux_gnu=$compiler
chosen=
for test in "$@"; do chosen="$chosen --test $test"; done
[ -n "$chosen" ] || chosen="--lib --tests"
# Tests start examples, which have to be the programs themselves.
cargo build --locked -p assay-measure --examples --target "$target"
cargo test --locked --no-run -p assay-measure --target "$target" $chosen --message-format=json \
    > "$work/built.json"
# Lines of programs that hold tests, without a tool for JSON.
sed -n '/"reason":"compiler-artifact"/{/"test":true/s/.*"executable":"\([^"]*\)".*/\1/p;}' "$work/built.json" > "$work/programs"

cat > "$work/inside.sh" <<'INSIDE'
set -u
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || exit 2
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
echo ":assay-arm64:M::$magic:$mask:$EMULATOR:OFP" > /proc/sys/fs/binfmt_misc/register || exit 2
passed=0 failed=0 ignored=0
while read -r program; do
    name=$(basename "$program" | sed 's/-[0-9a-f]*$//')
    "$program" --nocapture < /dev/null > "$WORK/said" 2>&1
    status=$?
    counts=$(sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed.*/\1 \2/p' "$WORK/said" | tail -n 1)
    # A program without the usual harness is one test.
    [ -n "$counts" ] || { [ "$status" = 0 ] && counts="1 0" || counts="0 1"; }
    left_out=$(grep -c '^ignored under emulation: ' "$WORK/said")
    set -- $counts
    passed=$((passed + $1 - left_out)) failed=$((failed + $2)) ignored=$((ignored + left_out))
    echo "$name: $(($1 - left_out)) passed, $2 failed, $left_out ignored under emulation"
    [ "$status" = 0 ] || cat "$WORK/said"
    grep '^ignored under emulation: ' "$WORK/said" | sed 's/^/    /'
done < "$WORK/programs"
echo "arm64: $passed passed, $failed failed, $ignored ignored under emulation"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
INSIDE

ASSAY_EMULATED=1 QEMU_LD_PREFIX=$libraries EMULATOR=$(command -v "$emulator") WORK=$work PATH="$work/bin:$PATH" \
    unshare -Ur -m sh "$work/inside.sh"
