"""Shares a directory with an MCP server and reads a file through it: `read_file.py SERVER DIRECTORY PATH`.

SERVER is a program that speaks MCP on its standard input and output, or the URL of one that speaks it over HTTP.
"""

import sys
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import ListRootsResult, Root


async def main(server, directory, path):
    async def list_roots(context):
        return ListRootsResult(roots=[Root(uri=Path(directory).absolute().as_uri())])

    target = server if server.startswith("http") else StdioServerParameters(command=server)
    async with Client(target, list_roots_callback=list_roots) as client:
        result = await client.call_tool("read_file", {"path": path})
        print("refused:" if result.is_error else "read:", result.content[0].text)


anyio.run(main, *sys.argv[1:])
