#!/bin/sh
# Builds the fuzz targets and runs each in sequence. TIME is the total for all of them. The corpus
# of a target is in fuzz/corpus/TARGET, so that the next run continues from there; an input that
# causes a failure is saved in fuzz/artifacts/TARGET.
# Usage: fuzz.sh TIME [TARGET…], with TIME as in 90s, 10m, 2h.
set -eu
cd "$(dirname "$0")/.."

time=${1:?how long, as in 10m}
shift
case $time in
    *h) seconds=$((${time%h} * 3600)) ;;
    *m) seconds=$((${time%m} * 60)) ;;
    *) seconds=$((${time%s})) ;;
esac
only="$*"
[ $# -gt 0 ] || set -- $(ls fuzz/fuzz_targets | sed 's/\.rs$//')
each=$((seconds / $#))
if [ "$each" -lt 1 ]; then
    echo "TIME=$time: $# targets take turns, and each needs a second at least" >&2
    exit 2
fi

tools=$PWD/target/fuzz-tools
PATH=$tools/bin:$PATH
if ! cargo fuzz --version >/dev/null 2>&1; then
    cargo install --quiet --locked --root "$tools" cargo-fuzz
fi
# Using one codegen unit per crate would keep a single core busy for minutes, for targets that run hardly
# faster.
units="--codegen-units 16"
began=$(date +%s)
if [ -n "$only" ]; then
    for target; do
        cargo +nightly fuzz build $units "$target"
    done
else
    # Building all of them together keeps all cores busy.
    cargo +nightly fuzz build $units
fi
echo "built in $(($(date +%s) - began)) s; each of $# targets runs for $each s"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
broken=
sum=0
printf '%-20s %14s %10s %10s\n' target executions coverage inputs
for target; do
    corpus=fuzz/corpus/$target
    mkdir -p "$corpus"
    seeds=fuzz/seeds/$target
    # Starts from the files of its tests.
    [ "$target" != profile ] || seeds=crates/profiles/tests/files
    set -- -max_total_time="$each" -print_final_stats=1
    case $target in import_any | import_json | import_text) set -- "$@" -dict=fuzz/dictionaries/import.dict ;; esac
    if ! cargo +nightly fuzz run $units "$target" "$corpus" "$seeds" -- "$@" >"$log" 2>&1; then
        broken="$broken $target"
        tail -n 40 "$log" >&2
    fi
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    sum=$((sum + ${executions:-0}))
    printf '%-20s %14s %10s %10s\n' "$target" "${executions:-?}" "${coverage:-?}" "$(ls "$corpus" | wc -l)"
done
printf '%-20s %14s\n' 'in all' "$sum"
if [ -n "$broken" ]; then
    echo "broken:$broken; the inputs are in fuzz/artifacts" >&2
    exit 1
fi
