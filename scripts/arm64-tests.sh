#!/bin/sh
# Compiles the launcher, the workload, the counting library and the tests of the measuring crate for
# arm64, and runs the tests as arm64 programs under an emulator. Installs missing packages with apt
# and rustup, only as root.
# Usage: arm64-tests.sh [TEST…]     TEST: parts of the names of tests, as in `runs:: kept::` [default: all]
#
# Small probe programs determine how the emulator, and the namespace that registers it with the
# kernel, differ from a real machine. The differences are passed to the tests in ASSAY_EMULATED, so
# that they skip affected checks.
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
    # Without recommended packages, one of which would change the machine's own binfmt_misc.
    apt-get install -y --no-install-recommends $missing >&2
fi
if command -v rustup >/dev/null; then
    rustup target list --installed | grep -qx "$target" || rustup target add "$target" >&2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Tests compile programs with `cc`, which must be for this processor as well.
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s "$@"\n' "$compiler" > "$work/bin/cc"
chmod +x "$work/bin/cc"
ln -s "$(command -v aarch64-linux-gnu-objcopy)" "$work/bin/objcopy"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$compiler
export CC_aarch64_unknown_linux_gnu=$compiler
# Compiling takes longer than running, so nothing is optimized.
export CARGO_PROFILE_DEV_OPT_LEVEL=0
options="--locked -p assay-measure --target $target --config profile.dev.package.'*'.opt-level=0"
# Tests start examples, which must be built as programs.
cargo build $options --examples
cargo test $options --no-run --lib --tests --message-format=json > "$work/built.json"
# Extracts the paths of test programs, without a JSON tool.
sed -n '/"reason":"compiler-artifact"/{/"test":true/s/.*"executable":"\([^"]*\)".*/\1/p;}' "$work/built.json" > "$work/programs"

# Probe: the child of a vfork shares its parent's memory, so the parent reads what it writes.
cat > "$work/vfork.c" <<'PROBE'
#include <sys/wait.h>
#include <unistd.h>
static volatile int told;
int main(void)
{
    pid_t child = vfork();
    if (child == 0) {
        told = 1;
        _exit(0);
    }
    return waitpid(child, NULL, 0) != child || !told;
}
PROBE
# Probe: a static program that does nothing takes less than 4 MiB.
cat > "$work/peak.c" <<'PROBE'
#include <sys/resource.h>
int main(void)
{
    struct rusage own;
    return getrusage(RUSAGE_SELF, &own) != 0 || own.ru_maxrss >= 4096;
}
PROBE
# Probe: memory marked to be wiped in a forked child is wiped.
cat > "$work/wipe.c" <<'PROBE'
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    char *page = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, 65536, MADV_WIPEONFORK) != 0)
        return 0;
    page[0] = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(page[0]);
    int status = 0;
    return waitpid(child, &status, 0) != child || status != 0;
}
PROBE
# Probe: a process can adopt orphans.
cat > "$work/orphans.c" <<'PROBE'
#include <sys/prctl.h>
int main(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0; }
PROBE
for probe in vfork peak wipe orphans; do "$compiler" -static -o "$work/$probe" "$work/$probe.c"; done

cat > "$work/inside.sh" <<'INSIDE'
set -u
otherwise=" time"
for probe in vfork peak wipe orphans; do "$WORK/$probe" || otherwise="$otherwise $probe"; done
chroot --groups= --userspec=65534:65534 / true 2> /dev/null || otherwise="$otherwise users"
[ "$(od -An -tu1 -j18 -N1 /bin/sh | tr -d ' ')" = 183 ] || otherwise="$otherwise machine"
export ASSAY_EMULATED="${otherwise# }"
echo "what is otherwise here than on a machine: ${ASSAY_EMULATED:-nothing}"
passed=0 failed=0 ignored=0
while read -r program; do
    name=$(basename "$program" | sed 's/-[0-9a-f]*$//')
    # The sandbox does not depend on the processor, and its programs would be those of this machine.
    # shellcheck disable=SC2086 # words
    "$program" $CHOSEN --skip sandbox:: --skip escapes:: --nocapture < /dev/null > "$WORK/said" 2>&1
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

QEMU_LD_PREFIX=$libraries WORK=$work CHOSEN="$*" PATH="$work/bin:$PATH" sh scripts/emulated.sh sh "$work/inside.sh"
