// A server on the TypeScript SDK 1.x: it requests the roots when the client announces a change, and has a tool that returns them.

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  RootsListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

const known = { told: 0, roots: null };
const server = new Server({ name: 'peer', version: '1' }, { capabilities: { tools: {} } });

async function ask() {
  const { roots } = await server.listRoots();
  known.roots = roots.map((root) => root.uri);
}

server.setNotificationHandler(RootsListChangedNotificationSchema, async () => {
  known.told += 1;
  await ask();
});
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: 'known_roots', description: 'The roots that the server knows', inputSchema: { type: 'object' } }],
}));
server.setRequestHandler(CallToolRequestSchema, async () => {
  if (known.roots === null) await ask();
  return { content: [{ type: 'text', text: JSON.stringify(known) }] };
});
await server.connect(new StdioServerTransport());
