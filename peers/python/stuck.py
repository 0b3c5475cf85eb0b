"""A server that shakes hands and then does not read any more, as one that hangs in its own work."""

import json
import sys
import time

hello = json.loads(sys.stdin.readline())
result = {
    "protocolVersion": hello["params"]["protocolVersion"],
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "stuck", "version": "1"},
}
print(json.dumps({"jsonrpc": "2.0", "id": hello["id"], "result": result}), flush=True)
while True:
    time.sleep(3600)
