// A client on the current TypeScript SDK, in both eras.

import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { answers, hear, noStandingStream, run, say, testCase } from './steps.mjs';

const { server, era, declares } = testCase;
const client = new Client(
  { name: 'peer', version: '1' },
  {
    capabilities: declares ? { roots: { listChanged: true } } : {},
    versionNegotiation: { mode: era === 'legacy' ? 'legacy' : 'auto' },
  },
);
client.call = (parameters, options) => client.callTool(parameters, options);
if (declares) client.setRequestHandler('roots/list', () => answers.next(ProtocolError));
client.setNotificationHandler('notifications/tools/list_changed', hear);

const transport = server.command
  ? new StdioClientTransport({ command: server.command, args: server.arguments, env: server.environment })
  : new StreamableHTTPClientTransport(new URL(server.url), {
      fetch: server.stream === 'none' ? noStandingStream : fetch,
      requestInit: server.token ? { headers: { Authorization: `Bearer ${server.token}` } } : {},
    });
await client.connect(transport);
say({ version: client.getNegotiatedProtocolVersion() });
await run(client);
