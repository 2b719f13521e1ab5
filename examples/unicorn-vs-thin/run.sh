#!/bin/sh
# Unicorn or Thin? Repeats a well-known, inconclusive experiment of 2013, and answers what it left
# open.
# Usage: run.sh ASSAY [--smoke | --full]     --smoke: a few requests, to check that it works
#                                          --full: hours, like the original
# Everything listens only on the loopback device or a socket, and is stopped and removed at the end,
# even after Ctrl-C.
set -eu

assay=$(realpath "$1")
size=${2---short}
cd "$(dirname "$0")"

# Debian's nginx is in a directory that may not be on the PATH.
PATH=$PATH:/usr/sbin
missing=
command -v unicorn >/dev/null || missing="$missing unicorn"
command -v thin >/dev/null || missing="$missing thin"
command -v nginx >/dev/null || missing="$missing nginx"
command -v openssl >/dev/null || missing="$missing openssl"
ruby -e 'require "rack"' 2>/dev/null || missing="$missing ruby-rack"
database=
ruby -e 'require "pg"' 2>/dev/null || database="$database ruby-pg"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || database="$database postgresql"
# Installing a database would be too much for a few requests.
if [ -n "$database" ] && [ "$size" = --smoke ]; then
    echo "without the page that asks PostgreSQL; for that:$database"
else
    missing="$missing$database"
    database=
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

WORK=$(mktemp -d)
export WORK
# PostgreSQL refuses to run as root.
as_postgres() {
    if [ "$(id -u)" = 0 ]; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}
stop() {
    if [ -e "$WORK/postgresql/data/postmaster.pid" ]; then
        as_postgres "$postgresql/pg_ctl" -D "$WORK/postgresql/data" -m immediate -w stop >/dev/null || true
    fi
    rm -rf "$WORK"
}
trap stop EXIT
trap 'exit 130' INT TERM

# A database in a private directory, accessed through a socket there.
start_database() {
    postgresql=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
    chmod 711 "$WORK"
    mkdir "$WORK/postgresql"
    [ "$(id -u)" != 0 ] || chown postgres "$WORK/postgresql"
    (
        cd "$WORK/postgresql"
        as_postgres "$postgresql/initdb" -D data -U postgres -A trust --no-sync >/dev/null
        as_postgres "$postgresql/pg_ctl" -D data -l log -w -o "-c listen_addresses= -c fsync=off -k $WORK/postgresql" start >/dev/null
    )
    export PGHOST="$WORK/postgresql"
    "$postgresql/psql" -q -U postgres postgres <<'SQL'
SELECT setseed(0.5) \g /dev/null
CREATE TABLE customers AS SELECT id, 'customer ' || id AS name, id % 5 AS region FROM generate_series(1, 2000) AS id;
CREATE TABLE orders AS SELECT id, (random() * 1999)::int + 1 AS customer, (random() * 365)::int AS day, (random() * 1000)::int AS amount
    FROM generate_series(1, 60000) AS id;
ALTER TABLE customers ADD PRIMARY KEY (id);
CREATE INDEX ON orders (day);
ANALYZE;
SQL
}
[ -n "$database" ] || start_database

# A self-signed certificate, RSA with 2048 bits, as was usual.
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
    -addext basicConstraints=critical,CA:FALSE -keyout "$WORK/key.pem" -out "$WORK/certificate.pem" 2>/dev/null

# The generator and the servers do not share a processor if there are two.
pins=
[ "$(nproc)" -lt 2 ] || pins='--pin-servers 0 --pin 1'

# Measures with these options; both servers are behind nginx, and each request uses a new connection
# with a full handshake.
both() {
    path=$1
    shift
    printf '\n$ assay load'
    printf " '%s'" "$@"
    printf ' (both servers, %s)\n\n' "$path"
    # shellcheck disable=SC2086
    "$assay" load $pins --no-save --new-connections --tls full --ca "$WORK/certificate.pem" "$@" \
        --serve "sh $PWD/serve.sh unicorn {port}" --serve "sh $PWD/serve.sh thin {port}" \
        "unicorn=https://127.0.0.1:{port}$path" "thin=https://127.0.0.1:{port}$path"
}

# The number of unicorn's processes that fits into the memory of the experiment's machine.
workers() {
    values=$1
    shift
    printf '\n$ assay load -P workers=%s --serve-memory 512MiB' "$values"
    printf " '%s'" "$@"
    printf ' (unicorn, /wait)\n\n'
    # shellcheck disable=SC2086
    "$assay" load $pins --no-save --new-connections -P "workers=$values" --serve-memory 512MiB "$@" \
        --serve "env WORKERS={workers} unicorn -c $PWD/unicorn.rb -l 127.0.0.1:{port} $PWD/config.ru" \
        'unicorn=http://127.0.0.1:{port}/wait'
}

# Long enough for a p99 at the rates around the knee.
find='--slice 5s --timeout 30s --runs 10'
goals='p99<200ms, errors<0.1%'
case $size in
    --smoke)
        both / --rate 10,40 --slice 300ms --runs 1 --timeout 1s
        both /wait --rate 20 --slice 300ms --runs 1 --timeout 1s
        [ -n "$database" ] || both /query --rate 20 --slice 300ms --runs 1 --timeout 1s
        workers 1..2 --rate 20 --slice 300ms --runs 1 --timeout 1s
        ;;
    --short)
        both / --rate 10,40,80,160,320,500 --slice 500ms --settle 100ms --timeout 2s --runs 9
        both /wait --rate 10,40,80,160 --slice 500ms --settle 100ms --timeout 2s --runs 8
        # A slice of a second has too few requests for a p99.
        both /wait --find 'p90<200ms, errors<0.1%' --slice 1s --timeout 2s --runs 6
        both /query --rate 20,40,80 --slice 500ms --settle 100ms --timeout 2s --runs 8
        both /wait --rate 100 --requests-per-step 150 --settle 0 --timeout 1s --primary answered --runs 8
        workers 1..4 --rate 100 --slice 500ms --settle 100ms --timeout 2s --runs 7
        ;;
    --full)
        both / --rate 10,40,80,160,320,500 --requests-per-step 500 --timeout 30s --runs 10
        both /wait --rate 10,40,80,160,320,500 --requests-per-step 500 --timeout 30s --runs 10
        # shellcheck disable=SC2086 # a list of options
        both /wait --find "$goals" $find
        both /query --rate 10,20,40,80,160 --requests-per-step 500 --timeout 30s --runs 10
        both /wait --rate 100 --requests-per-step 1500 --settle 0 --timeout 5s --primary answered --runs 10
        # shellcheck disable=SC2086
        workers 1..4 --find "$goals" $find
        ;;
    *)
        echo "$size: --smoke or --full" >&2
        exit 1
        ;;
esac
