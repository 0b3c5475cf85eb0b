"""A server of the modern era: no handshake, and questions instead of results."""

import json
import os
import sys

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("read", "own_roots", "both", "named", "capabilities")]


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
    elif name == "named":
        answer(request, text(json.dumps(carried)) if carried else ask({"rootward.dev/roots": words["w"]}))
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
        info = {"io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "1"}}
        offered = {"tools": {"listChanged": True}}
        versions = ["2026-07-28"]
        answer(message, {"resultType": "complete", "supportedVersions": versions, "capabilities": offered, "_meta": info, "directory": os.getcwd()})
    elif message.get("method") == "subscriptions/listen":
        told = {"_meta": {"io.modelcontextprotocol/subscriptionId": message["id"]}, "notifications": {"toolsListChanged": True}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": told}) + "\n")
        sys.stdout.flush()
    elif "id" in message and "method" in message:
        error = {"code": -32601, "message": "Method not found"}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}) + "\n")
        sys.stdout.flush()
