"""A client on the current Python SDK, in both eras."""

import contextlib
import warnings

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ErrorData, ListRootsResult, Root

from steps import CASE, NEWS, Answers, run, say

# The SDK warns that roots are deprecated.
warnings.simplefilter("ignore")


class NoStandingStream(httpx2.AsyncHTTPTransport):
    """Refuses the GET stream, so that the server can send requests only on the stream of a call."""

    refused = 0

    async def handle_async_request(self, request):
        if request.method == "GET":
            NoStandingStream.refused += 1
            return httpx2.Response(405, request=request)
        return await super().handle_async_request(request)


class Peer(Client):
    refusals = MCPError
    announce = Client.send_roots_list_changed

    @staticmethod
    def streams_refused():
        return NoStandingStream.refused

    @staticmethod
    def structured(result):
        return result.structured_content

    @staticmethod
    def is_error(result):
        return result.is_error

    @staticmethod
    def schemas(tool):
        return [tool.input_schema, tool.output_schema]

    async def stop(self):
        """Nothing to do: this SDK tells the server when a call is cancelled."""


async def main():
    answers = Answers()

    async def list_roots(context):
        roots, error = await answers.next()
        if error:
            return ErrorData(code=error, message="no roots today")
        return ListRootsResult(roots=[Root(uri=uri) for uri in roots])

    async with contextlib.AsyncExitStack() as stack:
        server = CASE["server"]
        if "command" in server:
            target = StdioServerParameters(
                command=server["command"], args=server["arguments"], env=server["environment"]
            )
        elif server["stream"] == "none" or "token" in server:
            transport = NoStandingStream() if server["stream"] == "none" else None
            headers = {"Authorization": f"Bearer {server['token']}"} if "token" in server else None
            http = httpx2.AsyncClient(transport=transport, headers=headers, timeout=60)
            target = streamable_http_client(server["url"], http_client=await stack.enter_async_context(http))
        else:
            target = server["url"]
        mode = "legacy" if CASE["era"] == "legacy" else "auto"
        callback = list_roots if CASE["declares"] else None
        peer = Peer(target, mode=mode, list_roots_callback=callback, message_handler=NEWS.hear)
        client = await stack.enter_async_context(peer)
        say(version=client.protocol_version)
        await run(client, answers)


anyio.run(main)
