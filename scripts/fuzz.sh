#!/bin/sh
# Builds the fuzz targets and runs them, one on each core. TIME is the total for all of them. The corpus
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
cores=$(nproc)
[ "$cores" -le $# ] || cores=$#
each=$((seconds * cores / $#))
if [ "$each" -lt 1 ]; then
    echo "TIME=$time: $# targets share $cores cores, and each needs a second at least" >&2
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

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
printf '%-20s %14s %10s %10s\n' target executions coverage inputs
# Runs one target, and prints its row. A file in $results has its executions, or says that it failed.
run='
    target=$1
    corpus=fuzz/corpus/$target
    mkdir -p "$corpus"
    seeds=fuzz/seeds/$target
    # Starts from the files of its tests.
    [ "$target" != profile ] || seeds=crates/profiles/tests/files
    set -- -max_total_time="$EACH" -print_final_stats=1
    case $target in
        import_any | import_json | import_text) set -- "$@" -dict=fuzz/dictionaries/import.dict ;;
        # A scope of threads ends before their own storage is freed, which looks like a leak.
        test_log) set -- "$@" -detect_leaks=0 ;;
    esac
    log=$RESULTS/$target.log
    if ! cargo +nightly fuzz run $UNITS "$target" "$corpus" "$seeds" -- "$@" >"$log" 2>&1; then
        echo "$target" >"$RESULTS/$target.broken"
        tail -n 40 "$log" >&2
    fi
    executions=$(sed -n "s/^stat::number_of_executed_units: *//p" "$log")
    coverage=$(sed -n "s/.* cov: \([0-9]*\) .*/\1/p" "$log" | tail -n 1)
    echo "${executions:-0}" >"$RESULTS/$target.executions"
    printf "%-20s %14s %10s %10s\n" "$target" "${executions:-?}" "${coverage:-?}" "$(ls "$corpus" | wc -l)"
'
printf '%s\n' "$@" | EACH=$each UNITS=$units RESULTS=$results xargs -P "$cores" -n 1 sh -c "$run" sh
printf '%-20s %14s\n' 'in all' "$(cat "$results"/*.executions | awk '{ sum += $1 } END { print sum }')"
if ls "$results"/*.broken >/dev/null 2>&1; then
    echo "broken: $(cat "$results"/*.broken | tr '\n' ' '); the inputs are in fuzz/artifacts" >&2
    exit 1
fi
