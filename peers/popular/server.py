"""The smallest MCP server in a script: one tool, which reads a file beside it."""

import json
import sys

TOOL = {
    "name": "read",
    "description": "Reads a file of the project",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}


def answer(method, params):
    if method == "initialize":
        about = {"name": "script", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        with open(params["arguments"]["name"], encoding="utf-8") as file:
            return {"content": [{"type": "text", "text": file.read()}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
