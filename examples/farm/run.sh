#!/bin/sh
# A whole farm on one machine: a server with PostgreSQL, an agent for each available runtime, twenty
# packages, and two planted faults that it has to find.
# Usage: run.sh ASSAY [--smoke]     --smoke: a few packages, SQLite, no network
# Everything listens only on the loopback device, and is stopped and removed at the end, even after
# Ctrl-C.
set -eu

assay=$(realpath "$1")
size=${2---all}
cd "$(dirname "$0")"

missing=
command -v bwrap >/dev/null || missing="$missing bubblewrap"
command -v setpriv >/dev/null || missing="$missing util-linux"
command -v git >/dev/null || missing="$missing git"
[ -x /usr/bin/python3 ] || missing="$missing python3"
if [ "$size" != --smoke ]; then
    [ -x /usr/bin/ruby ] || missing="$missing ruby"
    /usr/bin/python3 -c 'import venv, ensurepip' 2>/dev/null || missing="$missing python3-venv"
    ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
fi
if [ -n "$missing" ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "These are missing. On Debian: apt-get install$missing" >&2
        exit 1
    fi
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

# The sandbox's user must be able to access it.
WORK=$(mktemp -d)
chmod 755 "$WORK"
export WORK
running=
# PostgreSQL refuses to run as root.
as_postgres() {
    if [ "$(id -u)" = 0 ]; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}
stop() {
    # shellcheck disable=SC2086 # a list of numbers
    [ -z "$running" ] || kill $running 2>/dev/null || true
    wait
    if [ -e "$WORK/postgresql/data/postmaster.pid" ]; then
        as_postgres "$postgresql/pg_ctl" -D "$WORK/postgresql/data" -m immediate -w stop >/dev/null || true
    fi
    rm -rf "$WORK"
}
trap stop EXIT
trap 'exit 130' INT TERM

store=
if [ "$size" != --smoke ]; then
    postgresql=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
    mkdir -p "$WORK/postgresql"
    [ "$(id -u)" != 0 ] || chown postgres "$WORK/postgresql"
    as_postgres "$postgresql/initdb" -D "$WORK/postgresql/data" -A trust -U farm --no-sync >/dev/null
    as_postgres "$postgresql/pg_ctl" -D "$WORK/postgresql/data" -l "$WORK/postgresql/log" -w start \
        -o "-k $WORK/postgresql -c listen_addresses='' -c fsync=off" >/dev/null
    as_postgres "$postgresql/createdb" -h "$WORK/postgresql" -U farm farm
    store="--store postgres://farm@localhost/farm?host=$WORK/postgresql"
fi

# Our own gems, in our own index.
index=none
if [ -x /usr/bin/ruby ]; then
    sh gems.sh "$WORK/gems" >/dev/null
    /usr/bin/python3 serve.py "$WORK/gems" "$WORK/index" &
    running="$running $!"
fi

# shellcheck disable=SC2086 # two words, or none
"$assay" farm serve --data "$WORK/farm" --listen 127.0.0.1:0 --log error --ask 1s --rate 500 $store >"$WORK/address" &
running="$running $!"
waited=0
until [ -s "$WORK/address" ] && [ -s "$WORK/farm/admin-token" ] && { [ ! -x /usr/bin/ruby ] || [ -s "$WORK/index" ]; }; do
    sleep 0.2
    waited=$((waited + 1))
    [ "$waited" -lt 300 ] || { echo "the server does not start" >&2; exit 1; }
done
server=$(cat "$WORK/address")
[ ! -x /usr/bin/ruby ] || index=$(cat "$WORK/index")
echo "the farm: $server"

# An agent for each runtime, that is, for programs that every user can run.
agents=0
for runtime in ruby python node; do
    case $runtime in
        ruby | node) [ -x /usr/bin/$runtime ] || continue ;;
    esac
    # shellcheck disable=SC2086 # two words, or none
    (umask 077 && "$assay" farm token add --data "$WORK/farm" $store --scope agent --node "$runtime" "$runtime" >"$WORK/token-$runtime")
    PATH=/usr/local/bin:/usr/bin:/bin "$assay" farm agent --server "$server" --name "$runtime" --runtime "$runtime" \
        --token-file "$WORK/token-$runtime" --directory "$WORK/agent-$runtime" --calibrate 0 2>"$WORK/agent-$runtime.log" &
    running="$running $!"
    agents=$((agents + 1))
done

packages=all
patience=570
[ "$size" != --smoke ] || packages=few
if ! /usr/bin/python3 fill.py "$server" "$WORK/farm/admin-token" "$index" "$packages" "$patience" "$agents" 2>"$WORK/wrong"; then
    echo "--- what the agents said" >&2
    tail -n 30 "$WORK"/agent-*.log >&2
    cat "$WORK/wrong" >&2
    exit 1
fi
