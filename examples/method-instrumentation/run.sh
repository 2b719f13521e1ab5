#!/bin/sh
# What does it cost to instrument a method? All experiments of the article, each without work and with a real Redis GET.
# Usage: run.sh [--smoke] [ASSAY]     ASSAY: computes verdicts [default: the one on the PATH]
# Needs ruby 3.1 or newer; redis-server and the gem redis (Debian: redis-server ruby-redis) for the half with Redis.
set -eu

exec ruby "$(dirname "$0")/experiments.rb" "$@"
