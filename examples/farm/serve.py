"""Serves a directory on a free port of the loopback device, and writes the address to a file.

Usage: serve.py DIRECTORY FILE
"""

import functools
import http.server
import os
import sys


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


handler = functools.partial(Quiet, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
with open(sys.argv[2] + ".new", "w") as file:
    file.write("http://127.0.0.1:%d" % server.server_port)
os.rename(sys.argv[2] + ".new", sys.argv[2])
server.serve_forever()
