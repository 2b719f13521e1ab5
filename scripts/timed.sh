#!/bin/sh
# Runs a command and notes how long it took, in target/minutes: a line `SECONDS STEP`. `.ci/run` prints them at its end.
# Usage: timed.sh STEP COMMAND [ARGUMENT…]
set -eu

step=$1
shift
began=$(date +%s)
status=0
"$@" || status=$?
mkdir -p target
printf '%5d %s\n' "$(($(date +%s) - began))" "$step" >> target/minutes
exit "$status"
