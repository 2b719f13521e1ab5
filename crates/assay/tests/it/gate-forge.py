"""Stands in for the two forges that examples/gate/comment.sh speaks to: comments are kept in memory, and every request is written down.

It listens on loopback alone, at a port that is free, which it prints; it ends when its input does.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse

# More than fit on a page, none of ours.
comments = [{"id": n, "body": f"comment {n} <!-- assay-gate: other -->"} for n in range(1, 131)]
LISTS = ("/repos/o/n/issues/7/comments", "/projects/9/merge_requests/7/notes")
ONES = {"PATCH": "/repos/o/n/issues/comments/", "PUT": "/projects/9/merge_requests/7/notes/"}


class Forge(BaseHTTPRequestHandler):
    def answer(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do(self):
        address = urlparse(self.path)
        authorized = "Bearer secret" in self.headers.get("Authorization", "") or self.headers.get("PRIVATE-TOKEN") == "secret"
        length = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(length).decode()
        with open("requests", "a") as file:
            print(self.command, self.path, file=file)
        if not authorized:
            return self.answer({"message": "who are you?"}, 401)
        if self.command == "GET" and address.path in LISTS:
            query = parse_qs(address.query)
            per, page = int(query["per_page"][0]), int(query["page"][0])
            return self.answer(comments[per * (page - 1) : per * page])
        if self.command == "POST" and address.path in LISTS:
            comments.append({"id": 1000 + len(comments), "body": json.loads(text)["body"]})
            return self.answer(comments[-1], 201)
        if self.command in ONES and address.path.startswith(ONES[self.command]):
            wanted = int(address.path.rsplit("/", 1)[1])
            for comment in comments:
                if comment["id"] == wanted:
                    comment["body"] = json.loads(text)["body"]
                    with open("kept", "w") as file:
                        file.write(comment["body"])
                    return self.answer(comment)
        return self.answer({"message": "not found"}, 404)

    do_GET = do_POST = do_PATCH = do_PUT = do

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Forge)
print(server.server_port, flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
server.serve_forever()
