"""Temporary servers: PostgreSQL, MariaDB, Redis and HTTP. Their files are in a directory that is
removed with them; they listen on sockets in that directory or on the loopback device. The caller
that starts a server stops it. This file must not depend on the tests."""

import contextlib
import glob
import http.server
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time


class Missing(Exception):
    """The server is not installed; the message says what to install."""


class Server:
    """A server in its own directory. In subclasses, `start` returns the process."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="assay-server")
        self.process = None
        try:
            self.process = self.start()
            self.wait()
        except BaseException:
            self.stop()
            raise

    def run(self, command, **options):
        """Runs one of its programs to the end."""
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60, **options)
        if done.returncode != 0:
            raise RuntimeError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")

    def spawn(self, command, **options):
        with open(os.path.join(self.directory, "said"), "wb") as said:
            return subprocess.Popen(command, cwd="/", stdin=subprocess.DEVNULL, stdout=said, stderr=said, **options)

    def wait(self):
        """Waits until it answers."""
        for _ in range(600):
            if self.process.poll() is not None:
                break
            with socket.socket(socket.AF_UNIX) as probe:
                if probe.connect_ex(self.socket) == 0:
                    return
            time.sleep(0.05)
        with open(os.path.join(self.directory, "said"), encoding="utf-8", errors="replace") as said:
            raise RuntimeError(f"{type(self).__name__} does not answer:\n{said.read()}")

    def stop(self):
        if self.process is not None:
            self.process.kill()  # No data has to be kept.
            self.process.wait()
            self.process = None
        shutil.rmtree(self.directory, ignore_errors=True)


class Postgres(Server):
    """PostgreSQL with pg_stat_statements. It refuses to run as root; then it runs as the user postgres."""

    def start(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not found:
            raise Missing("PostgreSQL is not installed: apt-get install postgresql")
        programs = found[-1]
        user = {}
        if os.getuid() == 0:
            shutil.chown(self.directory, "postgres")
            user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        data = os.path.join(self.directory, "data")
        self.run(
            [f"{programs}/initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "--no-instructions"],
            **user,
        )
        self.socket = os.path.join(self.directory, ".s.PGSQL.5432")
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self.directory,
            "fsync": "off",
            "shared_preload_libraries": "pg_stat_statements",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return self.spawn([f"{programs}/postgres", "-D", data, *options], **user)

    @property
    def about(self):
        """Returns the connection parameters for drivers."""
        return f"host={self.directory} user=postgres dbname=postgres"

    def stop(self):
        # It ends its child processes only if it is told to stop (SIGQUIT: immediately), not if it is killed.
        if self.process is not None:
            self.process.send_signal(3)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        super().stop()


class Mariadb(Server):
    """MariaDB, to be used as its user root."""

    def start(self):
        if not (shutil.which("mariadbd") or os.path.exists("/usr/sbin/mariadbd")):
            raise Missing("MariaDB is not installed: apt-get install mariadb-server-core")
        data = os.path.join(self.directory, "data")
        self.socket = os.path.join(self.directory, "socket")
        os.mkdir(data)
        user = ["--user=root"] if os.getuid() == 0 else []
        # Without system tables: they are not needed without authentication, and take seconds to create.
        quick = [
            "--skip-grant-tables",
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-buffer-pool-size=16M",
            "--innodb-log-file-size=8M",
        ]
        return self.spawn(
            [shutil.which("mariadbd") or "/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={self.socket}",
             f"--pid-file={self.directory}/pid", "--skip-networking", *quick, *user]
        )  # fmt: skip


class Redis(Server):
    """Redis without persistence."""

    def start(self):
        if not shutil.which("redis-server"):
            raise Missing("Redis is not installed: apt-get install redis-server")
        self.socket = os.path.join(self.directory, "socket")
        return self.spawn(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", self.directory]
        )


class RedisCluster(Redis):
    """A cluster of one Redis. Cluster clients connect by port."""

    def start(self):
        if not shutil.which("redis-server"):
            raise Missing("Redis is not installed: apt-get install redis-server")
        self.socket = os.path.join(self.directory, "socket")
        self.port, bus = free_ports(2)
        options = {"port": self.port, "cluster-port": bus, "cluster-enabled": "yes", "unixsocket": self.socket, "save": "", "dir": self.directory}
        return self.spawn(["redis-server", *(word for name, value in options.items() for word in (f"--{name}", str(value)))])

    def wait(self):
        super().wait()
        self.run(["redis-cli", "-s", self.socket, "cluster", "addslotsrange", "0", "16383"])
        for _ in range(600):
            done = subprocess.run(["redis-cli", "-s", self.socket, "cluster", "info"], capture_output=True, text=True)
            if "cluster_state:ok" in done.stdout:
                return
            time.sleep(0.05)
        raise RuntimeError(f"the cluster is not ready:\n{done.stdout}")


def free_ports(count):
    """Returns different ports on which nothing listens."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


class Http:
    """Answers GET: /N redirects to /N-1, and /0 exists. `asked` counts requests."""

    def __init__(self):
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.asked += 1
                left = int(self.path[1:])
                self.send_response(302 if left else 200)
                if left:
                    self.send_header("Location", f"/{left - 1}")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *args):
                """Suppresses the log."""

        self.asked = 0
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
