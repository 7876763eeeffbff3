// `nacre learn`: suggests an allow list from the audit log.
// 1. policy finds the programs in each command that ran, 2. these are counted and suggested as `ALLOWED_COMMANDS`,
// 3. policy checks the same commands against the suggestion, to show what it would refuse. Nothing runs or is written.
import { readHistory } from '../../audit/history.ts';
import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { NacreError } from '../../contract/failure.ts';
import { localMachine } from '../../contract/machine.ts';
import { trialClient } from '../../contract/report.ts';
import type { Engine } from '../../engine/engine.ts';
import { escapeControls, toOneLine } from '../../support/escape-controls.ts';
import type { EngineAccess, FlagAccess, IoAccess, PlaceAccess, UserRules } from '../door.ts';
import { failedExit } from '../exit-codes.ts';
import { print, toErrorJson, toErrorText } from '../print.ts';
import { type DistinctCommand, toDistinctCommands } from './distinct-commands.ts';
import { parseSince } from './parse-since.ts';

const maxRefusalsShown = 10;
const ended = ['completed', 'failed', 'timeout', 'killed', 'lost'];

interface Flags {
  readonly json: boolean;
  readonly min: number;
  readonly since?: string | undefined;
  readonly client?: string | undefined;
}

type LearnDeps = EngineAccess & UserRules;

/** `nacre learn`: suggests an allow list from the audit log. */
export async function learnDoor(
  deps: LearnDeps & FlagAccess<Flags> & IoAccess & PlaceAccess,
): Promise<number> {
  const { io, flags, places } = deps;
  try {
    const commands = readHistory(places.audit.dir).filter(createFilter(flags));
    const suggestion = await learn(deps, commands, flags.min);
    await print(
      io.stdout,
      flags.json ? `${JSON.stringify(suggestion)}\n` : toText(suggestion),
      io.interrupted,
    );
    return 0;
  } catch (error) {
    await (flags.json ? print(io.stdout, toErrorJson(error)) : print(io.stderr, toErrorText(error)));
    return failedExit;
  } finally {
    await deps.close();
  }
}

function createFilter({ since, client }: Flags): (command: CommandSummary) => boolean {
  const time = since === undefined ? '' : parseSince(since);
  const isFrom = (one: string) => (client === undefined ? one !== trialClient : one === client);
  return (command) => command.time >= time && isFrom(command.client);
}

interface Count {
  readonly program: string;
  /** Number of commands that ran `program`. */
  readonly commands: number;
}

interface Suggestion {
  readonly allowed_commands: readonly string[];
  readonly programs: readonly Count[];
  /** Programs below `--min`, or with a name that a list cannot contain. */
  readonly left_out: readonly Count[];
  /** Programs in refused commands that are not in `allowed_commands`. */
  readonly refused: readonly Count[];
  /** How many of the commands `allowed_commands` would allow, and why it would refuse the others. */
  readonly commands: number;
  readonly would_run: number;
  readonly would_not: readonly {
    readonly command: string;
    readonly times: number;
    readonly reason: string;
  }[];
}

async function learn(deps: LearnDeps, history: readonly CommandSummary[], min: number): Promise<Suggestion> {
  const engine = await deps.engine();
  const ran = toDistinctCommands(history.filter(({ outcome }) => ended.includes(outcome)));
  if (ran.length === 0)
    throw new NacreError('invalid_request', 'The audit log has no matching command that ran.', {
      hint: 'Let an agent work for a while with a wide list, such as --preset full in a sandbox, then run nacre learn again.',
    });
  const counted = await count(deps, engine, ran);
  const fits = ({ program, commands }: Count) => commands >= min && canBeListed(program);
  const programs = counted.filter(fits);
  const list = programs.map(({ program }) => program).sort();
  const refused = await count(
    deps,
    engine,
    toDistinctCommands(history.filter(({ outcome, rule }) => outcome === 'refused' && rule === 'not_listed')),
  );
  return {
    allowed_commands: list,
    programs,
    left_out: counted.filter((one) => !fits(one)),
    refused: refused.filter(({ program }) => !list.includes(program)),
    ...(await tryList(deps, engine, ran, list)),
  };
}

async function count(
  deps: LearnDeps,
  engine: Engine,
  commands: readonly DistinctCommand[],
): Promise<readonly Count[]> {
  const counts = new Map<string, number>();
  for (const { one, times } of commands)
    for (const name of await programsOf(deps, engine, one)) counts.set(name, (counts.get(name) ?? 0) + times);
  return [...counts]
    .map(([program, times]) => ({ program, commands: times }))
    .sort((a, b) => b.commands - a.commands || (a.program < b.program ? -1 : 1));
}

// HTTP commands are argument lists, not shell text. A long command is recorded truncated and may not parse.
async function programsOf(
  deps: LearnDeps,
  engine: Engine,
  { door, command, programs }: CommandSummary,
): Promise<readonly string[]> {
  if (door === 'http') return programs;
  const { decision, found } = await check(deps, engine, command, ['*']);
  return decision.rule === 'unparsable' ? programs : Object.keys(found);
}

async function tryList(
  deps: LearnDeps,
  engine: Engine,
  ran: readonly DistinctCommand[],
  list: readonly string[],
): Promise<Pick<Suggestion, 'commands' | 'would_run' | 'would_not'>> {
  const refusals: { command: string; times: number; reason: string }[] = [];
  const judged = ran.filter(({ one }) => one.door !== 'http');
  for (const { one, times } of judged) {
    const { decision } = await check(deps, engine, one.command, list);
    if (decision.verdict === 'deny') refusals.push({ command: one.command, times, reason: decision.reason });
  }
  const sum = (counts: readonly { times: number }[]) => counts.reduce((total, { times }) => total + times, 0);
  const all = sum(judged);
  return { commands: all, would_run: all - sum(refusals), would_not: refusals };
}

function check({ ownRules }: UserRules, engine: Engine, script: string, list: readonly string[]) {
  const allow = list.includes('*')
    ? ({ kind: 'all' } as const)
    : list.length === 0
      ? ({ kind: 'none' } as const)
      : ({ kind: 'names', names: list } as const);
  const rules = { ...ownRules.rules, allow, preset: undefined, narrowedBy: undefined };
  return engine.check({ command: { kind: 'shell', script }, on: localMachine }, { rules, cwdRoots: [] });
}

function canBeListed(program: string): boolean {
  return /^[A-Za-z0-9_./+@:~[\]-]+$/.test(program);
}

function toText(suggestion: Suggestion): string {
  const {
    programs,
    left_out: leftOut,
    refused,
    would_run: wouldRun,
    commands,
    would_not: wouldNot,
  } = suggestion;
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', title, ...lines];
  const more = wouldNot.length - maxRefusalsShown;
  const lines = [
    `ALLOWED_COMMANDS=${suggestion.allowed_commands.join(',')}`,
    ...section('Number of commands that ran each program:', programs.map(toRow)),
    ...section('Left out: rarely used, or a name that a list cannot contain:', leftOut.map(toRow)),
    ...section('Refused because not listed; add the ones you want:', refused.map(toRow)),
    '',
    `With this list, ${wouldRun} of the ${commands} commands that ran would be allowed.`,
    ...wouldNot
      .slice(0, maxRefusalsShown)
      .map(
        ({ times, command, reason }) =>
          `${pad(times)}  ${toOneLine(command)}\n${pad('')}  ${escapeControls(reason)}`,
      ),
    ...(more > 0 ? [`${pad(more)}  more; --json shows them all`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function toRow({ program, commands }: Count): string {
  return `${pad(commands)}  ${escapeControls(program)}`;
}

function pad(value: unknown): string {
  return String(value).padStart(8);
}
