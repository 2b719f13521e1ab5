#!/bin/sh
# Answers as `dotnet X.dll` of a program with BenchmarkDotNet would: its results are the JSON of `--exporters json`, with every measurement. The
# file that stands for the assembly has lines NAME NS; a time is off by up to a thousandth, drawn anew in every run.
assembly=$1
shift
time=0
while [ $# -gt 0 ]; do
    case $1 in
        --help)
            printf '  -e, --exporters     JSON/...\n  -i, --inProcess     (Default: false)\n  -a, --artifacts\n  -f, --filter\n  --launchCount\n  --iterationTime\n'
            exit 0
            ;;
        --filter) filter=$2 ;;
        --artifacts) place=$2 ;;
        --iterationTime) time=$2 ;;
        --inProcess) in_process=yes ;;
    esac
    shift
done
[ "$in_process" ] || { echo "// Build Exception: error NETSDK1045" && exit 1; }
mkdir -p "$place/results"
awk -v filter="$filter" -v pid=$$ -v time="$time" 'BEGIN {
    srand(pid)
    printf "{\"Title\":\"Bench.Words-20260102-030405\",\"HostEnvironmentInfo\":{\"BenchmarkDotNetCaption\":\"BenchmarkDotNet\",\"BenchmarkDotNetVersion\":\"0.14.0\",\"OsVersion\":\"Debian GNU/Linux 12 (bookworm)\",\"ProcessorName\":\"Some\",\"RuntimeVersion\":\".NET 8.0.11\",\"Configuration\":\"RELEASE\"},\"Benchmarks\":["
}
{
    ns = $NF; name = $0; sub(/ [^ ]*$/, "", name)
    if (filter != "*" && filter != name) next
    calls = time > 0 ? int(time * 1e6 / ns) + 1 : 1
    own = ns * calls * (1 + rand() / 1000)
    method = name; sub(/\(.*/, "", method); sub(/.*\./, "", method)
    parameters = ""; if (match(name, /\(.*\)/)) { parameters = substr(name, RSTART + 1, RLENGTH - 2); sub(/: /, "=", parameters) }
    printf "%s{\"DisplayInfo\":\"Words.%s: Job\",\"Namespace\":\"Bench\",\"Type\":\"Words\",\"Method\":\"%s\",\"MethodTitle\":\"%s\",\"Parameters\":\"%s\",\"FullName\":\"%s\",\"Statistics\":{\"OriginalValues\":[%.9g],\"N\":1,\"Min\":%.9g,\"Median\":%.9g,\"Mean\":%.9g,\"Max\":%.9g,\"StandardError\":0,\"StandardDeviation\":0},\"Measurements\":[{\"IterationMode\":\"Workload\",\"IterationStage\":\"Warmup\",\"LaunchIndex\":1,\"IterationIndex\":1,\"Operations\":%d,\"Nanoseconds\":%d},{\"IterationMode\":\"Workload\",\"IterationStage\":\"Actual\",\"LaunchIndex\":1,\"IterationIndex\":1,\"Operations\":%d,\"Nanoseconds\":%d},{\"IterationMode\":\"Workload\",\"IterationStage\":\"Result\",\"LaunchIndex\":1,\"IterationIndex\":1,\"Operations\":%d,\"Nanoseconds\":%d}]}", comma, method, method, method, parameters, name, own / calls, own / calls, own / calls, own / calls, own / calls, calls, 2 * own, calls, own, calls, own
    comma = ","
}
END { print "]}" }' "$assembly" >"$place/results/Bench.Words-report-full-compressed.json"
