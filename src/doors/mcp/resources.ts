// The output of commands as MCP resources: 1. `resources/list` lists each command's log and screen, 2. `resources/read`
// returns a log in pieces, 3. `watchResources` sends a notification when a command starts or prints.
import { type ReadResourceResult, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { showCommand } from '../../contract/command.ts';
import { NacreError } from '../../contract/failure.ts';
import type { ReplyShape } from '../../contract/reply.ts';
import type { ListedCommand } from '../../engine/commands/commands.ts';
import type { CallerContext } from '../../engine/context/call-context.ts';
import type { Engine } from '../../engine/engine.ts';
import type { WorkerAccess } from '../door.ts';

/** Dependencies of the resources of one server. */
export interface ResourceSource {
  engine(): Promise<Engine>;
  readonly owner: string;
  /** Protocol session of the server, if the owner has several. */
  readonly connection?: string | undefined;
  readonly maxOutputChars: number;
  /** The setting `reply`. */
  readonly reply: ReplyShape | 'auto';
  /** A sentence about the commands of earlier connections that still run. */
  describeKept?: WorkerAccess['describeKept'] | undefined;
  /** Called with the name of the client, once it is known and at every tool call. */
  onClient?(name: string): void;
  /** The instructions that the client has already received. */
  readonly introduced?: string | undefined;
  /** True for a server that handles one HTTP request; the HTTP door then sends the notifications. */
  readonly isOneRequest?: boolean | undefined;
}

/** Adds the resources to a server; `watch` must be called before a command can start. */
export function serveResources(server: Server, source: ResourceSource): { watch(): Promise<void> } {
  const subscribed = new Set<string>();
  const reader: CallerContext = {
    caller: { door: 'mcp', client: 'resources' },
    owner: source.owner,
    // The read position is separate from that of the tools: reading a resource must not consume output of
    // `read_output`.
    reader: `${source.owner} resources`,
  };
  server.setRequestHandler('resources/list', async () => ({
    resources: [...(await (await source.engine()).list(reader)).flatMap(toResources), auditResource],
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: templates }));
  server.setRequestHandler('resources/read', ({ params }) =>
    params.uri === auditUri ? readAudit(source) : readResource(source, reader, params.uri),
  );
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  return { watch: createWatch(server, source, subscribed) };
}

function createWatch(server: Server, source: ResourceSource, subscribed: ReadonlySet<string>) {
  const listener: ResourceListener = {
    listChanged: () => void server.sendResourceListChanged().catch(() => {}),
    updated(uri) {
      // Since 2026-07-28 there are no client capabilities here, and the SDK filters by subscription itself.
      const isWanted = server.getClientCapabilities() === undefined || subscribed.has(uri);
      if (isWanted) server.sendResourceUpdated({ uri }).catch(() => {});
    },
  };
  let watching: Promise<void> | null = null;
  const start = async () => {
    server.onclose = await watchResources(source, listener);
  };
  return async () => {
    if (source.isOneRequest) return;
    // If the engine cannot start, the call itself reports why; retry at the next call.
    watching ??= start().catch(() => {
      watching = null;
    });
    return watching;
  };
}

/** Receives changes of an owner's resources. */
export interface ResourceListener {
  listChanged(): void;
  updated(uri: string): void;
}

/** Calls the listener when one of the owner's commands starts or prints; returns a function that stops it. */
export async function watchResources(
  { engine, owner }: Pick<ResourceSource, 'engine' | 'owner'>,
  listener: ResourceListener,
): Promise<() => void> {
  return (await engine()).listen(owner, ({ kind, id }) => {
    if (kind === 'began') listener.listChanged();
    for (const uri of [logUri(id), screenUri(id)]) listener.updated(uri);
  });
}

/** URI of a command's output. */
export function logUri(id: string): string {
  return `nacre://commands/${id}/log`;
}

function screenUri(id: string): string {
  return `nacre://commands/${id}/screen`;
}

const mimeType = 'text/plain';
const auditUri = 'nacre://audit';
const auditResource = {
  uri: auditUri,
  name: 'audit',
  title: 'The newest audit records of your commands',
  mimeType: 'application/jsonl',
};
const templates = [
  {
    uriTemplate: 'nacre://commands/{id}/log{?from}',
    name: 'log',
    title: "A command's output",
    description:
      'Output starting at a cursor, up to the size of a reply; _meta has the URI of the next piece.',
    mimeType,
  },
  {
    uriTemplate: 'nacre://commands/{id}/screen',
    name: 'screen',
    title: "The screen of a command's terminal",
    mimeType,
  },
];

function toResources({ id, name, command, state, hasScreen }: ListedCommand) {
  const shared = { title: showCommand(command).slice(0, maxTitleChars).toWellFormed(), mimeType };
  const size = state.stdoutBytes + state.stderrBytes;
  return [
    { uri: logUri(id), name: `${name ?? id} log`, ...shared, size },
    ...(hasScreen ? [{ uri: screenUri(id), name: `${name ?? id} screen`, ...shared }] : []),
  ];
}

// Returns the newest records of this owner that fit into `maxOutputChars`, one JSON record per line.
async function readAudit({ engine, owner, maxOutputChars }: ResourceSource): Promise<ReadResourceResult> {
  const lines = (await engine()).recordsOf(owner).map((record) => `${JSON.stringify(record)}\n`);
  let charsLeft = maxOutputChars;
  const newest = lines.toReversed().filter((line) => {
    charsLeft -= line.length;
    return charsLeft >= 0;
  });
  return {
    contents: [{ uri: auditUri, mimeType: auditResource.mimeType, text: newest.toReversed().join('') }],
  };
}

const maxTitleChars = 100;
const uriPattern = /^nacre:\/\/commands\/([\w.-]{1,100})\/(?:(log)(?:\?from=(\d{1,13}))?|screen)$/;

async function readResource(
  source: ResourceSource,
  reader: CallerContext,
  uri: string,
): Promise<ReadResourceResult> {
  const [, id, log, from = '0'] = uriPattern.exec(uri) ?? [];
  if (id === undefined) throw new ResourceNotFoundError(uri);
  const engine = await source.engine();
  const query = {
    cursor: Number(from),
    waitMs: 0,
    maxChars: source.maxOutputChars,
    keep: 'beginning',
    view: 'clean',
    wantsScreen: log === undefined,
    howToReadOn: () => '',
  } as const;
  const found = await engine.read(id, query, reader).catch((error: unknown) => {
    throw error instanceof NacreError ? new ResourceNotFoundError(uri, error.message) : error;
  });
  const text = found.screen?.text ?? found.stdout + found.stderr;
  const hasMore = log !== undefined && found.next > found.from;
  const next = hasMore ? { _meta: { 'nacre/next': `${logUri(id)}?from=${found.next}` } } : {};
  return { contents: [{ uri, mimeType, text, ...next }] };
}
