"""A server that does as it is told, and misbehaves on request.

Every line that it gets is written to the file that the variable SEEN names, if there is one, so that tests see what reached it.
"""

import json
import os
import sys
import time

TOOLS = [
    {"name": name, "inputSchema": {"type": "object", "properties": {}}}
    for name in ("read", "echo", "where", "roots", "crash", "big", "ask", "slow", "noise", "write_file")
]


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(request, result):
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def ask(method, identifier):
    send({"jsonrpc": "2.0", "id": identifier, "method": method})
    while True:
        message = read()
        if message.get("id") == identifier and "method" not in message:
            return message
        handle(message)


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit(int(os.environ.get("CODE", "0")))
    if "SEEN" in os.environ:
        with open(os.environ["SEEN"], "a") as seen:
            seen.write(line)
    return json.loads(line)


def call(request, name, arguments):
    if name == "read":
        try:
            with open(arguments["path"]) as file:
                answer(request, text(file.read()))
        except OSError as error:
            answer(request, text("failed: %s" % error.strerror))
    elif name == "where":
        answer(request, text(os.getcwd()))
    elif name == "roots":
        listed = ask("roots/list", "same")
        answer(request, text(json.dumps(listed.get("result"))))
    elif name == "ask":
        answer(request, text(json.dumps(ask("sampling/createMessage", arguments.get("id", "same")))))
    elif name == "crash":
        os._exit(7)
    elif name == "big":
        answer(request, text("x" * arguments["size"]))
    elif name == "slow":
        time.sleep(arguments["seconds"])
        answer(request, text("done"))
    elif name == "noise":
        sys.stdout.write("this is no message\n")
        answer(request, text("quiet again"))
    else:
        answer(request, text(json.dumps(arguments)))


def handle(message):
    method = message.get("method")
    if method == "initialize":
        if os.environ.get("ENDS") == "early":
            sys.exit(5)
        answer(message, {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "server", "version": "1"},
        })
    elif method == "notifications/initialized" and os.environ.get("ASKS") == "roots":
        send({"jsonrpc": "2.0", "id": "own", "method": "roots/list"})
    elif method == "tools/list":
        answer(message, {"tools": TOOLS})
    elif method == "tools/call":
        call(message, message["params"]["name"], message["params"].get("arguments") or {})
    elif method is not None and "id" in message:
        answer(message, {"method": method, "params": message.get("params")})


while True:
    handle(read())
