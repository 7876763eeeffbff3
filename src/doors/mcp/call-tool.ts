import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Progress } from '../../engine/progress.ts';
import type { Tool } from '../../tools/define-tool.ts';
import { reachPerson } from './reach-person.ts';
import { logUri } from './resource-news.ts';

/** What is known of the client beside its calls. */
export interface Connection {
  /** Whose commands it starts and sees. */
  readonly owner: string;
  /** Which of its owner's connections it is, where there are several. */
  readonly connection: string | undefined;
  /** How it introduced itself, where it did so once for all calls. */
  readonly introduction: unknown;
  /** Whether it said then that it can ask its user. */
  readonly elicits: boolean;
  /** The folders that it works in. */
  readonly roots: readonly string[];
}

/** Answers one `tools/call`. */
export async function callTool(
  tools: readonly Tool[],
  params: { readonly name: string; readonly arguments?: unknown },
  context: ServerContext,
  { owner, connection, introduction, elicits, roots }: Connection,
): Promise<CallToolResult | InputRequiredResult> {
  const tool = tools.find((candidate) => candidate.name === params.name);
  if (!tool) throw unknownTool(params.name, tools);
  const progress = toNotifications(context);
  const person = reachPerson(params, context, elicits);
  const reply = await tool.call(params.arguments, {
    caller: { door: 'mcp', client: clientOf(context, introduction), ...tracing(context) },
    owner,
    connection,
    reader: connection,
    workspace: roots,
    signal: context.mcpReq.signal,
    onProgress: progress?.notify,
    askPerson: person?.ask,
  });
  progress?.stop();
  const question = person?.question();
  if (question) return question;
  return {
    content: [
      ...[reply.text, ...(reply.moreTexts ?? [])].map((text) => ({ type: 'text' as const, text })),
      ...(reply.logOf === undefined ? [] : [toLink(reply.logOf)]),
    ],
    structuredContent: { ...reply.structured },
    ...(reply.isError && { isError: true }),
    ...(reply.meta && { _meta: { ...reply.meta } }),
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

// Since 2026-07-28 every request says who sends it; before, only the handshake did.
function clientOf({ mcpReq }: ServerContext, handshake: unknown): string {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const { name } = { name: undefined, ...(envelope[CLIENT_INFO_META_KEY] ?? handshake ?? {}) } as {
    name: unknown;
  };
  return typeof name === 'string' && name !== '' ? name.slice(0, longestName) : 'unknown';
}

const longestName = 100;

function tracing({ mcpReq }: ServerContext): { readonly traceparent?: string } {
  const { traceparent } = { traceparent: undefined, ...mcpReq._meta } as { traceparent: unknown };
  return typeof traceparent === 'string' ? { traceparent: traceparent.slice(0, longestName) } : {};
}

// A command that ends just as its progress is looked at must not be told about after its answer.
function toNotifications({ mcpReq }: ServerContext) {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let stopped = false;
  return {
    notify(progress: Progress) {
      if (stopped) return;
      const params = { progressToken, progress: progress.elapsedMs / 1_000, message: toMessage(progress) };
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    },
    stop() {
      stopped = true;
    },
  };
}

function toMessage({ bytes, lines, lastLine, elapsedMs }: Progress): string {
  const amount = lines === null ? `${bytes} bytes` : `${lines} ${lines === 1 ? 'line' : 'lines'}`;
  const so = `${amount} after ${Math.round(elapsedMs / 1_000)} s`;
  return lastLine === '' ? so : `${so}: ${lastLine}`;
}
