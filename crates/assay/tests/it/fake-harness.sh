#!/bin/sh
# Answers as a Google Benchmark program would, from a table beside it: NAME NS [MORE], where MORE is `error TEXT`, `crash`, `garbage`,
# `hang`, `crash-after N` or `crash-counted` (while it is held to one iteration, as it is to be counted alone). Every time is off by
# up to a thousandth, drawn anew in every run.
table="$0.table"
filter=
out=
for argument in "$@"; do
    case "$argument" in
        --help) echo "benchmark [--benchmark_list_tests={true|false}] [--benchmark_min_time=\`<integer>x\` OR \`<float>s\`]"; exit 0 ;;
        --benchmark_list_tests*) cut -d' ' -f1 "$table"; exit 0 ;;
        --benchmark_filter=*) filter=$(printf %s "$argument" | sed 's/^[^=]*=^//; s/\$$//; s/\\//g') ;;
        --benchmark_out=*) out=${argument#*=} ;;
        --benchmark_min_time=*x) count=${argument#*=}; count=${count%x} ;;
    esac
done
line=$(awk -v name="$filter" '$1 == name' "$table")
set -- $line
build=${BUILD_TYPE:-release}
case "$3" in
    error) shift 3; printf '{"context": {"library_build_type": "release"}, "benchmarks": [{"name": "%s", "run_name": "%s", "run_type": "iteration", "error_occurred": true, "error_message": "%s", "iterations": 0, "real_time": 0, "cpu_time": 0, "time_unit": "ns"}]}' "$filter" "$filter" "$*" > "$out"; exit 0 ;;
    crash) echo "assertion failed: size > 0" >&2; kill -ABRT $$ ;;
    garbage) echo "no json at all {" > "$out"; exit 0 ;;
    crash-counted) [ "$count" != 1 ] || { echo "no counting here" >&2; exit 7; } ;;
    hang) exec sleep 60 ;;
    crash-after) echo x >> "$0.runs"; [ "$(wc -l < "$0.runs")" -le "$4" ] || { echo "out of luck" >&2; exit 7; } ;;
esac
[ -n "$OWN_ARGUMENT" ] && echo "$OWN_ARGUMENT" >> "$0.seen"
awk -v name="$filter" -v ns="$2" -v count="${count:-1000}" -v pid=$$ -v build="$build" -v calls="${5:-0}" 'BEGIN {
    srand(pid); own = ns * (1 + rand() / 1000)
    printf "{\"context\": {\"library_build_type\": \"%s\"}, \"benchmarks\": [{\"name\": \"%s\", \"run_name\": \"%s\", \"run_type\": \"iteration\", \"repetitions\": 1, \"repetition_index\": 0, \"threads\": 1, \"iterations\": %d, \"real_time\": %.9g, \"cpu_time\": %.9g, \"time_unit\": \"ns\", \"calls\": %d}]}", build, name, name, count, own, own, calls * count
}' > "$out"
