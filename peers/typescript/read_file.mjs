// Shares a directory with an MCP server and reads a file through it: `read_file.mjs SERVER DIRECTORY PATH`.
// SERVER is a program that speaks MCP on its standard input and output, or the URL of one that speaks it over HTTP.

import { pathToFileURL } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [server, directory, path] = process.argv.slice(2);
const client = new Client(
  { name: 'read_file', version: '1' },
  { capabilities: { roots: {} }, versionNegotiation: { mode: 'auto' } },
);
client.setRequestHandler('roots/list', () => ({ roots: [{ uri: pathToFileURL(directory).href }] }));

const transport = server.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(server))
  : new StdioClientTransport({ command: server });
await client.connect(transport);
const result = await client.callTool({ name: 'read_file', arguments: { path } });
console.log(result.isError ? 'refused:' : 'read:', result.content[0].text);
await client.close();
