#!/bin/sh
# Answers as a program that was linked with Google Benchmark would. Its one benchmark takes as many ns as the file `speed` in the
# directory it is run in says, and a little more that differs from process to process.
for word; do
    case $word in
    --help)
        echo 'benchmark [--benchmark_list_tests={true|false}]'
        echo '          [--benchmark_min_time=`<integer>x` OR `<float>s`]'
        exit 0
        ;;
    --benchmark_list_tests=true)
        echo BM_One
        exit 0
        ;;
    --benchmark_out=*) out=${word#*=} ;;
    esac
done
speed=$(cat speed)
little=$(printf %02d $(($$ % 100)))
cat >"$out" <<END
{"context": {"library_build_type": "release"}, "benchmarks": [{"name": "BM_One", "run_name": "BM_One", "run_type": "iteration",
"repetitions": 1, "repetition_index": 0, "threads": 1, "iterations": 1000, "real_time": $speed.$little, "cpu_time": $speed.$little,
"time_unit": "ns"}]}
END
