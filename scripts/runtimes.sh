#!/bin/sh
# Installs, in target/runtimes, the programs used by the tests of benchmark harnesses of interpreted
# languages: pyperf, pytest-benchmark and py-spy in a separate environment; benchmark-ips from
# Debian; tinybench, mitata and vitest from npm; a small jar of JMH, if a JDK and Maven are already
# installed (installing those for one test would cost more than all the rest). Missing programs are
# reported, and their tests are skipped.
set -eu
cd "$(dirname "$0")/.."
programs=crates/harness/tests/programs
mkdir -p target/runtimes

# Installs Debian packages, only as root.
debian() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

python=target/runtimes/python
if ! cmp -s "$programs/python/requirements.txt" "$python/installed.txt"; then
    rm -rf "$python"
    { python3 -m venv "$python" 2>/dev/null || { rm -rf "$python"; debian python3-venv && python3 -m venv "$python"; }; } \
        && "$python/bin/pip" install --quiet --requirement "$programs/python/requirements.txt" \
        && cp "$programs/python/requirements.txt" "$python/installed.txt" \
        || echo "pyperf, pytest-benchmark and py-spy could not be installed: their tests are skipped" >&2
fi

if ! ruby -e 'require "benchmark/ips"' 2>/dev/null; then
    debian ruby ruby-benchmark-ips \
        || echo "benchmark-ips could not be installed (Debian: ruby-benchmark-ips): its tests are skipped" >&2
fi

if ! command -v redis-server >/dev/null || ! ruby -e 'require "redis"' 2>/dev/null; then
    debian redis-server ruby-redis \
        || echo "Redis could not be installed (Debian: redis-server ruby-redis): the half of an example that needs it is left out" >&2
fi

if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || ! ruby -e '%w[pg sqlite3 mysql2 puma rack].each { |gem| require gem }' 2>/dev/null; then
    debian postgresql ruby-pg ruby-sqlite3 ruby-mysql2 puma ruby-rack \
        || echo "PostgreSQL, puma and the gems of databases could not be installed (Debian: postgresql ruby-pg ruby-sqlite3 ruby-mysql2 puma ruby-rack): their tests are skipped" >&2
fi

# The type checkers for the Python package; npm's own cache serves later runs.
pyright=target/runtimes/pyright
if [ "$(cat "$pyright/installed" 2>/dev/null)" != "1.1.414" ]; then
    { command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix "$pyright" pyright@1.1.414 && echo 1.1.414 > "$pyright/installed"; } \
        || echo "pyright could not be installed (npm): its tests are skipped" >&2
fi

# The Python package is also tested with real servers.
if ! [ -x /usr/sbin/mariadbd ] || ! pkg-config --exists libmariadb 2>/dev/null; then
    debian mariadb-server-core libmariadb-dev pkg-config \
        || echo "MariaDB could not be installed (Debian: mariadb-server-core libmariadb-dev pkg-config): tests of mysqlclient are skipped" >&2
fi
sh python/test/run.sh install || echo "the environment of the Python package's tests could not be made" >&2

javascript=target/runtimes/javascript
if [ "$(cat "$javascript/installed" 2>/dev/null)" != "6.2.3 3.1.1 1.0.34 1.0.20" ]; then
    { command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix "$javascript" tinybench@6.2.3 mitata@1.0.34 \
        && npm install --silent --no-audit --no-fund --prefix "$javascript/earlier" tinybench@3.1.1 mitata@1.0.20 && echo 6.2.3 3.1.1 1.0.34 1.0.20 > "$javascript/installed"; } \
        || echo "tinybench and mitata could not be installed (npm): their tests are skipped" >&2
fi

# Programs used by the tests of crates/mutate.
vitest=target/runtimes/vitest
if [ "$(cat "$vitest/installed" 2>/dev/null)" != "4.0.17" ]; then
    { command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix "$vitest" vitest@4.0.17 && echo 4.0.17 > "$vitest/installed"; } \
        || echo "vitest could not be installed (npm): its tests are skipped" >&2
fi

jmh=target/runtimes/jmh
sources=$programs/java
if ! command -v javac >/dev/null || ! command -v mvn >/dev/null; then
    echo "no JDK with Maven: the test of JMH is skipped" >&2
elif ! [ "$jmh/sums.jar" -nt "$sources/src/sums/Sums.java" ] || ! [ "$jmh/sums.jar" -nt "$sources/pom.xml" ]; then
    rm -rf "$jmh"
    mkdir -p "$jmh/classes"
    {
        mvn -q -B -f "$sources/pom.xml" dependency:copy-dependencies -DoutputDirectory="$PWD/$jmh/lib" >/dev/null \
            && libraries=$(printf '%s:' "$jmh"/lib/*.jar) \
            && javac -cp "$libraries" -processorpath "$libraries" -d "$jmh/classes" "$sources/src/sums/Sums.java" \
            && printf 'Main-Class: org.openjdk.jmh.Main\nClass-Path:%s\n' \
                "$(cd "$jmh" && for jar in lib/*.jar; do printf ' %s' "$jar"; done)" > "$jmh/manifest" \
            && jar --create --file "$jmh/sums.jar" --manifest "$jmh/manifest" -C "$jmh/classes" .
    } || echo "the jar of JMH could not be built: its test is skipped" >&2
fi
