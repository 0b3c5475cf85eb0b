"""Shares a directory with an MCP server and calls a tool: `call_tool.py SERVER DIRECTORY TOOL ARGUMENTS`, the arguments as JSON.

SERVER is a program that speaks MCP on its standard input and output.
"""

import json
import sys
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import ListRootsResult, Root


async def main(server, directory, tool, arguments):
    async def list_roots(context):
        return ListRootsResult(roots=[Root(uri=Path(directory).absolute().as_uri())])

    async with Client(StdioServerParameters(command=server), list_roots_callback=list_roots) as client:
        result = await client.call_tool(tool, json.loads(arguments))
        print("failed:" if result.is_error else "done:", result.content[0].text)


anyio.run(main, *sys.argv[1:])
