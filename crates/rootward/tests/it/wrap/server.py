"""A scripted server that misbehaves on request.

It writes every line that it gets to the file that the variable SEEN names, if set, so that tests see what reached it. STARTS names a file
for the ids of the started processes.

ENDS=early ends it on `initialize`, ENDS=always on the first call. With STUBBORN=1 it ignores the end of its input and SIGTERM. With
ASKS=roots it asks for its roots once it is initialized. INSTRUCTIONS is its `instructions`; with TELLS=home they are what it kept in
its home. CODE is its exit code.
"""

import json
import os
import signal
import subprocess
import sys
import time

TOOLS = [
    {"name": name, "inputSchema": {"type": "object", "properties": {}}}
    for name in ("read", "echo", "where", "roots", "crash", "big", "ask", "slow", "noise", "write_file", "raw", "flood", "hold", "process", "variable", "words")
]
ENVIRONMENT = os.environ
# Calls that it answers when `free` is called.
HELD = []
ROOTS = []


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


def note(variable, words):
    if variable in ENVIRONMENT:
        with open(ENVIRONMENT[variable], "a") as file:
            file.write(words)


def read():
    line = sys.stdin.readline()
    if not line:
        while ENVIRONMENT.get("STUBBORN"):
            time.sleep(1)
        sys.exit(int(ENVIRONMENT.get("CODE", "0")))
    note("SEEN", line)
    return json.loads(line)


def start(arguments):
    """Starts a process that outlives this one unless somebody kills it."""
    script = "import time; time.sleep(1000)"
    command = [sys.executable, "-c", script, arguments["mark"]]
    output = None if arguments.get("holds") == "output" else subprocess.DEVNULL
    process = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL, stdout=output)
    return "%d" % process.pid


def call(request, name, arguments):
    if ENVIRONMENT.get("ENDS") == "always":
        os._exit(9)
    if name == "read":
        try:
            with open(arguments["path"]) as file:
                answer(request, text(file.read()))
        except OSError as error:
            answer(request, text("failed: %s" % error.strerror))
    elif name == "write_file":
        try:
            with open(arguments["path"], "w") as file:
                file.write(arguments["content"])
            answer(request, text("written"))
        except OSError as error:
            answer(request, text("failed: %s" % error.strerror))
    elif name == "where":
        answer(request, text(os.getcwd()))
    elif name == "words":
        answer(request, text(json.dumps(sys.argv[1:])))
    elif name == "variable":
        answer(request, text(json.dumps(ENVIRONMENT.get(arguments["name"]))))
    elif name == "process":
        answer(request, text(str(os.getpid())))
    elif name == "roots":
        listed = ask("roots/list", "same")
        answer(request, text(json.dumps(listed.get("result"))))
    elif name == "asked":
        answer(request, text(json.dumps(ROOTS)))
    elif name == "ask":
        answer(request, text(json.dumps(ask("sampling/createMessage", arguments.get("id", "same")))))
    elif name == "crash":
        os._exit(7)
    elif name == "big":
        answer(request, text("x" * arguments["size"]))
    elif name == "compact":
        words = '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s' % (
            json.dumps(request["id"]),
            "0123456789" * (arguments["size"] // 10),
        )
        if "ends" in arguments:
            sys.stdout.write(words)
            sys.stdout.flush()
            os._exit(arguments["ends"])
        sys.stdout.write(words + '"}]}}\n')
        sys.stdout.flush()
    elif name == "slow":
        time.sleep(arguments["seconds"])
        answer(request, text("done"))
    elif name == "noise":
        sys.stdout.write("this is no message\n" * arguments.get("lines", 1))
        answer(request, text("quiet again"))
    elif name == "raw":
        sys.stdout.write(arguments["text"])
        sys.stdout.flush()
    elif name == "flood":
        words = "x" * 1000
        for number in range(arguments["count"]):
            sys.stdout.write('{"method":"notifications/flood","params":{"number":%d,"words":"%s"}}\n' % (number, words))
        answer(request, text("done"))
    elif name == "progress":
        token = request["params"]["_meta"]["progressToken"]
        for number in range(3):
            progress = {"progressToken": token, "progress": number}
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})
        answer(request, text("done"))
    elif name == "hold":
        HELD.append(request)
    elif name == "free":
        for held in HELD + [request]:
            answer(held, text("free"))
        HELD.clear()
    elif name == "start":
        answer(request, text(start(arguments)))
    else:
        answer(request, text(json.dumps(arguments)))


def handle(message):
    method = message.get("method")
    if method == "initialize":
        if ENVIRONMENT.get("ENDS") == "early":
            sys.exit(5)
        result = {
            "protocolVersion": message["params"].get("protocolVersion"),
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "server", "version": "1"},
        }
        if ENVIRONMENT.get("TELLS") == "home":
            kept = os.path.join(ENVIRONMENT["HOME"], "kept.txt")
            result["instructions"] = open(kept).read() if os.path.exists(kept) else "nothing"
        if "INSTRUCTIONS" in ENVIRONMENT:
            result["instructions"] = ENVIRONMENT["INSTRUCTIONS"]
        answer(message, result)
    elif method in ("notifications/initialized", "notifications/roots/list_changed"):
        if ENVIRONMENT.get("ASKS") == "roots":
            time.sleep(0.05)
            send({"jsonrpc": "2.0", "id": "own", "method": "roots/list"})
    elif message.get("id") == "own" and method is None:
        ROOTS[:] = [root["uri"] for root in message["result"]["roots"]]
    elif method == "notifications/cancelled":
        HELD[:] = [held for held in HELD if held["id"] != message["params"]["requestId"]]
    elif method == "tools/list":
        answer(message, {"tools": TOOLS})
    elif method == "tools/call":
        call(message, message["params"]["name"], message["params"].get("arguments") or {})
    elif method is not None and "id" in message:
        answer(message, {"method": method, "params": message.get("params")})


note("STARTS", "%d\n" % os.getpid())
if ENVIRONMENT.get("STUBBORN"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    handle(read())
