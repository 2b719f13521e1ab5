#!/bin/sh
# Runs the tests of the gem and of the Python package in parallel, since both mostly wait for
# programs; the output of each suite is printed as a whole.
# Usage: front-ends.sh ASSAY     the program that decides for them
set -eu

ASSAY=$(realpath "$1")
export ASSAY
cd "$(dirname "$0")/.."
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
sh python/test/run.sh > "$said/python" 2>&1 &
python=$!
ended=0
sh ruby/test/run.sh || ended=$?
wait "$python" || ended=$?
cat "$said/python"
exit "$ended"
