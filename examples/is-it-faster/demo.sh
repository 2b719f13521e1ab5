#!/bin/sh
# Two questions about everyday tools, on the text of this project: one pair that differs, one that does not.
# Usage: demo.sh ASSAY [--smoke]     --smoke: only a few blocks, to check that it works
set -eu

assay=$(realpath "$1")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# Real text: the sources, documents and licenses of this project.
find crates c docs LICENSE-APACHE Cargo.lock -type f \( -name '*.rs' -o -name '*.md' -o -name '*.c' -o -name 'LICENSE*' -o -name '*.lock' \) \
    -exec cat {} + > "$work/text"
head -c 400000 "$work/text" > "$work/part"

cd "$work"

# Shows the command as a user would type it, then runs it.
ask() {
    printf '\n$ assay run'
    printf " '%s'" "$@"
    printf '\n\n'
    "$assay" run "$@"
}

[ "${2-}" = --smoke ] && few='--runs=7 --no-save' || few=--warmup=1

echo "Question 1: does sort get faster when it may compare bytes instead of letters?"
# shellcheck disable=SC2086 # a list of options
ask $few --name=letters --name=bytes 'LC_ALL=C.UTF-8 sort text' 'LC_ALL=C sort text'

echo
echo "Question 2: gzip compresses at level 6 unless told otherwise, says its manual. Does saying so cost anything?"
echo "(gzip only computes, so its CPU time decides: other work on this machine disturbs that less than wall time.)"
# shellcheck disable=SC2086
ask $few --primary=cpu --name=default --name=level-6 'gzip -c part' 'gzip -6 -c part'
