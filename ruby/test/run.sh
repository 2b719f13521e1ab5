#!/bin/sh
# Runs the gem's tests. Those of the profiler, and the cases shared by both front ends, run three
# times: with the recorder in C, under YJIT, and with the recorder in Ruby.
# Usage: run.sh [FILE...]     FILE: a path relative to ruby/, such as
# test/method_profiler/counting_test.rb
# Needs ruby, ruby-dev, ruby-minitest and a C compiler; builds into ruby/tmp (build.sh).
set -eu

cd "$(dirname "$0")/.."
sh build.sh

run() { # the options of ruby, then the files of tests
    options=$1
    shift
    [ "$#" -eq 0 ] || ruby -w $options -I lib -I tmp -I test -e 'ARGV.each { |file| require File.expand_path(file) }' "$@" </dev/null
}

if [ "$#" -gt 0 ]; then
    run "" "$@"
    exit
fi

profiler=$(find test/method_profiler test/cases -name '*_test.rb' | sort)
others=$(find test -name '*_test.rb' -not -path 'test/method_profiler/*' -not -path 'test/cases/*' | sort)
# Paths have no blanks here: they are the names of this repository's tests.
echo "# the recorder in C"
ASSAY_RECORDER=native run "" $profiler
if ruby --yjit -e 'exit RubyVM::YJIT.enabled?' 2>/dev/null; then # Some Rubies lack YJIT, and only warn.
    echo "# the recorder in C, under YJIT"
    ASSAY_RECORDER=native run "--yjit --yjit-call-threshold=2" $profiler
fi
echo "# the recorder in Ruby"
ASSAY_RECORDER=ruby ASSAY_PURE=1 run "" $profiler
[ -z "$others" ] || { echo "# the rest" && run "" $others; }
