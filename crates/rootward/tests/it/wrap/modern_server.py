"""A server of the modern era: no handshake, and questions in place of results."""

import json
import os
import sys

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("read", "own_roots", "both", "capabilities")]


def answer(request, result):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n")
    sys.stdout.flush()


def text(words):
    return {"resultType": "complete", "content": [{"type": "text", "text": words}]}


def ask(questions):
    return {"resultType": "input_required", "inputRequests": questions, "requestState": "mine"}


def call(request, params):
    name, arguments = params["name"], params.get("arguments") or {}
    carried = {key: params[key] for key in ("inputResponses", "requestState") if key in params}
    roots, words = {"r": {"method": "roots/list"}}, {"w": {"method": "elicitation/create", "params": {}}}
    if name == "read":
        with open(arguments["path"]) as file:
            answer(request, text(file.read()))
    elif name == "own_roots":
        answer(request, text(json.dumps(carried)) if carried else ask(roots))
    elif name == "both":
        answer(request, text(json.dumps(carried)) if carried else ask({**roots, **words}))
    else:
        answer(request, text(json.dumps(params["_meta"]["io.modelcontextprotocol/clientCapabilities"])))


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "tools/list":
        answer(message, {"resultType": "complete", "tools": TOOLS})
    elif message.get("method") == "tools/call":
        call(message, message["params"])
    elif message.get("method") == "server/discover":
        answer(message, {"resultType": "complete", "supportedVersions": ["2026-07-28"], "directory": os.getcwd()})
