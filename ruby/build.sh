#!/bin/sh
# Builds the extension in C into ruby/tmp, where tests, benches and examples look for it. Needs ruby with its headers and a C compiler.
# Usage: build.sh     RUBY: the ruby [default: the one on the PATH]
set -eu

cd "$(dirname "$0")"
mkdir -p tmp/build tmp/assay
(cd tmp/build && "${RUBY:-ruby}" ../../ext/assay/extconf.rb >extconf.log && make --silent >make.log) || {
    cat tmp/build/*.log >&2
    exit 1
}
# Under another name first: overwriting it would crash programs that have loaded it.
cp tmp/build/native.so tmp/assay/native.so.new
mv tmp/assay/native.so.new tmp/assay/native.so
