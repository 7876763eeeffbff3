import { toCommandText } from './command-index.ts';
import { pageActs } from './entry.ts';
import type { AuditRecord } from './read-records.ts';

/** One command, summarised from its records. */
export interface CommandSummary {
  readonly id: string;
  readonly time: string;
  readonly door: string;
  readonly client: string;
  /** As recorded: the script or the joined arguments, redacted, and cut if long. */
  readonly command: string;
  readonly cwd: string | null;
  readonly programs: readonly string[];
  readonly verdict: string | null;
  readonly rule: string | null;
  /** How it ended; `running` if no end is recorded, because it still runs or its server was killed. */
  readonly outcome: string;
  readonly exit_code: number | null;
  readonly duration_ms: number | null;
  /** The latest state of its changes: `applied`, `held`, `partial`, `undone` or `discarded`; null if none were kept. */
  readonly changes: string | null;
}

/** Criteria of `matchesFilter`; an absent field matches every command. */
export interface CommandFilter {
  readonly program?: string | undefined;
  readonly outcome?: string | undefined;
  readonly client?: string | undefined;
  readonly id?: string | undefined;
}

/** Combines the records of each command, in the order of their requests. */
export function summariseCommands(
  records: Iterable<AuditRecord>,
  earlier: readonly CommandSummary[] = [],
): CommandSummary[] {
  const commands = new Map(earlier.map((command) => [command.id, command]));
  for (const record of records) {
    if (pageKinds.has(record.kind)) continue;
    const known = commands.get(record.id) ?? begin(record);
    commands.set(record.id, { ...known, ...fieldsOf(record) });
  }
  return [...commands.values()].sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

const pageKinds: ReadonlySet<string> = new Set(pageActs);

/** Whether a command matches all fields of a `CommandFilter`. */
export function matchesFilter(
  command: CommandSummary,
  { program, outcome, client, id }: CommandFilter,
): boolean {
  return (
    (program === undefined ||
      command.programs.some((name) => name === program || name.endsWith(`/${program}`))) &&
    (outcome === undefined || command.outcome === outcome) &&
    (client === undefined || command.client === client) &&
    (id === undefined || command.id === id)
  );
}

function begin({ id, time, door, client }: AuditRecord): CommandSummary {
  return {
    id,
    time,
    door,
    client,
    command: '',
    cwd: null,
    programs: [],
    verdict: null,
    rule: null,
    outcome: 'running',
    exit_code: null,
    duration_ms: null,
    changes: null,
  };
}

function fieldsOf(record: AuditRecord): Partial<CommandSummary> {
  switch (record.kind) {
    case 'skipped':
      return { command: toCommandText(record.command), outcome: 'skipped' };
    case 'port_opened':
      return { command: `port ${record.port} opened on 127.0.0.1:${record.host_port}`, outcome: 'running' };
    case 'port_closed':
      return { outcome: 'completed' };
    case 'unknown_caller':
      return { outcome: 'unknown caller' };
    case 'asked':
      return { command: toCommandText(record.command) };
    case 'decided':
      return {
        cwd: String(record.cwd),
        verdict: String(record.verdict),
        rule: String(record.rule),
        programs: Array.isArray(record.programs) ? record.programs.map(String) : [],
      };
    case 'finished':
      return {
        outcome: String(record.status),
        exit_code: record.exit_code === null ? null : Number(record.exit_code),
        duration_ms: Number(record.duration_ms),
        changes: toChangesState(record.changes),
      };
    case 'changes':
      return { changes: actions[String(record.action)] ?? null };
    case 'refused':
    case 'failed':
      return { outcome: record.kind === 'refused' ? 'refused' : `error: ${String(record.code)}` };
    default:
      return {};
  }
}

const actions: Readonly<Record<string, string>> = { apply: 'applied', discard: 'discarded', undo: 'undone' };

function toChangesState(changes: unknown): string | null {
  const state = (changes as { readonly state?: unknown } | null | undefined)?.state;
  return typeof state === 'string' ? state : null;
}
