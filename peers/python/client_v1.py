"""A client on the Python SDK 1.x, which supports only the legacy era."""

import contextlib

import anyio
import httpx
from mcp import ClientSession, McpError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    CancelledNotification,
    CancelledNotificationParams,
    ClientNotification,
    ErrorData,
    ListRootsResult,
    Root,
)

from steps import CASE, NEWS, Answers, run, say


class NoStandingStream(httpx.AsyncHTTPTransport):
    """Refuses the GET stream, so that the server can send requests only on the stream of a call."""

    refused = 0

    async def handle_async_request(self, request):
        if request.method == "GET":
            NoStandingStream.refused += 1
            return httpx.Response(405, request=request)
        return await super().handle_async_request(request)


class Unsent(Answers):
    """A callback that never returns would block this SDK's only reader, so it returns, and the answer is not sent."""

    async def never(self):
        return [], None


class Peer(ClientSession):
    refusals = McpError
    announce = ClientSession.send_roots_list_changed
    answers = Unsent()

    async def _send_response(self, request_id, response):
        if self.answers.current != "never":
            await super()._send_response(request_id, response)

    @staticmethod
    def streams_refused():
        return NoStandingStream.refused

    @staticmethod
    def structured(result):
        return result.structuredContent

    @staticmethod
    def is_error(result):
        return result.isError

    @staticmethod
    def schemas(tool):
        return [tool.inputSchema, tool.outputSchema]

    async def stop(self):
        """Tells the server that the last request is cancelled. This SDK does not, and does not expose its id."""
        parameters = CancelledNotificationParams(requestId=self._request_id - 1)
        await self.send_notification(ClientNotification(CancelledNotification(params=parameters)))


async def main():
    async def list_roots(context):
        roots, error = await Peer.answers.next()
        if error:
            return ErrorData(code=error, message="no roots today")
        return ListRootsResult(roots=[Root(uri=uri) for uri in roots])

    async with contextlib.AsyncExitStack() as stack:
        server = CASE["server"]
        if "command" in server:
            parameters = StdioServerParameters(
                command=server["command"], args=server["arguments"], env=server["environment"]
            )
            target = stdio_client(parameters)
        elif server["stream"] == "none" or "token" in server:
            transport = NoStandingStream() if server["stream"] == "none" else None
            headers = {"Authorization": f"Bearer {server['token']}"} if "token" in server else None
            http = httpx.AsyncClient(transport=transport, headers=headers, timeout=60)
            target = streamable_http_client(server["url"], http_client=await stack.enter_async_context(http))
        else:
            target = streamable_http_client(server["url"])
        read, write, *_ = await stack.enter_async_context(target)
        callback = list_roots if CASE["declares"] else None
        peer = Peer(read, write, list_roots_callback=callback, message_handler=NEWS.hear)
        client = await stack.enter_async_context(peer)
        say(version=(await client.initialize()).protocolVersion)
        await run(client, Peer.answers)
        # A message that arrives while this SDK closes makes it fail. After a ping, the server's earlier messages have arrived.
        await client.send_ping()


anyio.run(main)
