"""What the suite runs for each scenario: hands it over to the warm client, and ends as that does.

    python -I -S relay.py SOCKET [--auto] SERVER_URL

It imports next to nothing, since the suite starts dozens at once; see warm_client.py.
"""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as client:
    client.connect(sys.argv[1])
    job = {"arguments": sys.argv[2:], "environment": dict(os.environ)}
    data = json.dumps(job).encode()
    head = len(data).to_bytes(4, "big")
    socket.send_fds(client, [head], [1, 2])  # it prints where we would
    client.sendall(data)
    code = client.recv(1)
sys.exit(code[0] if code else 1)
