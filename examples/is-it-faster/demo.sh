#!/bin/sh
# Two questions about everyday tools, on the text of this project: one pair that differs, one that does not.
# Usage: demo.sh ASSAY [--smoke]     --smoke: a few blocks only, to see that it works
set -eu

assay=$(realpath "$1")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# Some megabytes of real text: the sources, the documents and the licences of this project, several times over.
for _ in 1 2 3 4 5 6; do
    find crates c docs -type f \( -name '*.rs' -o -name '*.md' -o -name '*.c' -o -name '*.txt' \) -exec cat {} + | head -c 1500000
    cat LICENSE-APACHE Cargo.lock
done > "$work/text"

limit=
[ "${2-}" = --smoke ] && limit='--runs 7 --no-save'

echo "Question 1: does sort get faster when it may compare bytes instead of letters?"
echo
set -x
# shellcheck disable=SC2086 # a list of options
"$assay" run $limit --name letters --name bytes \
    "LC_ALL=C.UTF-8 sort $work/text" "LC_ALL=C sort $work/text"
{ set +x; } 2>/dev/null

echo
echo "Question 2: the manual says that gzip compresses at level 6 unless told otherwise. Does saying so cost anything?"
echo
set -x
# shellcheck disable=SC2086
"$assay" run $limit --name default --name level-6 \
    "gzip -c $work/text" "gzip -6 -c $work/text"
{ set +x; } 2>/dev/null
