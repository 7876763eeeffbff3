// The output of commands as resources: listed, read in pieces, and told about while it grows.
import { type ReadResourceResult, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { showCommand } from '../../contract/command.ts';
import { NacreError } from '../../contract/failure.ts';
import type { Asker, ListedCommand } from '../../engine/commands/commands.ts';
import type { Engine } from '../../engine/engine.ts';
import { logUri, type ResourceNews, screenUri, watchResources } from './resource-news.ts';

/** What resources are made of. */
export interface ResourceSource {
  engine(): Promise<Engine>;
  readonly owner: string;
  /** Which of its owner's connections the server is for, where there are several. */
  readonly connection?: string | undefined;
  readonly maxOutputChars: number;
  /** True where somebody else tells of changes, because the server answers one request and is gone. */
  readonly isOneRequest?: boolean | undefined;
}

/** What a server with these resources can do. */
export const resourceCapabilities = { subscribe: true, listChanged: true };

/** Adds the resources to a server; `watch` is called before a command may begin, and makes changes be told of. */
export function offerResources(server: Server, source: ResourceSource): { watch(): Promise<void> } {
  const subscribed = new Set<string>();
  const asker: Asker = {
    caller: { door: 'mcp', client: 'resources' },
    owner: source.owner,
    // Who reads a resource has not seen it in a reply.
    reader: `${source.owner} resources`,
  };
  server.setRequestHandler('resources/list', async () => ({
    resources: [...(await (await source.engine()).list(asker)).flatMap(toResources), auditResource],
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: templates }));
  server.setRequestHandler('resources/read', ({ params }) =>
    params.uri === auditUri ? readAudit(source) : readResource(source, asker, params.uri),
  );
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  const news: ResourceNews = {
    listChanged: () => void server.sendResourceListChanged().catch(() => {}),
    updated(uri) {
      // Since 2026-07-28 the SDK itself knows who listens to what.
      const isWanted = server.getClientCapabilities() === undefined || subscribed.has(uri);
      if (isWanted) server.sendResourceUpdated({ uri }).catch(() => {});
    },
  };
  let watching: Promise<void> | null = null;
  const begin = async () => {
    server.onclose = await watchResources(source, news);
  };
  return {
    async watch() {
      if (source.isOneRequest) return;
      // Without an engine the command itself says what is wrong.
      watching ??= begin().catch(() => {
        watching = null;
      });
      return watching;
    },
  };
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
    description: 'From a cursor on, as much as a reply may hold; _meta names the address of the next piece.',
    mimeType,
  },
  {
    uriTemplate: 'nacre://commands/{id}/screen',
    name: 'screen',
    title: "What a command's terminal shows",
    mimeType,
  },
];

function toResources({ id, name, command, state, hasScreen }: ListedCommand) {
  const shown = { title: showCommand(command).slice(0, longestTitle).toWellFormed(), mimeType };
  const size = state.stdoutBytes + state.stderrBytes;
  return [
    { uri: logUri(id), name: `${name ?? id} log`, ...shown, size },
    ...(hasScreen ? [{ uri: screenUri(id), name: `${name ?? id} screen`, ...shown }] : []),
  ];
}

// One record a line, the newest that a reply may hold, of the commands of this client alone.
async function readAudit({ engine, owner, maxOutputChars }: ResourceSource): Promise<ReadResourceResult> {
  const lines = (await engine()).recordsOf(owner).map((record) => `${JSON.stringify(record)}\n`);
  let room = maxOutputChars;
  const newest = lines.toReversed().filter((line) => {
    room -= line.length;
    return room >= 0;
  });
  return {
    contents: [{ uri: auditUri, mimeType: auditResource.mimeType, text: newest.toReversed().join('') }],
  };
}

const longestTitle = 100;
const address = /^nacre:\/\/commands\/([\w.-]{1,100})\/(?:(log)(?:\?from=(\d{1,13}))?|screen)$/;

async function readResource(source: ResourceSource, asker: Asker, uri: string): Promise<ReadResourceResult> {
  const [, id, log, from = '0'] = address.exec(uri) ?? [];
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
  const found = await engine.read(id, query, asker).catch((error: unknown) => {
    throw error instanceof NacreError ? new ResourceNotFoundError(uri, error.message) : error;
  });
  const text = found.screen?.text ?? found.stdout + found.stderr;
  const hasMore = log !== undefined && found.next > found.from;
  const next = hasMore ? { _meta: { 'nacre/next': `${logUri(id)}?from=${found.next}` } } : {};
  return { contents: [{ uri, mimeType, text, ...next }] };
}
