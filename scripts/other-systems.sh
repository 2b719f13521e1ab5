#!/bin/sh
# Checks that `assay` compiles for systems on which it is not run here, and links it for those that
# can be linked without their own tools.
# Usage: other-systems.sh [--check] [TARGET…]     --check: without linking; TARGET [default: all]
#
# zig compiles the C code of dependencies (SQLite) and links everything, since it contains what each
# system needs; the tools are those of `scripts/dist/build.py`. The result cannot be run here, so
# nothing is optimized.
set -eu

cd "$(dirname "$0")/.."
how=build
[ "${1-}" != --check ] || { how=check; shift; }
[ $# -gt 0 ] || set -- x86_64-apple-darwin aarch64-apple-darwin x86_64-unknown-freebsd x86_64-pc-windows-gnu

tools=$(PYTHONPATH=scripts/dist python3 -B -c 'import build; print(build.tools())')
PATH="$tools:$PATH"
export CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_PROFILE_DEV_DEBUG=false CARGO_INCREMENTAL=0
export PATH CARGO_ZIGBUILD_CACHE_DIR="$PWD/target/zig" ZIG_GLOBAL_CACHE_DIR="$PWD/target/zig/cache" ZIG_LOCAL_CACHE_DIR="$PWD/target/zig/cache"

options="--locked -p assay --bin assay --config profile.dev.package.'*'.opt-level=0 --config profile.dev.package.assay-stats.opt-level=0"
mkdir -p target
log=target/other-systems.log
failed=0
summary=
for target in "$@"; do
    if command -v rustup >/dev/null; then
        rustup target list --installed | grep -qx "$target" || rustup target add "$target" >&2
    fi
    verb=zigbuild did="compiled and linked"
    [ "$how" = build ] || verb=check did=compiled
    echo "building for $target, which takes minutes" >&2
    if ! cargo-zigbuild "$verb" $options --target "$target" 2>"$log"; then
        cat "$log" >&2
        # Everything is compiled by then; linking with Apple's own libraries requires files that
        # come only with its compilers (SDKROOT names them).
        did="compiled; linking it takes Apple's SDK"
        grep -q "unable to find system framework" "$log" || { did=FAILED; failed=$((failed + 1)); }
    fi
    echo "$target: $did"
    summary="$summary
  $target: $did"
done
echo "other systems: $(($# - failed)) of $#, none run$summary"
[ "$failed" = 0 ]
