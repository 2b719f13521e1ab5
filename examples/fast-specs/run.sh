#!/bin/sh
# Which of three settings made a suite of 2013 three times as fast? A well-known experiment of
# single runs, repeated with intervals.
# Usage: run.sh ASSAY [--smoke | --full]     --smoke: to see that it works. --full: more runs, also on a page with transactions
# The database is a PostgreSQL that assay starts in a private directory and removes afterwards;
# nothing is written here.
set -eu

assay=$(realpath "$1")
size=${2---short}
cd "$(dirname "$0")"

missing=
command -v rspec >/dev/null || missing="$missing ruby-rspec"
ruby -e 'require "sequel"' 2>/dev/null || missing="$missing ruby-sequel"
ruby -e 'require "pg"' 2>/dev/null || missing="$missing ruby-pg"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || missing="$missing postgresql"
if [ -n "$missing" ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "These are missing. On Debian: apt-get install$missing" >&2
        exit 1
    fi
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

# The settings of the experiment, each compared with none, and all together; further options of
# `assay tests` and the suite follow.
settings() {
    printf '\n$ assay tests --with postgres --toggle gc=off --toggle hash-cost=min --toggle pg.fsync=off --toggle pg.synchronous_commit=off'
    printf " '%s'" "$@"
    printf '\n\n'
    "$assay" tests --no-save --with postgres --toggle gc=off --toggle hash-cost=min \
        --toggle pg.fsync=off --toggle pg.synchronous_commit=off "$@"
}

case $size in
    --smoke)
        "$assay" tests --no-save --with postgres --toggle pg.fsync=off --runs 1 --warmup 0 -- rspec spec/pages_spec.rb -e escapes
        ;;
    --short | --full)
        # Fewer than 13 are not sufficient for verdicts on single tests.
        runs=16
        [ "$size" = --short ] || runs=48
        echo 'One test, as the experiment began:'
        settings --runs "$runs" -- rspec spec/pages_spec.rb -e 'leads from a new account'
        echo 'The whole suite:'
        settings --runs "$runs" -- rspec
        echo 'The same suite, each test in a transaction that is rolled back:'
        settings --runs "$runs" --env TRANSACTIONS=1 -- rspec
        ;;
    *)
        echo "$size: --smoke or --full" >&2
        exit 1
        ;;
esac
