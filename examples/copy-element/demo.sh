#!/bin/sh
# One program, two versions of the library that it loads: is copying faster if all memory is
# allocated in one step?
# Usage: demo.sh ASSAY [--smoke]     --smoke: only a few blocks, to check that it works
set -eu

assay=$(realpath "$1")
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT INT TERM
make -s OUT="$out"

[ "${2-}" = --smoke ] && few='--runs=7 --no-save --run-time=5ms' || few=--threshold=1%
cd "$out"
echo "\$ assay bench ./bench --old-env LD_LIBRARY_PATH=old --new-env LD_LIBRARY_PATH=new --alloc"
echo
# Debian's Google Benchmark reports that it was not optimized; the benchmarks and the library here
# are optimized.
# shellcheck disable=SC2086 # a list of options
"$assay" bench $few -n old -n new ./bench --old-env LD_LIBRARY_PATH=old --new-env LD_LIBRARY_PATH=new --alloc
