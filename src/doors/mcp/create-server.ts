// One MCP server: 1. `instructions` describe the rules of this connection, 2. `tools/list` lists the tools, 3. `tools/call`
// finds the tool, calls it with the client's identity and roots, and converts its reply; if the rules have changed, it adds
// the new ones, 4. `resources.ts` serves the output of commands.
import { fileURLToPath } from 'node:url';
import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ReplyShape } from '../../contract/reply.ts';
import type { Progress } from '../../engine/context/call-context.ts';
import type { Tool, ToolReply } from '../../tools/common/tool.ts';
import { elicitApproval } from './elicit-approval.ts';
import { InstructedServer } from './instructed-server.ts';
import { capabilities, serverInfo } from './introduce.ts';
import { replyLimitsFor, replyShapeFor } from './reply-for.ts';
import { logUri, type ResourceSource, serveResources } from './resources.ts';
import { toListedTool } from './to-listed-tool.ts';

/** The tools of one caller, by the client's name in `clientInfo`. */
export interface ClientTools {
  list(client: string): readonly Tool[];
  instructions(client: string): Promise<string>;
  /** Re-reads the settings if they changed; throws if a running server cannot apply the change. */
  refresh(): Promise<void>;
}

/** Creates the server of one connection, or of one HTTP request; `source.owner` identifies the client. */
export function createServer(offered: ClientTools, version: string, source: ResourceSource): Server {
  const { owner, connection } = source;
  const server = new InstructedServer(serverInfo(version), { capabilities });
  const clientOf = (context: ServerContext) => {
    const client = clientNameOf(context, server.getClientVersion());
    source.onClient?.(client);
    return client;
  };
  const readRoots = createRootsReader(server);
  const isNew = createMemory();
  const resources = serveResources(server, source);
  const changes = createChangeNotes(server, offered, source.introduced);
  // A settings file that cannot be applied is reported by the next command.
  const refresh = () => offered.refresh().catch(() => {});
  server.instruct = async (context) => {
    await refresh();
    const client = clientOf(context);
    const rules = await changes.tell(client);
    const kept = await source.describeKept?.({ caller: { door: 'mcp', client }, owner, connection });
    return kept === undefined ? rules : `${rules}\n${kept}`;
  };
  server.setRequestHandler('tools/list', async (_request, context) => {
    await refresh();
    const client = clientOf(context);
    const shape = replyShapeFor(client, source.reply);
    return { tools: offered.list(client).map((tool) => toListedTool(tool, shape)) };
  });
  server.setRequestHandler('tools/call', async (request, context) => {
    await resources.watch();
    const client = clientOf(context);
    if (!source.isOneRequest) await changes.begin(client);
    const result = await callMcpTool(offered.list(client), request.params, context, {
      owner,
      connection,
      client,
      shape: replyShapeFor(client, source.reply),
      isNew: source.isOneRequest ? undefined : isNew,
      canElicit: server.getClientCapabilities()?.elicitation !== undefined,
      roots: await readRoots(),
    });
    return source.isOneRequest ? result : changes.addTo(result, client);
  });
  return server;
}

/**
 * Notifies the client of one connection about changed settings. MCP has no notification for changed instructions, so
 * the next reply contains them as an additional text, and `tools/list_changed` is sent if the tools' time limits
 * changed.
 */
function createChangeNotes(
  server: Server,
  { list, instructions }: ClientTools,
  introduced: string | undefined,
) {
  let told: string | undefined;
  let sent = introduced;
  let listed: readonly Tool[] | undefined;
  const tell = async (client: string) => {
    listed = list(client);
    // If the rules have changed since `greet` sent them, the reply to the next call says so.
    told = sent ?? (await instructions(client));
    sent = undefined;
    return told;
  };
  return {
    tell,
    /** Remembers the rules before the first call of a client that did not ask for the instructions. */
    async begin(client: string) {
      if (told === undefined) await tell(client);
    },
    async addTo(
      result: CallToolResult | InputRequiredResult,
      client: string,
    ): Promise<CallToolResult | InputRequiredResult> {
      if (listed !== list(client)) server.sendToolListChanged().catch(() => {});
      listed = list(client);
      const now = await instructions(client);
      if (now === told || !isFinal(result)) return result;
      told = now;
      const text = `The rules of this connection have changed. From now on:\n${now}`;
      return { ...result, content: [...result.content, { type: 'text', text }] };
    },
  };
}

function isFinal(result: CallToolResult | InputRequiredResult): result is CallToolResult {
  return Array.isArray(result.content);
}

/** The client behind a connection. */
interface McpClient {
  /** Id that owns the commands it starts. */
  readonly owner: string;
  /** Protocol session, if the owner has several. */
  readonly connection: string | undefined;
  /** Its name in `clientInfo`. */
  readonly client: string;
  readonly shape: ReplyShape;
  /** True the first time that the connection receives this text; absent for a single HTTP request. */
  readonly isNew: ((text: string) => boolean) | undefined;
  /** True if `initialize` announced the `elicitation` capability. */
  readonly canElicit: boolean;
  /** Folders the client works in. */
  readonly roots: readonly string[];
}

async function callMcpTool(
  tools: readonly Tool[],
  params: { readonly name: string; readonly arguments?: unknown },
  context: ServerContext,
  { owner, connection, client, shape, isNew, canElicit, roots }: McpClient,
): Promise<CallToolResult | InputRequiredResult> {
  const tool = tools.find((candidate) => candidate.name === params.name);
  if (!tool) throw unknownTool(params.name, tools);
  const progress = createProgressNotifier(context);
  const user = elicitApproval(params, context, canElicit);
  const reply = await tool.call(params.arguments, {
    caller: { door: 'mcp', client, ...tracing(context) },
    owner,
    connection,
    reader: connection,
    workspace: roots,
    signal: context.mcpReq.signal,
    onProgress: progress?.notify,
    askUser: user?.ask,
    replyLimits: replyLimitsFor(client),
    isNew,
  });
  progress?.stop();
  return user?.openQuestion() ?? toCallResult(reply, { shape, isDetailed: wantsDetails(context) });
}

// More distinct texts than a connection normally gets; beyond this number, texts are repeated.
const maxRemembered = 1_000;

/** Returns a function that is true the first time that it is called with a text. */
function createMemory(): (text: string) => boolean {
  const seen = new Set<string>();
  return (text) => {
    const isNew = !seen.has(text);
    if (seen.size >= maxRemembered) seen.clear();
    seen.add(text);
    return isNew;
  };
}

/** The parts of a reply that a result contains. */
interface ResultParts {
  readonly shape: ReplyShape;
  /** Adds `_meta` and a link to the log of truncated output. */
  readonly isDetailed: boolean;
}

// Some clients pass every part on to the model, so each part is sent only if it adds information. A failed call has no
// data, because clients treat the text of an error as the whole content.
function toCallResult(
  { text, moreTexts = [], logId, structured, isError, meta }: ToolReply,
  { shape, isDetailed }: ResultParts,
): CallToolResult {
  const texts = shape === 'data' && !isError ? [] : [text, ...moreTexts];
  return {
    content: [
      ...texts.map((one) => ({ type: 'text' as const, text: one })),
      ...(isDetailed && logId !== undefined ? [toLink(logId)] : []),
    ],
    ...(shape !== 'text' && !isError && { structuredContent: { ...structured } }),
    ...(isError && { isError: true }),
    ...(isDetailed && { _meta: { ...meta, ...codeOf(structured) } }),
  };
}

// The text of some families has no code, and a failed call has no data.
function codeOf({ code }: ToolReply['structured']): Readonly<Record<string, unknown>> {
  return code === undefined ? {} : { 'nacre/code': code };
}

/** Key in `_meta` of a call; true asks for `_meta` and a resource link in its result. */
const detailsKey = 'nacre/details';

function wantsDetails({ mcpReq }: ServerContext): boolean {
  return { [detailsKey]: undefined, ...mcpReq._meta }[detailsKey] === true;
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
