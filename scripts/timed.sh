#!/bin/sh
# Runs a command and records its duration in target/minutes: a line `SECONDS STEP`. `.ci/run` prints
# them at the end.
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
