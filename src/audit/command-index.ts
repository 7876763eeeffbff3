// Every command in the audit log, by id, folded from its records as the feed passes them on. Only the newest commands
// are in memory, with the beginning of their text; `spans` locates the records of a command, which are read on demand.
import type { CommandCard, PersonAct, ProgramPlace } from '../contract/console.ts';
import type { Verdict } from '../contract/decision.ts';
import type { EndCause } from '../contract/job.ts';
import type { FoundRecord } from './feed.ts';
import type { AuditRecord } from './read-records.ts';

/** A command as its records describe it. */
export interface IndexedCommand
  extends Omit<CommandCard, 'awaiting' | 'reader' | 'ports' | 'state' | 'cpu_percent' | 'cpu_recent'> {
  readonly door: string;
  readonly client: string;
  readonly token: string | null;
  /** How it ended; null while no end is recorded. */
  readonly end: CommandCard['state'] | null;
  /** True while an approval request about it has no answer. */
  readonly isWaiting: boolean;
  /** Why it was refused or could not run. */
  readonly message: string | null;
  readonly ended_at: string | null;
  readonly spans: readonly RecordSpan[];
}

/** A part of an audit file with records of a command. */
export interface RecordSpan {
  readonly file: string;
  readonly from: number;
  readonly to: number;
}

/** The commands of all servers. */
export interface CommandIndex {
  /** Folds records; returns the commands that changed. */
  add(records: readonly FoundRecord[]): readonly IndexedCommand[];
  get(id: string): IndexedCommand | undefined;
  /** Newest first. */
  all(): readonly IndexedCommand[];
  readonly size: number;
}

const maxCommands = 50_000;
const shownChars = 2_000;
const maxActs = 20;
const beginnings: ReadonlySet<string> = new Set(['asked', 'skipped']);

/** Creates an empty index of at most `limit` commands. */
export function createCommandIndex(limit = maxCommands): CommandIndex {
  const commands = new Map<string, IndexedCommand>();
  const order = createTimeOrder((id) => commands.get(id)?.asked_at ?? '');
  const fold = (found: FoundRecord): string | undefined => {
    const { record } = found;
    const known = commands.get(record.id);
    const before = known ?? (beginnings.has(record.kind) ? begin(found) : undefined);
    if (before === undefined) return undefined;
    const changed = { ...before, ...fieldsOf(record, before), spans: addSpan(before.spans, found) };
    commands.set(record.id, changed);
    if (known === undefined) order.add(record.id);
    return record.id;
  };
  return {
    add(records) {
      const ids = new Set(records.flatMap((found) => fold(found) ?? []));
      for (const id of order.dropOldest(commands.size - limit)) commands.delete(id);
      return [...ids].flatMap((id) => commands.get(id) ?? []);
    },
    get: (id) => commands.get(id),
    all: () => order.newestFirst().flatMap((id) => commands.get(id) ?? []),
    get size() {
      return commands.size;
    },
  };
}

/** Ids in the order of their times. Files are read one after the other, but their commands ran at the same time. */
function createTimeOrder(timeOf: (id: string) => string) {
  let ids: string[] = [];
  let isSorted = true;
  const sort = () => {
    if (isSorted) return;
    const times = new Map(ids.map((id) => [id, timeOf(id)]));
    const compare = (one = '', other = '') => (one < other ? -1 : one > other ? 1 : 0);
    ids.sort((one, other) => compare(times.get(one), times.get(other)));
    isSorted = true;
  };
  return {
    add(id: string) {
      const last = ids.at(-1);
      if (last !== undefined && timeOf(last) > timeOf(id)) isSorted = false;
      ids.push(id);
    },
    dropOldest(count: number): readonly string[] {
      if (count <= 0) return [];
      sort();
      const oldest = ids.slice(0, count);
      ids = ids.slice(count);
      return oldest;
    },
    newestFirst(): readonly string[] {
      sort();
      return ids.toReversed();
    },
  };
}

function begin({ record, instance }: FoundRecord): IndexedCommand {
  const { id, door, client, time } = record;
  const connection = textOf(record.connection);
  return {
    id,
    server: instance,
    agent: toAgentKey({ door, client, instance, connection }),
    door,
    client,
    token: textOf(record.token),
    shell: textOf(record.shell),
    name: textOf(record.name),
    background: record.background === true,
    terminal: record.terminal === true,
    command: cutText(record.command),
    programs: [],
    cwd: textOf(record.cwd),
    verdict: null,
    rule: null,
    reason: null,
    hint: null,
    remedy: null,
    piece: null,
    asked_at: time,
    started_at: null,
    ended_at: null,
    duration_ms: null,
    exit_code: null,
    cause: null,
    stdout_bytes: 0,
    stderr_bytes: 0,
    cpu_ms: null,
    memory_bytes: null,
    machine: textOf(record.machine),
    sandbox: null,
    network: null,
    acts: [],
    end: null,
    isWaiting: false,
    message: null,
    spans: [],
  };
}

/** The key of the agent that a command belongs to: its server, and the connection if the server has several. */
export function toAgentKey({
  door,
  client,
  instance,
  connection,
}: {
  readonly door: string;
  readonly client: string;
  readonly instance: string;
  readonly connection: string | null;
}): string {
  // Each `nacre run` is a process of its own; together they are the user at a terminal.
  if (door === 'cli') return 'terminal';
  const part = connection ?? (door === 'mcp' ? '' : client);
  return part === '' ? instance : `${instance}~${part.replaceAll('/', '-')}`;
}

function fieldsOf(record: AuditRecord, known: IndexedCommand): Partial<IndexedCommand> {
  switch (record.kind) {
    case 'skipped':
      return { end: 'skipped', reason: textOf(record.reason), ended_at: record.time };
    case 'decided':
      // Typed input is decided as well; the first decision is about the command itself.
      return known.verdict === null ? decided(record) : { isWaiting: record.verdict === 'ask' };
    case 'approved':
    case 'declined':
      return { isWaiting: false, acts: addAct(known.acts, toAct(record, record.kind)) };
    case 'stop':
    case 'input':
      return { acts: addAct(known.acts, toAct(record, record.kind)) };
    case 'started':
      return { started_at: record.time, isWaiting: false, cwd: textOf(record.cwd) ?? known.cwd };
    case 'finished':
      return finished(record);
    case 'refused':
    case 'failed':
      return {
        end: record.kind === 'refused' ? 'refused' : 'error',
        isWaiting: false,
        message: textOf(record.message),
        hint: textOf(record.hint),
        remedy: textOf(record.remedy),
        piece: toPiece(record.piece),
        ended_at: record.time,
      };
    default:
      return {};
  }
}

function decided(record: AuditRecord): Partial<IndexedCommand> {
  const verdict = record.verdict as Verdict;
  return {
    verdict,
    rule: textOf(record.rule),
    reason: textOf(record.reason),
    cwd: textOf(record.cwd),
    machine: textOf(record.machine),
    programs: toPlaces(record),
    isWaiting: verdict === 'ask',
  };
}

function finished(record: AuditRecord): Partial<IndexedCommand> {
  const resources = record.resources as { cpuMs?: number | null; peakMemoryBytes?: number | null } | null;
  const enforcement = record.enforcement as Readonly<Record<string, unknown>> | null | undefined;
  return {
    end: record.status as CommandCard['state'],
    isWaiting: false,
    exit_code: numberOf(record.exit_code),
    duration_ms: numberOf(record.duration_ms),
    cause: (textOf(record.cause) ?? null) as EndCause | null,
    stdout_bytes: numberOf(record.stdout_bytes) ?? 0,
    stderr_bytes: numberOf(record.stderr_bytes) ?? 0,
    cpu_ms: resources?.cpuMs ?? null,
    memory_bytes: resources?.peakMemoryBytes ?? null,
    sandbox: textOf(enforcement?.sandbox),
    network: textOf(enforcement?.network),
    ended_at: record.time,
  };
}

function toPlaces({ found, programs }: AuditRecord): readonly ProgramPlace[] {
  if (Array.isArray(found)) return (found as ProgramPlace[]).slice(0, 20);
  // Records of earlier versions have only names.
  return Array.isArray(programs)
    ? programs.slice(0, 20).map((name) => ({ name: String(name), pos: 0, end: 0 }))
    : [];
}

function toPiece(value: unknown): IndexedCommand['piece'] {
  const { pos, end } = (value ?? {}) as { readonly pos?: unknown; readonly end?: unknown };
  return typeof pos === 'number' && typeof end === 'number' ? { pos, end } : null;
}

function toAct(record: AuditRecord, kind: PersonAct['kind']): PersonAct {
  return { kind, at: record.time, by: textOf(record.by) ?? record.client, note: textOf(record.note) };
}

// An approval is recorded when the user gives it and when a call uses it; `addAct` keeps the first record.
function addAct(acts: readonly PersonAct[], act: PersonAct): readonly PersonAct[] {
  const isKnown = act.kind === 'approved' && acts.some(({ kind }) => kind === 'approved');
  return isKnown || acts.length >= maxActs ? acts : [...acts, act];
}

function addSpan(spans: readonly RecordSpan[], { file, from, to }: FoundRecord): readonly RecordSpan[] {
  const last = spans.at(-1);
  if (last?.file !== file) return [...spans, { file, from, to }];
  return [...spans.slice(0, -1), { ...last, to }];
}

function cutText(command: unknown): string {
  const text = toCommandText(command);
  return text.length > shownChars ? `${text.slice(0, shownChars).toWellFormed()}…` : text;
}

/** A recorded command as text: the script, the joined arguments, or the beginning of a long one. */
export function toCommandText(command: unknown): string {
  if (typeof command === 'string') return command;
  if (Array.isArray(command)) return command.join(' ');
  return String((command as { beginning?: unknown } | null)?.beginning ?? '');
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
