// Shares a directory with an MCP server and calls a tool: `call_tool.mjs SERVER DIRECTORY TOOL ARGUMENTS`, the arguments as JSON.
// SERVER is a program that speaks MCP on its standard input and output.

import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [server, directory, tool, given] = process.argv.slice(2);
const client = new Client(
  { name: 'call_tool', version: '1' },
  { capabilities: { roots: {} }, versionNegotiation: { mode: 'auto' } },
);
client.setRequestHandler('roots/list', () => ({ roots: [{ uri: pathToFileURL(directory).href }] }));
await client.connect(new StdioClientTransport({ command: server }));
const result = await client.callTool({ name: tool, arguments: JSON.parse(given) });
console.log(result.isError ? 'failed:' : 'done:', result.content[0].text);
await client.close();
