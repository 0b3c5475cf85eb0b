"""A server that answers `initialize` and then stops reading, like a server that hangs."""

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
