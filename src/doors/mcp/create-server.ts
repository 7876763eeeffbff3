// One MCP server: 1. `tools/list` lists the tools, 2. `tools/call` finds the tool, calls it with the client's identity and
// roots, and converts its reply, 3. `resources.ts` serves the output of commands.
import { fileURLToPath } from 'node:url';
import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Progress } from '../../engine/context/call-context.ts';
import type { Tool, ToolReply } from '../../tools/common/tool.ts';
import { toMcpTool } from '../to-mcp-tool.ts';
import { elicitApproval } from './elicit-approval.ts';
import { logUri, type ResourceSource, resourceCapabilities, serveResources } from './resources.ts';

const instructions =
  'Runs shell commands for you. The user decides what may run; a refusal says which program is not allowed.';

/** Creates the server of one connection, or of one HTTP request; `source.owner` identifies the client. */
export function createServer(tools: readonly Tool[], version: string, source: ResourceSource): Server {
  const { owner, connection } = source;
  const server = new Server(
    { name: 'nacre', title: 'nacre', version },
    { capabilities: { tools: {}, resources: resourceCapabilities }, instructions },
  );
  const readRoots = createRootsReader(server);
  const noteClient = (context: ServerContext) =>
    source.onClient?.(clientNameOf(context, server.getClientVersion()));
  server.oninitialized = () => source.onClient?.(toClientName(server.getClientVersion()));
  server.setRequestHandler('tools/list', (_, context) => {
    noteClient(context);
    return { tools: tools.map(toMcpTool) };
  });
  const resources = serveResources(server, source);
  server.setRequestHandler('tools/call', async (request, context) => {
    noteClient(context);
    await resources.watch();
    return callMcpTool(tools, request.params, context, {
      owner,
      connection,
      clientInfo: server.getClientVersion(),
      canElicit: server.getClientCapabilities()?.elicitation !== undefined,
      roots: await readRoots(),
    });
  });
  return server;
}

/** The client behind a connection. */
interface McpClient {
  /** Id that owns the commands it starts. */
  readonly owner: string;
  /** Protocol session, if the owner has several. */
  readonly connection: string | undefined;
  /** `clientInfo` of the `initialize` request. */
  readonly clientInfo: unknown;
  /** True if `initialize` announced the `elicitation` capability. */
  readonly canElicit: boolean;
  /** Folders the client works in. */
  readonly roots: readonly string[];
}

async function callMcpTool(
  tools: readonly Tool[],
  params: { readonly name: string; readonly arguments?: unknown },
  context: ServerContext,
  { owner, connection, clientInfo, canElicit, roots }: McpClient,
): Promise<CallToolResult | InputRequiredResult> {
  const tool = tools.find((candidate) => candidate.name === params.name);
  if (!tool) throw unknownTool(params.name, tools);
  const progress = createProgressNotifier(context);
  const user = elicitApproval(params, context, canElicit);
  const reply = await tool.call(params.arguments, {
    caller: { door: 'mcp', client: clientNameOf(context, clientInfo), ...tracing(context) },
    owner,
    connection,
    reader: connection,
    workspace: roots,
    signal: context.mcpReq.signal,
    onProgress: progress?.notify,
    askUser: user?.ask,
  });
  progress?.stop();
  return user?.openQuestion() ?? toCallResult(reply);
}

function toCallResult({ text, moreTexts = [], logId, structured, isError, meta }: ToolReply): CallToolResult {
  return {
    content: [
      ...[text, ...moreTexts].map((one) => ({ type: 'text' as const, text: one })),
      ...(logId === undefined ? [] : [toLink(logId)]),
    ],
    structuredContent: { ...structured },
    ...(isError && { isError: true }),
    ...(meta && { _meta: { ...meta } }),
  };
}

function toLink(id: string) {
  return { type: 'resource_link' as const, uri: logUri(id), name: `${id} log`, mimeType: 'text/plain' };
}

function unknownTool(name: string, tools: readonly Tool[]): ProtocolError {
  const known = tools.map((tool) => tool.name).join(', ');
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool ${JSON.stringify(name)}. Tools: ${known}.`,
  );
}

// Since 2026-07-28 each request carries `clientInfo` in `_meta`; before, only `initialize` did.
function clientNameOf({ mcpReq }: ServerContext, initialized: unknown): string {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  return toClientName(envelope[CLIENT_INFO_META_KEY] ?? initialized);
}

function toClientName(clientInfo: unknown): string {
  const { name } = { name: undefined, ...(clientInfo ?? {}) } as { name: unknown };
  return typeof name === 'string' && name !== '' ? name.slice(0, maxNameChars) : 'unknown';
}

const maxNameChars = 100;

function tracing({ mcpReq }: ServerContext): { readonly traceparent?: string } {
  const { traceparent } = { traceparent: undefined, ...mcpReq._meta } as { traceparent: unknown };
  return typeof traceparent === 'string' ? { traceparent: traceparent.slice(0, maxNameChars) } : {};
}

// `stop` keeps a notification from following the result when the command ends during a progress check.
function createProgressNotifier({ mcpReq }: ServerContext) {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let isStopped = false;
  return {
    notify(progress: Progress) {
      if (isStopped) return;
      const params = { progressToken, progress: progress.elapsedMs / 1_000, message: toMessage(progress) };
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    },
    stop() {
      isStopped = true;
    },
  };
}

function toMessage({ bytes, lines, lastLine, elapsedMs }: Progress): string {
  const amount = lines === null ? `${bytes} bytes` : `${lines} ${lines === 1 ? 'line' : 'lines'}`;
  const summary = `${amount} after ${Math.round(elapsedMs / 1_000)} s`;
  return lastLine === '' ? summary : `${summary}: ${lastLine}`;
}

// A client that announces roots but does not answer `roots/list` delays only its first call.
const rootsTimeoutMs = 2_000;

/**
 * Returns a function that requests `roots/list` once, and again after `roots/list_changed`. Since 2026-07-28 a server
 * cannot request them; the call's `cwd` and the settings define the workspace instead.
 */
function createRootsReader(server: Server): () => Promise<readonly string[]> {
  let request: Promise<readonly string[]> | undefined;
  server.setNotificationHandler('notifications/roots/list_changed', () => {
    request = undefined;
  });
  return async () => {
    if (server.getClientCapabilities()?.roots === undefined) return [];
    request ??= requestRoots(server).catch(() => []);
    return request;
  };
}

async function requestRoots(server: Server): Promise<readonly string[]> {
  const { roots } = await server.listRoots(undefined, { timeout: rootsTimeoutMs });
  return roots.flatMap(({ uri }) => toPath(uri));
}

function toPath(uri: string): readonly string[] {
  try {
    return [fileURLToPath(uri)];
  } catch {
    // `fileURLToPath` throws for a `file:` URI with a host name, which is on another machine.
    return [];
  }
}
