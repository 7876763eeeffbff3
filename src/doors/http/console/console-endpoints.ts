// The data of the console's pages, as JSON. Pages and the server's own token see every command; a named token sees its
// own.
import { toAuditFile } from '../../../audit/audit-files.ts';
import { readAuditKey } from '../../../audit/audit-key.ts';
import type { IndexedCommand } from '../../../audit/command-index.ts';
import { readRecords } from '../../../audit/feed.ts';
import { verifySlowly } from '../../../audit/verify.ts';
import type { NowReply, RecordRow } from '../../../contract/console.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { SettingInForce } from '../../../settings/setting-in-force.ts';
import type { Places, WorkerAccess } from '../../door.ts';
import { type Callers, type HttpCaller, toCaller } from '../access/callers.ts';
import type { PageSessions } from '../access/page-sessions.ts';
import type { Sites } from '../access/sites.ts';
import type { Applets } from '../applets/applets.ts';
import { HttpProblem } from '../requests/problem.ts';
import { type Reply, toJsonReply } from '../requests/raw-http.ts';
import { findOutputSource, type OutputDeps, openOutput } from './command-output.ts';
import { download, parseDownloadFormat } from './download-output.ts';
import { findCommand, unknownCommand } from './find-command.ts';
import { findCommands, listPrograms } from './find-commands.ts';
import { type ConsoleHub, toRecordRow } from './hub.ts';
import { listRecords } from './list-records.ts';
import { measureFolder } from './measure-folder.ts';

/** Dependencies of the console's routes. */
export interface ConsoleDeps extends Pick<WorkerAccess, 'listKept' | 'keptCommands'> {
  readonly hub: ConsoleHub;
  readonly engine: () => Promise<Engine>;
  readonly places: Places;
  /** Ends the commands and shells that have outlived their server. */
  readonly endWorkers: () => Promise<unknown>;
  readonly callers: Callers;
  readonly sites: Sites;
  readonly pages: PageSessions;
  readonly applets: Applets;
  readonly version: string;
  /** The home directory of the server's user, shown as ~. */
  readonly home: string;
  readonly settings: { readonly terminalShells: readonly string[] };
  readonly settingsInForce: readonly SettingInForce[];
}

/** The part of `NowReply` about the server itself and the page. */
export type PageDescription = Pick<NowReply, 'version' | 'address' | 'home' | 'page' | 'applets'>;

/** Describes the server and the page. */
export function describePage(
  { version, sites, home, applets }: Pick<ConsoleDeps, 'version' | 'sites' | 'home' | 'applets'>,
  { page }: HttpCaller,
): PageDescription {
  const found = applets.list().applets.map(({ manifest: { slug, title = slug } }) => ({ slug, title }));
  const { role = 'operator', name = '' } = page ?? {};
  return { version, address: sites.address(), home, page: { role, name }, applets: found };
}

/** Serves GET /api/now. */
export async function showNow(deps: ConsoleDeps, caller: HttpCaller): Promise<Reply> {
  const now = await deps.hub.snapshot();
  const all = { ...describePage(deps, caller), ...now };
  if (isOwner(deps, caller)) return toJsonReply(200, all);
  const mine = (cards: typeof now.running) =>
    cards.filter(({ id }) => {
      const command = deps.hub.index.get(id);
      return command !== undefined && isTheirs(deps, caller, command);
    });
  const hidden = { applets: [], questions: [], agents: [], servers: [], per_minute: [], total: 0 };
  return toJsonReply(200, { ...all, ...hidden, running: mine(now.running), failed: mine(now.failed) });
}

/** Throws 403 unless the caller is a page or has the server's own token. */
export function requireOwner(deps: Pick<ConsoleDeps, 'callers'>, caller: HttpCaller): void {
  if (!isOwner(deps, caller))
    throw new HttpProblem(403, "Only the server's own token and its pages may do this; use that token.");
}

function isOwner({ callers }: Pick<ConsoleDeps, 'callers'>, { owner }: HttpCaller): boolean {
  return owner === callers.own.owner;
}

function isTheirs(deps: ConsoleDeps, caller: HttpCaller, { token }: IndexedCommand): boolean {
  return isOwner(deps, caller) || (caller.token !== undefined && caller.token === token);
}

/** The command with this id if the caller may see it; throws 404 otherwise. */
export async function findOwnCommand(
  deps: ConsoleDeps,
  caller: HttpCaller,
  id: string,
): Promise<IndexedCommand> {
  const command = await findCommand(deps, caller, id);
  if (isTheirs(deps, caller, command)) return command;
  throw unknownCommand(caller, id);
}

const defaultLimit = 100;
const maxLimit = 500;

/** Serves GET /api/commands. */
export async function sendCommands(deps: ConsoleDeps, caller: HttpCaller, search: string): Promise<Reply> {
  const { hub } = deps;
  await hub.upToDate();
  const query = new URLSearchParams(search);
  const get = (name: string) => query.get(name) || undefined;
  const filter = {
    q: get('q'),
    agent: get('agent'),
    program: get('program'),
    outcome: get('outcome'),
    cwd: get('cwd'),
    since: get('since'),
    after: get('after'),
    limit: toLimit(get('limit')),
  };
  const all = [...hub.index.all()].filter((command) => isTheirs(deps, caller, command));
  const page = findCommands(all, (command) => hub.card(command), filter);
  return toJsonReply(200, filter.after === undefined ? { ...page, programs: listPrograms(all) } : page);
}

function toLimit(text: string | undefined): number {
  const limit = Number(text ?? defaultLimit);
  return Number.isInteger(limit) && limit > 0 ? Math.min(limit, maxLimit) : defaultLimit;
}

/** Serves GET /api/commands/ID: the card, its records, and where its output is. */
export async function sendCommand(deps: ConsoleDeps, caller: HttpCaller, id: string): Promise<Reply> {
  const { hub, places } = deps;
  const command = await findOwnCommand(deps, caller, id);
  const [records, output] = await Promise.all([
    readOwnRecords(places.audit.dir, command),
    findOutputSource(toOutputDeps(deps), command),
  ]);
  const agent = hub.agent(command.agent) ?? null;
  const asked = records.find(({ kind }) => kind === 'asked' || kind === 'skipped');
  return toJsonReply(200, {
    card: hub.card(command),
    text: asked?.command ?? command.command,
    records,
    output,
    agent,
  });
}

const mostRecords = 500;

async function readOwnRecords(
  dir: string,
  { id, spans, server }: IndexedCommand,
): Promise<readonly RecordRow[]> {
  const rows: RecordRow[] = [];
  for (const { file, from, to } of spans) {
    // Other servers write records about it too, such as `viewed`.
    const { instance } = toAuditFile(file) ?? { instance: server };
    for await (const { found } of readRecords(dir, { name: file, instance }, from, to))
      for (const one of found)
        if (one.record.id === id && rows.length < mostRecords) rows.push(toRecordRow(one));
  }
  return rows;
}

/** The sources of a command's records and output. */
export function toOutputDeps({ engine, listKept, keptCommands, places }: ConsoleDeps): OutputDeps {
  const { recordingDir, controlDir } = places;
  return { engine, listKept, keptCommands, recordingDir, controlDir };
}

const pieceBytes = 1_048_576;

/** Serves GET /api/commands/ID/output: bytes from a cursor, or with `download` the whole. */
export async function sendOutput(
  deps: ConsoleDeps,
  caller: HttpCaller,
  id: string,
  search: string,
): Promise<Reply> {
  const query = new URLSearchParams(search);
  const command = await findOwnCommand(deps, caller, id);
  const output = await openOutput(toOutputDeps(deps), command).catch(toGone);
  const from = toCursor(query.get('from'));
  if (query.has('download')) {
    const format = parseDownloadFormat(query.get('download') ?? '');
    const engine = await deps.engine();
    engine.notePageAct('downloaded', toCaller(caller), { id });
    const { started_at: startedAt } = command;
    return download(output, { id, format, startedAt, converter: () => engine.createStreamConverter() });
  }
  try {
    const to = query.has('to') ? toCursor(query.get('to')) : from + pieceBytes;
    const maxBytes = Math.max(0, Math.min(to - from, pieceBytes));
    const found = await output.read(from, { waitMs: 0, maxBytes });
    const stream = query.get('stream');
    const wanted = found.chunks.filter((chunk) => stream === null || chunk.stream === stream);
    const body = Buffer.concat(wanted.map(({ data }) => data));
    const headers = {
      'Content-Type': 'application/octet-stream',
      'Nacre-Cursor': String(found.next),
      'Nacre-End': String(found.end),
    };
    return { status: 200, headers, body };
  } finally {
    output.close();
  }
}

function toCursor(text: string | null): number {
  const cursor = Number(text ?? 0);
  if (Number.isSafeInteger(cursor) && cursor >= 0) return cursor;
  throw new HttpProblem(400, 'from and to must be byte positions, such as 0.');
}

function toGone(error: unknown): never {
  if (error instanceof NacreError && error.code === 'job_not_found')
    throw new HttpProblem(410, `${error.message} ${error.hint ?? ''}`.trim());
  throw error;
}

const sessionCommands = 5_000;

/** Serves GET /api/agents. */
export async function showAgents(deps: ConsoleDeps, caller: HttpCaller, search: string): Promise<Reply> {
  requireOwner(deps, caller);
  await deps.hub.upToDate();
  return toJsonReply(200, deps.hub.agents(new URLSearchParams(search).get('after') || undefined));
}

/** Serves GET /api/agents/KEY: an agent with the commands of its session, oldest first. */
export async function showAgent(deps: ConsoleDeps, caller: HttpCaller, key: string): Promise<Reply> {
  requireOwner(deps, caller);
  const { hub } = deps;
  await hub.upToDate();
  const agent = hub.agent(key);
  if (!agent) throw new HttpProblem(404, `There is no agent ${JSON.stringify(key.slice(0, 80))}.`);
  const { commands } = findCommands(hub.index.all(), (command) => hub.card(command), {
    agent: key,
    limit: sessionCommands,
  });
  return toJsonReply(200, { agent, commands: commands.toReversed() });
}

/** Serves GET /api/approvals: pending requests, and recent answers. */
export async function showApprovals(deps: ConsoleDeps, caller: HttpCaller): Promise<Reply> {
  requireOwner(deps, caller);
  const { hub } = deps;
  const { questions, approval_off } = await hub.snapshot();
  const answered = [...hub.index.all()]
    .filter(({ acts }) => acts.some(({ kind }) => kind === 'approved' || kind === 'declined'))
    .slice(0, 100)
    .map((command) => hub.card(command));
  return toJsonReply(200, { questions, approval_off, answered });
}

/** Serves GET /api/series: figures of one command, or of the server. */
export function showSeries(deps: ConsoleDeps, caller: HttpCaller, search: string): Reply {
  const id = new URLSearchParams(search).get('command');
  const command = id === null ? undefined : deps.hub.index.get(id);
  if (command && isTheirs(deps, caller, command))
    return toJsonReply(200, { every_ms: 1_000, ...deps.hub.series.of(command.id) });
  requireOwner(deps, caller);
  return toJsonReply(200, { every_ms: 10_000, ...deps.hub.series.whole() });
}

/** Serves GET /api/server. */
export async function showServer(deps: ConsoleDeps, caller: HttpCaller): Promise<Reply> {
  requireOwner(deps, caller);
  const { servers, total, per_minute, paused } = await deps.hub.snapshot();
  const engine = await deps.engine();
  const report = await engine.report();
  const found = deps.applets.list();
  return toJsonReply(200, {
    version: deps.version,
    servers,
    total,
    per_minute,
    paused,
    machine: {
      supervision: report.supervision,
      sandbox: report.sandbox,
      files: report.files,
      network: report.network,
      exec: report.exec,
      fault: report.namespaceFault,
      gaps: report.gaps,
    },
    storage: {
      audit: await measureFolder(deps.places.audit.dir),
      recordings: await measureFolder(deps.places.recordingDir),
    },
    places: {
      state: deps.places.stateDir,
      audit: deps.places.audit.dir,
      recordings: deps.places.recordingDir,
    },
    settings: deps.settingsInForce.map(({ key, value, origin }) => ({
      key,
      value: showValue(key, value),
      origin,
    })),
    applets: found.applets.map(({ manifest, refused }) => ({ ...manifest, refused })),
    problems: found.problems,
    terminal_shells: deps.settings.terminalShells,
  });
}

/** Serves GET /api/pages: the pages of the console that are signed in. */
export function showPages(deps: ConsoleDeps, caller: HttpCaller): Reply {
  requireOwner(deps, caller);
  const pages = deps.pages.list().map((one) => ({ ...one, own: one.id === caller.page?.id }));
  return toJsonReply(200, { pages });
}

// Settings with a token or key must not reach a page.
function showValue(key: string, value: unknown): unknown {
  return /^tokens?$|secret/.test(key) && value !== undefined ? '(hidden)' : value;
}

/** Serves GET /api/audit: records, newest first. */
export async function showAudit(deps: ConsoleDeps, caller: HttpCaller, search: string): Promise<Reply> {
  requireOwner(deps, caller);
  const query = new URLSearchParams(search);
  const limit = toLimit(query.get('limit') || undefined);
  const before = query.get('before') || undefined;
  return toJsonReply(
    200,
    await listRecords(deps.places.audit.dir, { ...toRecordFilter(query), before, limit }),
  );
}

function toRecordFilter(query: URLSearchParams) {
  const get = (name: string) => query.get(name) || undefined;
  return { kind: get('kind'), id: get('id'), q: get('q') };
}

/** Serves GET /api/audit/verify: whether the chain of records is whole. */
export async function showVerified(deps: ConsoleDeps, caller: HttpCaller): Promise<Reply> {
  requireOwner(deps, caller);
  const { dir, keyPath } = deps.places.audit;
  return toJsonReply(200, await verifySlowly(dir, keyPath === undefined ? undefined : readAuditKey(keyPath)));
}

/** Serves GET /api/audit/export: the newest records that match, as JSON lines. */
export async function exportAudit(deps: ConsoleDeps, caller: HttpCaller, search: string): Promise<Reply> {
  requireOwner(deps, caller);
  const query = new URLSearchParams(search);
  const { records } = await listRecords(deps.places.audit.dir, {
    ...toRecordFilter(query),
    limit: maxExported,
  });
  const headers = {
    'Content-Type': 'application/x-ndjson',
    'Content-Disposition': 'attachment; filename="audit.jsonl"',
  };
  return { status: 200, headers, body: records.map((record) => `${JSON.stringify(record)}\n`).join('') };
}

const maxExported = 20_000;
