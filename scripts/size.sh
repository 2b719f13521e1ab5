#!/bin/sh
# Product lines of Rust, per crate and in total: lines that are neither blank nor comments nor
# tests. Tests are files under tests/, examples/ and benches/ or named tests.rs, and `#[cfg(test)]
# mod` blocks. rustfmt closes a block at the column where it was opened, which is all that this
# script needs to know about the language.
# Usage: sh scripts/size.sh [DIRECTORY…]; by default every crate of the workspace.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- crates/*
for crate in "$@"; do
    find "$crate" -name target -prune -o \( -name tests -o -name examples -o -name benches \) -prune -o \
        -name '*.rs' ! -name tests.rs -print | sort | xargs awk -v crate="$crate" '
        FNR == 1 { skipping = 0; marked = 0; comment = 0 }
        { line = $0; sub(/^[ \t]+/, "", line); indent = length($0) - length(line) }
        skipping { if (indent == column && line ~ /^}/) skipping = 0; next }
        comment { if (line ~ /\*\//) comment = 0; next }
        line == "" || line ~ /^\/\// { next }
        line ~ /^\/\*/ { if (line !~ /\*\//) comment = 1; next }
        line == "#[cfg(test)]" { marked = 1; next }
        marked && line ~ /^#\[/ { next }
        marked && line ~ /^(pub(\([a-z]+\))? )?mod / {
            marked = 0
            if (line ~ /{$/) { skipping = 1; column = indent }
            next
        }
        marked { marked = 0; lines++ }
        { lines++ }
        END { print lines + 0, crate }'
done | awk '
    { sum += $1; printf "%8d  %s\n", $1, $2 }
    END { printf "%8d  in all\n", sum }'
