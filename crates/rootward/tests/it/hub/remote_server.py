"""A scripted MCP server over Streamable HTTP. Writes its port to standard output.

It speaks the legacy era, or only the modern one if `modern` follows the port."""

import json
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

SESSIONS = set()
ANSWERS = {}
TOOLS = ["read", "echo", "roots", "header"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self, message, headers=()):
        body = json.dumps(message).encode()
        self.send(200, [("Content-Type", "application/json"), *headers], body)

    def do_GET(self):
        self.send(405)

    def do_DELETE(self):
        SESSIONS.discard(self.headers["Mcp-Session-Id"])
        self.send(204)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            session = uuid.uuid4().hex
            SESSIONS.add(session)
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "remote", "version": "1"},
            }
            return self.answer({"jsonrpc": "2.0", "id": number, "result": result}, [("Mcp-Session-Id", session)])
        if self.headers["Mcp-Session-Id"] not in SESSIONS:
            return self.send(404)
        if method is None:
            ANSWERS[number].put(message)
            return self.send(202)
        if number is None:
            return self.send(202)
        if method == "tools/list":
            schema = {"type": "object", "properties": {"path": {"type": "string"}}}
            tools = [{"name": name, "inputSchema": schema} for name in TOOLS]
            return self.answer({"jsonrpc": "2.0", "id": number, "result": {"tools": tools}})
        if method == "tools/call":
            return self.call(number, message["params"])
        error = {"code": -32601, "message": "unknown"}
        self.answer({"jsonrpc": "2.0", "id": number, "error": error})

    def call(self, number, params):
        arguments = params.get("arguments") or {}
        if params["name"] == "roots":
            return self.ask(number)
        text = {
            "read": lambda: open(arguments["path"]).read(),
            "echo": lambda: arguments["path"],
            "header": lambda: self.headers["Authorization"],
        }[params["name"]]()
        result = {"content": [{"type": "text", "text": text}]}
        self.answer({"jsonrpc": "2.0", "id": number, "result": result})

    def ask(self, number):
        """Asks the client for its roots on the stream of the call."""
        own = uuid.uuid4().hex
        ANSWERS[own] = Queue()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.event({"jsonrpc": "2.0", "id": own, "method": "roots/list"})
        answer = ANSWERS[own].get(timeout=20)
        text = json.dumps(answer.get("result") or answer.get("error"))
        self.event({"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": text}]}})
        self.close_connection = True

    def event(self, message):
        self.wfile.write(f"data: {json.dumps(message)}\n\n".encode())
        self.wfile.flush()


class Modern(Handler):
    """No handshake, no sessions, and questions instead of results."""

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
        if number is None:
            return self.send(202)
        version = params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion")
        same = (self.headers["MCP-Protocol-Version"], self.headers["Mcp-Method"]) == (version, method)
        if version != "2026-07-28" or not same:
            data = {"supported": ["2026-07-28"], "requested": version}
            error = {"code": -32022, "message": "Unsupported protocol version", "data": data}
            body = json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()
            return self.send(400, [("Content-Type", "application/json")], body)
        if method == "server/discover":
            return self.complete(number, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        if method == "tools/list":
            schema = {"type": "object", "properties": {"path": {"type": "string"}}}
            return self.complete(number, {"tools": [{"name": name, "inputSchema": schema} for name in TOOLS]})
        if method == "tools/call":
            return self.call(number, params)
        error = {"code": -32601, "message": "unknown"}
        self.answer({"jsonrpc": "2.0", "id": number, "error": error})

    def complete(self, number, result):
        self.answer({"jsonrpc": "2.0", "id": number, "result": {"resultType": "complete", **result}})

    def call(self, number, params):
        if params["name"] != "roots":
            return super().call(number, params)
        if "inputResponses" in params:
            text = json.dumps(params["inputResponses"]["r"])
            return self.complete(number, {"content": [{"type": "text", "text": text}]})
        question = {"resultType": "input_required", "inputRequests": {"r": {"method": "roots/list"}}, "requestState": "s"}
        self.answer({"jsonrpc": "2.0", "id": number, "result": question})


handler = Modern if sys.argv[2:] == ["modern"] else Handler
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), handler)
print(server.server_address[1], flush=True)
server.serve_forever()
