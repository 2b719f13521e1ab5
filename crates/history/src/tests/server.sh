# A PostgreSQL on a socket of its own: server.sh PROGRAMS DIRECTORY
# It does what the lines of its input say, `stop`, `kill` (all of its processes, by SIGKILL) and `start`, and answers each with a line. With its
# input, however that ends, the server ends and its directory goes. PostgreSQL refuses to run as root; then it runs as the user postgres.
set -u
programs=$1
directory=$2
as() {
    if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else exec "$@"; fi
}
launch() {
    (as "$programs/postgres" -D "$directory/data" -c listen_addresses= -c "unix_socket_directories=$directory" -c fsync=off \
        -c shared_buffers=8MB -c max_connections=300) < /dev/null > "$directory/said" 2>&1 &
    server=$!
}
start() {
    launch
    tries=0
    until "$programs/pg_isready" -q -h "$directory" -U postgres; do
        tries=$((tries + 1))
        if [ $tries -gt 600 ]; then cat "$directory/said"; return; fi
        # What is left of one that was killed may hold its memory for a moment.
        kill -0 $server 2>/dev/null || launch
        sleep 0.05
    done
    echo started
}
stop() {
    kill -"$1" $server
    wait $server
}
slay() {
    # One that stands still starts no more processes.
    kill -STOP $server
    # shellcheck disable=SC2046 # a list of numbers
    kill -9 $(cat /proc/$server/task/$server/children) $server
    wait $server
}
if [ "$(id -u)" = 0 ]; then chown postgres "$directory"; fi
(as "$programs/initdb" -D "$directory/data" -A trust -U postgres --no-sync --no-instructions) > "$directory/made" 2>&1 || cat "$directory/made"
start
while read -r word; do
    case $word in
        stop) stop INT; echo stopped ;;
        kill) slay 2> /dev/null; echo killed ;;
        start) start ;;
    esac
done
stop QUIT
rm -rf "$directory"
