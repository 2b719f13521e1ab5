#!/bin/sh
# Do four Ruby threads inflate faster in parallel than one at a time, and what do they wait for?
# Usage: run.sh [ASSAY]     ASSAY: the program [default: the one on the PATH]
set -eu

assay=${1-assay}
case $assay in */*) assay=$(realpath "$assay") ;; esac
cd "$(dirname "$0")"

exec "$assay" run --runs 50 --confidence 99% \
    --metric 'inner:s=stdout' \
    --secondary cpu,user,system,voluntary_switches,involuntary_switches,cpu_per_wall \
    -n locked -n parallel \
    'ruby inflate.rb locked' 'ruby inflate.rb parallel'
