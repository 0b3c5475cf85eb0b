// A client on the TypeScript SDK 1.x, which supports only the legacy era.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ListRootsRequestSchema, McpError, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { answers, hear, noStandingStream, run, say, testCase } from './steps.mjs';

const { server, declares } = testCase;
const client = new Client(
  { name: 'peer', version: '1' },
  { capabilities: declares ? { roots: { listChanged: true } } : {} },
);
client.call = (parameters, options) => client.callTool(parameters, undefined, options);
if (declares) client.setRequestHandler(ListRootsRequestSchema, () => answers.next(McpError));
client.setNotificationHandler(ToolListChangedNotificationSchema, hear);

const transport = server.command
  ? new StdioClientTransport({ command: server.command, args: server.arguments, env: server.environment })
  : new StreamableHTTPClientTransport(new URL(server.url), {
      fetch: server.stream === 'none' ? noStandingStream : fetch,
      requestInit: server.token ? { headers: { Authorization: `Bearer ${server.token}` } } : {},
    });
// The only way to learn the negotiated version.
const { setProtocolVersion } = transport;
transport.setProtocolVersion = (version) => {
  say({ version });
  setProtocolVersion?.call(transport, version);
};
await client.connect(transport);
await run(client);
