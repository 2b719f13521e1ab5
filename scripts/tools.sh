#!/bin/sh
# Makes sure that what building and testing need is there, installing it with apt where it is not.
# Usage: tools.sh [build]     build: only what the build and the demo need, a C compiler with the static C library (the launcher)
# Without that word also git (its state is recorded with every run); for the gem and the examples, which the tests run, Ruby with
# its headers and test libraries, and Python; for the harnesses of benchmarks Go and Catch2; valgrind for counted instructions;
# samplers for profiles; and for the pages a browser.
set -eu

missing=
browser=
command -v cc >/dev/null || missing="$missing gcc"
if command -v cc >/dev/null; then
    # A static program is the real question; the header alone may be there without the library.
    probe=$(mktemp -d)
    trap 'rm -rf "$probe"' EXIT
    printf 'int main(void) { return 0; }\n' > "$probe/p.c"
    cc -static -o "$probe/p" "$probe/p.c" 2>/dev/null || missing="$missing libc6-dev"
else
    missing="$missing libc6-dev"
fi

# What the tests need beside it.
everything() {
    command -v git >/dev/null || missing="$missing git"
    command -v ruby >/dev/null || missing="$missing ruby"
    ruby -e 'require "mkmf"' >/dev/null 2>&1 || missing="$missing ruby-dev"
    ruby -e 'require "minitest"' 2>/dev/null || missing="$missing ruby-minitest"
    ruby -e 'require "rspec"' 2>/dev/null || missing="$missing ruby-rspec"
    ruby -e 'require "test/unit"' -e 'exit!(true)' 2>/dev/null || missing="$missing ruby-test-unit"
    # Servers for `assay load` to load, in its example.
    command -v unicorn >/dev/null || missing="$missing unicorn"
    command -v thin >/dev/null || missing="$missing thin"
    [ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing="$missing nginx"
    # Servers for the tests of `assay history` and of `assay tests --with`, and what the example with the latter needs.
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
    # Samplers, for the tests of `assay profile`: only root gets them unasked, and without them those tests say that they were skipped.
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        # Network namespaces, for generators on other machines; without it that test says that it was skipped.
        command -v ip >/dev/null || missing="$missing iproute2"
        ruby -rstackprof -e exit 2>/dev/null || missing="$missing ruby-stackprof"
        command -v perf >/dev/null || missing="$missing linux-perf"
        # What runs of others' code are kept in.
        command -v bwrap >/dev/null || missing="$missing bubblewrap"
    fi
    # A browser looks at the pages that --report writes. It is large: only root gets it unasked, and without it those tests say that
    # they were skipped.
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
    # Text without any font would have no width.
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $browser fonts-dejavu-core >/dev/null \
        || echo "$browser could not be installed: the tests of pages in a browser are skipped" >&2
fi
