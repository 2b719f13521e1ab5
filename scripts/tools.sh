#!/bin/sh
# Checks for the tools needed for building and testing, and installs missing ones with apt.
# Usage: tools.sh [build]     build: only the requirements of the build and the demo,
#                             a C compiler with the static C library (the launcher)
# Without that word, it also checks git (whose state is recorded with every run); Ruby with its
# headers and test libraries, and Python, for the gem and the examples, which the tests run; Go and
# Catch2 for benchmark harnesses; valgrind for counting instructions; samplers for profiles; and a
# browser for the pages.
set -eu

missing=
browser=
command -v cc >/dev/null || missing="$missing gcc"
if command -v cc >/dev/null; then
    # Tries to link a static program, since the header may be present without the library.
    probe=$(mktemp -d)
    trap 'rm -rf "$probe"' EXIT
    printf 'int main(void) { return 0; }\n' > "$probe/p.c"
    cc -static -o "$probe/p" "$probe/p.c" 2>/dev/null || missing="$missing libc6-dev"
else
    missing="$missing libc6-dev"
fi

# Additional tools for the tests.
everything() {
    command -v git >/dev/null || missing="$missing git"
    command -v ruby >/dev/null || missing="$missing ruby"
    ruby -e 'require "mkmf"' >/dev/null 2>&1 || missing="$missing ruby-dev"
    ruby -e 'require "minitest"' 2>/dev/null || missing="$missing ruby-minitest"
    ruby -e 'require "rspec"' 2>/dev/null || missing="$missing ruby-rspec"
    ruby -e 'require "test/unit"' -e 'exit!(true)' 2>/dev/null || missing="$missing ruby-test-unit"
    # Servers used as targets of `assay load` in its example.
    command -v unicorn >/dev/null || missing="$missing unicorn"
    command -v thin >/dev/null || missing="$missing thin"
    [ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing="$missing nginx"
    # Servers for the tests of `assay history` and of `assay tests --with`, and the requirements of
    # the latter's example.
    ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
    command -v redis-server >/dev/null || missing="$missing redis-server"
    ruby -e 'require "pg"' 2>/dev/null || missing="$missing ruby-pg"
    ruby -e 'require "sequel"' 2>/dev/null || missing="$missing ruby-sequel"
    command -v openssl >/dev/null || missing="$missing openssl"
    ruby -e 'require "rack"' 2>/dev/null || missing="$missing ruby-rack"
    command -v python3 >/dev/null || missing="$missing python3"
    command -v go >/dev/null || missing="$missing golang-go"
    command -v c++ >/dev/null || missing="$missing g++"
    command -v valgrind >/dev/null || missing="$missing valgrind"
    [ -d /usr/include/catch2 ] || missing="$missing catch2"
    [ -f /usr/include/benchmark/benchmark.h ] || missing="$missing libbenchmark-dev"
    # Samplers, for the tests of `assay profile`: installed only as root; without them those tests
    # are skipped.
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        # Network namespaces, for generators on other machines; without them that test is skipped.
        command -v ip >/dev/null || missing="$missing iproute2"
        ruby -rstackprof -e exit 2>/dev/null || missing="$missing ruby-stackprof"
        command -v perf >/dev/null || missing="$missing linux-perf"
        # Sandboxing for running untrusted code.
        command -v bwrap >/dev/null || missing="$missing bubblewrap"
        # A cluster of virtual nodes, and a server for setting up a farm; without them those tests
        # are skipped.
        { [ -x /usr/sbin/slurmctld ] && [ -x /usr/sbin/munged ]; } || missing="$missing slurm-wlm munge"
        [ -x /usr/sbin/sshd ] || missing="$missing openssh-server"
    fi
    # A browser for checking the pages written by --report. It is large, so it is installed only as
    # root; without it those tests are skipped.
    if command -v chromium || command -v chromium-browser || command -v google-chrome; then
        :
    elif [ "$(id -u)" = 0 ] && command -v apt-get; then
        browser=chromium
    fi >/dev/null
}

[ "${1-}" = build ] || everything
[ -z "$missing$browser" ] && exit 0

if [ -n "$missing" ] && ! command -v apt-get >/dev/null; then
    echo "These are missing, and there is no apt-get to install them:$missing" >&2
    exit 1
fi
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
echo "installing:$missing $browser"
$as_root apt-get update -qq
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086 # a list of names
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
if [ -n "$browser" ]; then
    # Without any font, text would have no width.
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $browser fonts-dejavu-core >/dev/null \
        || echo "$browser could not be installed: the tests of pages in a browser are skipped" >&2
fi
