#!/bin/sh
# Checks that `assay` compiles for the systems that it is not run on here, and links it there.
# Usage: other-systems.sh [--check] [TARGET…]     --check: without linking; TARGET [default: all]
#
# C in dependencies (SQLite) is compiled, and all is linked, by zig, which has what that takes for each of them: the tools of
# `scripts/dist/build.py`. What comes out is not run: nothing here can. So nothing is optimised, either.
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
failed=0
summary=
for target in "$@"; do
    if command -v rustup >/dev/null; then
        rustup target list --installed | grep -qx "$target" || rustup target add "$target" >&2
    fi
    case $how in
        check) cargo-zigbuild check $options --target "$target" || target="$target (FAILED)" ;;
        build) cargo-zigbuild zigbuild $options --target "$target" || target="$target (FAILED)" ;;
    esac
    case $target in *FAILED*) failed=$((failed + 1)) ;; esac
    summary="$summary $target,"
done
done=compiled
[ "$how" = check ] || done="compiled and linked"
echo "other systems: $(($# - failed)) of $# $done, none run:${summary%,}"
[ "$failed" = 0 ]
