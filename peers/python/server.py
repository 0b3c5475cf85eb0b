"""A server on the current Python SDK: it requests the roots when the client announces a change, and has a tool that returns them."""

import json
import warnings

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

# The SDK warns that roots are deprecated.
warnings.simplefilter("ignore")

known = {"told": 0, "roots": None}


async def ask(context):
    result = await context.session.list_roots()
    known["roots"] = [str(root.uri) for root in result.roots]


async def changed(context, parameters):
    known["told"] += 1
    await ask(context)


async def list_tools(context, parameters):
    tool = types.Tool(name="known_roots", description="The roots that the server knows", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])


async def call_tool(context, parameters):
    if known["roots"] is None:
        await ask(context)
    return types.CallToolResult(content=[types.TextContent(type="text", text=json.dumps(known))])


async def main():
    server = Server(
        "peer", on_list_tools=list_tools, on_call_tool=call_tool, on_roots_list_changed=changed
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
