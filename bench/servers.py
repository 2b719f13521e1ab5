"""The servers for load generators: nginx with files of three sizes, plain, over TLS and over
HTTP/2, and one that stalls on purpose. Both run on the first processor, which leaves another one to
the generator, and end with the bench, however it ends.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from machine import ROOT, Failed, execute

SERVER_CPU, CLIENT_CPU = "0", "1"
STALL_SERVER = ROOT / "target/release/examples/stall_server"
SIZES = {"1k": 1024, "16k": 16 * 1024, "1m": 1024 * 1024}

# `full` supports neither tickets nor a cache, so that every handshake is a full one; `resumed`
# issues tickets.
CONFIGURATION = """
worker_processes 1;
daemon off;
error_log {home}/error.log;
pid {home}/pid;
{user}
events {{ worker_connections 16384; }}
worker_rlimit_nofile 40000;
http {{
  access_log off;
  client_body_temp_path {home}/body; proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/fastcgi;
  uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
  sendfile on; tcp_nopush on;
  keepalive_requests 1000000000; keepalive_timeout 3600; http2_max_concurrent_streams 256;
  ssl_certificate {home}/certificate.pem; ssl_certificate_key {home}/key.pem;
  ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache off;
  root {home}/html;
  server {{ listen 127.0.0.1:{plain} backlog=65535; location = /status {{ stub_status; }} }}
  server {{ listen 127.0.0.1:{full} ssl backlog=65535; ssl_session_tickets off; }}
  server {{ listen 127.0.0.1:{resumed} ssl backlog=65535; ssl_session_tickets on; }}
  server {{ listen 127.0.0.1:{http2} ssl http2 backlog=65535; ssl_session_tickets on; }}
}}
"""


class Nginx:
    """A running nginx: its URLs, the number of answered requests, and the CPU time of its
    worker."""

    def __init__(self, ports, worker):
        self.ports, self.worker = ports, worker

    def url(self, kind="plain", size="1k"):
        scheme = "http" if kind == "plain" else "https"
        return f"{scheme}://127.0.0.1:{self.ports[kind]}/{size}"

    def requests(self):
        """Returns the number of requests so far, including this query."""
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.ports['plain']}/status", timeout=10).read().decode()
        return int(re.search(r"\n (\d+) (\d+) (\d+)", text)[3])

    def cpu(self):
        """Returns the CPU seconds of the worker so far, in hundredths."""
        fields = Path(f"/proc/{self.worker}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def certificate(home):
    """Creates a self-signed certificate for 127.0.0.1, with an ECDSA P-256 key."""
    execute(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
            "-keyout", str(home / "key.pem"), "-out", str(home / "certificate.pem"),
        ],
        60,
    )


def free_ports(names):
    """Returns an unused port for each name."""
    with contextlib.ExitStack() as held:
        sockets = {name: held.enter_context(socket.create_server(("127.0.0.1", 0))) for name in names}
        return {name: one.getsockname()[1] for name, one in sockets.items()}


@contextlib.contextmanager
def nginx(scratch):
    """Runs nginx with one worker until the end of the `with` block."""
    if len(os.sched_getaffinity(0)) < 2:
        raise Failed("a server and a generator need a processor each")
    home = Path(scratch) / "nginx"
    (home / "html").mkdir(parents=True, exist_ok=True)
    for name, size in SIZES.items():
        (home / "html" / name).write_bytes(os.urandom(size))
    certificate(home)
    ports = free_ports(["plain", "full", "resumed", "http2"])
    # Otherwise its worker would run as a user without access to the directory.
    user = "user root;" if os.geteuid() == 0 else ""
    (home / "nginx.conf").write_text(CONFIGURATION.format(home=home, user=user, **ports))
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    with started(["taskset", "-c", SERVER_CPU, program, "-p", str(home), "-c", str(home / "nginx.conf")]) as process:
        for name in ports:
            wait_for(ports[name], process, home / "error.log")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield Nginx(ports, int(children[0]))


@contextlib.contextmanager
def stall_server(scratch, *options):
    """Runs the server that stalls, with a log of arrival times. Yields its URL and that log."""
    log = Path(scratch) / "arrivals"
    argv = ["taskset", "-c", SERVER_CPU, str(STALL_SERVER), "--log", str(log), *map(str, options)]
    with started(argv, stdout=subprocess.PIPE, text=True) as process:
        said = re.match(r"listening on (\S+)", process.stdout.readline())
        if not said:
            raise Failed(f"{STALL_SERVER.name} did not start")
        yield f"http://{said[1]}/", log


def build_stall_server():
    execute(["cargo", "build", "--release", "-p", "assay-load", "--example", "stall_server"], 1800, cwd=ROOT)


@contextlib.contextmanager
def started(argv, **options):
    """Starts a process in its own session, which ends with the `with` block."""
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True, **{"stderr": subprocess.DEVNULL, **options})
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(port, process, log):
    """Waits until something listens on the port."""
    for _ in range(200):
        if process.poll() is not None:
            raise Failed(f"nginx ended: {log.read_text().strip() if log.exists() else 'it said nothing'}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise Failed("nginx does not listen")
