#!/bin/sh
# Reports a value and the time of a region by the sample protocol.   sh example.sh
set -eu

# The destination of the lines: a file to append to, or an open descriptor, opened by its file name.
# Not set: nothing is measuring.
case ${ASSAY_SAMPLES-} in
fd:*) samples=/dev/fd/${ASSAY_SAMPLES#fd:} ;;
path:*) samples=${ASSAY_SAMPLES#path:} ;;
*) samples=/dev/null ;;
esac

# A shell cannot read the monotonic clock, so it reports a duration by the available clock (GNU date
# has nanoseconds).
before=$(date +%s%N)
items=0 sum=0
while [ "$items" -lt 10000 ]; do
    sum=$((sum + items)) items=$((items + 1))
done
after=$(date +%s%N)

printf '{"region":"parse","ns":%s}\n{"metric":"items","better":"higher","value":%s}\n' \
    $((after - before)) "$items" >>"$samples"
echo "$sum"
