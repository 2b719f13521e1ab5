"""Makes a token for an agent, in a file that only its owner can read.

Usage: agent_token.py SERVER ADMIN_TOKEN_FILE NODE FILE
"""

import json
import os
import sys
import urllib.request

server, admin, node, path = sys.argv[1:5]
with open(admin) as file:
    token = file.read().strip()
body = json.dumps({"name": "agent " + node, "scope": "agent", "node": node}).encode()
request = urllib.request.Request(server + "/api/v1/tokens", data=body, method="POST")
request.add_header("Authorization", "Bearer " + token)
request.add_header("Content-Type", "application/json")
with urllib.request.urlopen(request, timeout=60) as answer:
    secret = json.load(answer)["secret"]
with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
    file.write(secret + "\n")
