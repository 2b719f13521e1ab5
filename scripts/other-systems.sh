#!/bin/sh
# Checks that `assay` compiles for the systems that it is not run on here, and links it there.
# Usage: other-systems.sh [--check] [TARGET…]     --check: without linking; TARGET [default: all]
#
# C in dependencies (SQLite) is compiled, and all is linked, by zig, which has what that takes for each of them; it and cargo-zigbuild come
# from PyPI at fixed versions, into a directory below target/. What comes out is not run: nothing here can.
set -eu

cd "$(dirname "$0")/.."
how=build
[ "${1-}" != --check ] || { how=check; shift; }
[ $# -gt 0 ] || set -- x86_64-apple-darwin aarch64-apple-darwin x86_64-unknown-freebsd x86_64-pc-windows-gnu

tools=$PWD/target/other-systems-tools
if ! [ -f "$tools/installed" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check cargo-zigbuild==0.24.1 ziglang==0.17.1
    touch "$tools/installed"
fi
PATH="$tools/bin:$PATH"
export PATH CARGO_ZIGBUILD_CACHE_DIR="$PWD/target/zig" ZIG_GLOBAL_CACHE_DIR="$PWD/target/zig/cache" ZIG_LOCAL_CACHE_DIR="$PWD/target/zig/cache"

failed=0
summary=
for target in "$@"; do
    if command -v rustup >/dev/null; then
        rustup target list --installed | grep -qx "$target" || rustup target add "$target" >&2
    fi
    case $how in
        check) cargo-zigbuild check --locked --target "$target" -p assay --bin assay || target="$target (FAILED)" ;;
        build) cargo-zigbuild zigbuild --locked --target "$target" -p assay --bin assay || target="$target (FAILED)" ;;
    esac
    case $target in *FAILED*) failed=$((failed + 1)) ;; esac
    summary="$summary $target,"
done
done=compiled
[ "$how" = check ] || done="compiled and linked"
echo "other systems: $(($# - failed)) of $# $done, none run:${summary%,}"
[ "$failed" = 0 ]
