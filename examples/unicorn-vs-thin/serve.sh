#!/bin/sh
# One side: unicorn or thin, behind an nginx that terminates TLS. `assay load --serve` starts this
# script and ends everything that it started.
# Usage: serve.sh unicorn|thin PORT     PORT: of nginx. Certificate, key and logs: in the directory WORK
set -eu

cd "$(dirname "$0")"
# The port of nginx is held in the meantime; otherwise it could be chosen as the free one.
free=$(ruby -rsocket -e 'held = TCPServer.new("127.0.0.1", ARGV[0]); puts TCPServer.new("127.0.0.1", 0).addr[1]; held.close' "$2")
own=$(mktemp -d "$WORK/$1.XXXXXX")
cat > "$own/nginx.conf" <<CONF
daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
pid $own/pid;
error_log $own/error.log;
events { worker_connections 8192; }
http {
    access_log off;
    client_body_temp_path $own/body;
    proxy_temp_path $own/proxy;
    fastcgi_temp_path $own/fastcgi;
    uwsgi_temp_path $own/uwsgi;
    scgi_temp_path $own/scgi;
    ssl_certificate $WORK/certificate.pem;
    ssl_certificate_key $WORK/key.pem;
    ssl_session_cache off;
    ssl_session_tickets off;
    proxy_read_timeout 60s;
    server {
        listen 127.0.0.1:$2 ssl backlog=4096;
        location / { proxy_pass http://127.0.0.1:$free; }
    }
}
CONF
case $1 in
    unicorn) unicorn -c unicorn.rb -l "127.0.0.1:$free" config.ru > "$own/log" 2>&1 & ;;
    thin) thin -a 127.0.0.1 -p "$free" -R config.ru -e production start > "$own/log" 2>&1 & ;;
esac
exec nginx -p "$own" -e "$own/error.log" -c "$own/nginx.conf"
