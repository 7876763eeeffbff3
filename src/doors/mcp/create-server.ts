import { Server } from '@modelcontextprotocol/server';
import type { Tool } from '../../tools/define-tool.ts';
import { toMcpTool } from '../to-mcp-tool.ts';
import { callTool } from './call-tool.ts';
import { createClientRoots } from './client-roots.ts';
import { offerResources, type ResourceSource, resourceCapabilities } from './resources.ts';

const instructions =
  'Runs shell commands for you. What may run is set by the user; a refusal says which program is not allowed.';

/** Makes the server that one client talks to, or one request of it; the owner of the source is who the client is. */
export function createServer(tools: readonly Tool[], version: string, source: ResourceSource): Server {
  const { owner, connection } = source;
  const server = new Server(
    { name: 'nacre', title: 'nacre', version },
    { capabilities: { tools: {}, resources: resourceCapabilities }, instructions },
  );
  const roots = createClientRoots(server);
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(toMcpTool) }));
  const resources = offerResources(server, source);
  server.setRequestHandler('tools/call', async (request, context) => {
    await resources.watch();
    return callTool(tools, request.params, context, {
      owner,
      connection,
      introduction: server.getClientVersion(),
      elicits: server.getClientCapabilities()?.elicitation !== undefined,
      roots: await roots(),
    });
  });
  return server;
}
