#!/bin/sh
# Are a request's totals correct, and what do they cost? Uses a Rack application under puma, with
# real PostgreSQL and Redis servers.
# Usage: run.sh [ASSAY] [--smoke]     ASSAY: the program [default: the one on the PATH]
#                                   --smoke: a few requests, to check that it works
# Everything listens only on the loopback device, and is stopped and removed at the end, even after
# Ctrl-C.
set -eu

assay=${1-assay}
case $assay in */*) assay=$(realpath "$assay") ;; esac
cd "$(dirname "$0")"
gem=$(realpath ../../ruby)

ruby -e 'missing = %w[pg redis puma rack].reject { |gem| begin require gem; rescue LoadError; false; end }
  abort("These gems are missing: #{missing.join(", ")}. On Debian: apt-get install ruby-pg ruby-redis puma ruby-rack") if missing.any?'
command -v redis-server >/dev/null || { echo "redis-server is missing. On Debian: apt-get install redis-server" >&2; exit 1; }
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { echo "PostgreSQL is missing. On Debian: apt-get install postgresql" >&2; exit 1; }

# Builds the gem's C extension. If that fails, the recorder in Ruby counts, and the program reports
# it.
if [ ! -e "$gem/tmp/assay/native.so" ]; then
    sh "$gem/build.sh" >&2 || echo "the extension in C could not be built" >&2
fi

exec ruby -I "$gem/lib" -I "$gem/tmp" experiment.rb "$assay" "${2---full}"
