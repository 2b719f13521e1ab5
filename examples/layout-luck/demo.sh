#!/bin/sh
# Is it the code, or its position chosen by the linker?
# Usage: demo.sh ASSAY [--smoke]     --smoke: only a few blocks, to check that it works
set -eu

command -v mold >/dev/null || { echo "this demonstration links with mold (apt install mold)"; exit 0; }
[ "$(uname -m)" = x86_64 ] || { echo "this demonstration is for x86-64"; exit 0; }
assay=$(realpath "$1")
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT INT TERM
make -s OUT="$out" all shuffled
cd "$out"

[ "${2-}" = --smoke ] && few='--runs=12 --no-save --run-time=2ms' || few='--time=10s --primary cpu'
# Debian's Google Benchmark reports that it was not optimized.
echo "\$ assay bench old new"
# shellcheck disable=SC2086 # a list of options
"$assay" bench $few ./old ./new
echo
echo "\$ assay bench --builds 'old-*,new-*'"
# shellcheck disable=SC2086
"$assay" bench $few --builds 'old-*,new-*'
