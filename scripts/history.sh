#!/bin/sh
# Measures how fast this project's own program was: each tagged revision without a run is measured,
# recorded in the history (.assay/history.db), and included in the pages in target/history/site.
# Usage: history.sh ASSAY [REVISION...]     [default: all tags, or the last 5 commits without any]
# ASSAY measures; PROFILE names cargo's profile of what is measured [release].
set -eu

cd "$(dirname "$0")/.."
assay=$(realpath "$1")
shift
if [ $# = 0 ]; then
    # shellcheck disable=SC2046 # names of tags and commits have no spaces
    set -- $(git tag --sort=creatordate)
    # shellcheck disable=SC2046
    [ $# != 0 ] || set -- $(git rev-list --reverse --max-count=5 HEAD)
fi
for revision in "$@"; do
    shift
    set -- "$@" --at "$revision"
done
profile=${PROFILE:-release}
case $profile in dev) directory=debug ;; *) directory=$profile ;; esac
# The common parts of the revisions are compiled once.
export CARGO_TARGET_DIR="$PWD/target/history/built"
data=$PWD/crates/assay/tests/data
mkdir -p .assay

"$assay" history backfill "$@" \
    --build "cargo build --quiet --locked --profile $profile -p assay && cp \"\$CARGO_TARGET_DIR/$directory/assay\" built-assay" \
    -- run --runs 30 \
    -n start './built-assay --version' \
    -n compare "./built-assay compare '$data/lnorm_a.txt' '$data/lnorm_b.txt' --json" \
    -n describe "./built-assay describe '$data/lnorm_a.txt' --json" \
    -n run './built-assay run --runs 5 --no-save --json /bin/true'
"$assay" history site target/history/site
