import type { IndexedCommand } from '../../../audit/command-index.ts';
import type { CommandCard } from '../../../contract/console.ts';

/** Criteria for commands; an absent field matches every command. */
export interface CommandQuery {
  /** Words that the command's text contains, in any order. */
  readonly q?: string | undefined;
  readonly agent?: string | undefined;
  readonly program?: string | undefined;
  /** A state, or `problem` for every bad end and refusal. */
  readonly outcome?: string | undefined;
  readonly cwd?: string | undefined;
  /** An ISO time, or a span such as `2h` or `3d`. */
  readonly since?: string | undefined;
  /** Continues after the command with this id. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** A page of commands, newest first. */
export interface CommandPage {
  readonly commands: readonly CommandCard[];
  /** The total number of commands that match. */
  readonly total: number;
  /** The id after which the next page starts; null on the last page. */
  readonly next: string | null;
}

const problems: ReadonlySet<string> = new Set(['failed', 'timeout', 'killed', 'error', 'lost', 'refused']);

/** The commands that match a filter. */
export function findCommands(
  commands: Iterable<IndexedCommand>,
  toCard: (command: IndexedCommand) => CommandCard,
  filter: CommandQuery,
): CommandPage {
  const words = (filter.q ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const since = toTime(filter.since);
  const found: CommandCard[] = [];
  let isPast = filter.after === undefined;
  let total = 0;
  let more = false;
  for (const command of commands) {
    if (!matches(command, filter, words, since)) continue;
    const card = matchesState(command, filter.outcome, toCard);
    if (card === undefined) continue;
    total += 1;
    if (isPast && found.length < filter.limit) found.push(card);
    else if (isPast) more = true;
    if (command.id === filter.after) isPast = true;
  }
  return { commands: found, total, next: more ? (found.at(-1)?.id ?? null) : null };
}

function matches(
  { agent, programs, cwd, command, asked_at }: IndexedCommand,
  filter: CommandQuery,
  words: readonly string[],
  since: string | undefined,
): boolean {
  if (since !== undefined && asked_at < since) return false;
  if (filter.agent !== undefined && agent !== filter.agent) return false;
  if (filter.cwd !== undefined && cwd !== filter.cwd && !cwd?.startsWith(`${filter.cwd}/`)) return false;
  if (filter.program !== undefined && !programs.some(({ name }) => baseName(name) === filter.program))
    return false;
  const text = words.length > 0 ? command.toLowerCase() : '';
  return words.every((word) => text.includes(word));
}

// The state of a command without an end depends on its server, which only `toCard` knows.
function matchesState(
  command: IndexedCommand,
  outcome: string | undefined,
  toCard: (command: IndexedCommand) => CommandCard,
): CommandCard | undefined {
  if (outcome === undefined) return toCard(command);
  const state = command.end ?? toCard(command).state;
  const isWanted = outcome === 'problem' ? problems.has(state) : state === outcome;
  return isWanted ? toCard(command) : undefined;
}

const maxPrograms = 40;

/** The names of the `maxPrograms` most common programs, by the number of commands that run them. */
export function listPrograms(commands: Iterable<IndexedCommand>): readonly string[] {
  const counts = new Map<string, number>();
  for (const { programs } of commands)
    for (const name of new Set(programs.map((one) => baseName(one.name))))
      counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort(([name, count], [otherName, otherCount]) => otherCount - count || (name < otherName ? -1 : 1))
    .slice(0, maxPrograms)
    .map(([name]) => name);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function toTime(since: string | undefined): string | undefined {
  if (since === undefined) return undefined;
  const [, count, unit = ''] = /^(\d{1,4})([mhd])$/.exec(since) ?? [];
  if (count !== undefined) return new Date(Date.now() - Number(count) * (unitMs[unit] ?? 0)).toISOString();
  const time = Date.parse(since);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
