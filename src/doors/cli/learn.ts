// `nacre learn`: a list of programs from what the audit log knows.
// 1. commands that ran are judged anew for the programs that a list would have to name, 2. those are counted and proposed,
// 3. the proposal is tried on the same commands, so that it is known what it would refuse. Nothing runs, nothing is written.
import { readHistory } from '../../audit/history.ts';
import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { NacreError } from '../../contract/failure.ts';
import { trialClient } from '../../contract/report.ts';
import type { Engine } from '../../engine/engine.ts';
import { oneLine, visible } from '../../support/visible.ts';
import type { EngineAccess, FlagAccess, IoAccess, PlaceAccess, UserRules } from '../door.ts';
import { failedExit } from '../exit-codes.ts';
import { toJson, toSentences, write } from '../say.ts';
import { type Distinct, toDistinct } from './to-distinct.ts';
import { toTime } from './to-time.ts';

const shownRefusals = 10;
const ended = ['completed', 'failed', 'timeout', 'killed'];

interface Flags {
  readonly json: boolean;
  readonly min: number;
  readonly since?: string | undefined;
  readonly client?: string | undefined;
}

type LearnDeps = EngineAccess & UserRules;

/** Proposes an allow list from the audit log. */
export async function learnDoor(
  deps: LearnDeps & FlagAccess<Flags> & IoAccess & PlaceAccess,
): Promise<number> {
  const { io, flags, places } = deps;
  try {
    const commands = readHistory(places.audit.dir).filter(toWanted(flags));
    const lesson = await learn(deps, commands, flags.min);
    await write(io.stdout, flags.json ? `${JSON.stringify(lesson)}\n` : toText(lesson), io.interrupted);
    return 0;
  } catch (error) {
    await (flags.json ? write(io.stdout, toJson(error)) : write(io.stderr, toSentences(error)));
    return failedExit;
  } finally {
    await deps.close();
  }
}

function toWanted({ since, client }: Flags): (command: CommandSummary) => boolean {
  const time = since === undefined ? '' : toTime(since);
  const isFrom = (one: string) => (client === undefined ? one !== trialClient : one === client);
  return (command) => command.time >= time && isFrom(command.client);
}

interface Count {
  readonly program: string;
  /** Commands that have it. */
  readonly commands: number;
}

interface Lesson {
  readonly allowed_commands: readonly string[];
  readonly programs: readonly Count[];
  /** What ran too seldom, or has a name that no list can hold. */
  readonly left_out: readonly Count[];
  /** Programs of commands that were refused, where the list has none of them. */
  readonly refused: readonly Count[];
  /** How many of the commands that ran would run under the list, and why the others would not. */
  readonly commands: number;
  readonly would_run: number;
  readonly would_not: readonly {
    readonly command: string;
    readonly times: number;
    readonly reason: string;
  }[];
}

async function learn(deps: LearnDeps, history: readonly CommandSummary[], min: number): Promise<Lesson> {
  const engine = await deps.engine();
  const ran = toDistinct(history.filter(({ outcome }) => ended.includes(outcome)));
  if (ran.length === 0)
    throw new NacreError('invalid_request', 'The audit log has no such command that ran.', {
      hint: 'Let an agent work for a while under a wide list, such as --preset full in a sandbox, and ask again.',
    });
  const counted = await count(deps, engine, ran);
  const fits = ({ program, commands }: Count) => commands >= min && canBeListed(program);
  const programs = counted.filter(fits);
  const list = programs.map(({ program }) => program).sort();
  const refused = await count(
    deps,
    engine,
    toDistinct(history.filter(({ outcome, rule }) => outcome === 'refused' && rule === 'not_listed')),
  );
  return {
    allowed_commands: list,
    programs,
    left_out: counted.filter((one) => !fits(one)),
    refused: refused.filter(({ program }) => !list.includes(program)),
    ...(await tryOut(deps, engine, ran, list)),
  };
}

async function count(
  deps: LearnDeps,
  engine: Engine,
  commands: readonly Distinct[],
): Promise<readonly Count[]> {
  const counts = new Map<string, number>();
  for (const { one, times } of commands)
    for (const name of await programsOf(deps, engine, one)) counts.set(name, (counts.get(name) ?? 0) + times);
  return [...counts]
    .map(([program, times]) => ({ program, commands: times }))
    .sort((a, b) => b.commands - a.commands || (a.program < b.program ? -1 : 1));
}

// Arguments that no shell read are not shell text, and a long command is recorded by its beginning alone.
async function programsOf(
  deps: LearnDeps,
  engine: Engine,
  { door, command, programs }: CommandSummary,
): Promise<readonly string[]> {
  if (door === 'http') return programs;
  const { decision, found } = await judge(deps, engine, command, ['*']);
  return decision.rule === 'unparsable' ? programs : Object.keys(found);
}

async function tryOut(
  deps: LearnDeps,
  engine: Engine,
  ran: readonly Distinct[],
  list: readonly string[],
): Promise<Pick<Lesson, 'commands' | 'would_run' | 'would_not'>> {
  const refusals: { command: string; times: number; reason: string }[] = [];
  const judged = ran.filter(({ one }) => one.door !== 'http');
  for (const { one, times } of judged) {
    const { decision } = await judge(deps, engine, one.command, list);
    if (decision.verdict === 'deny') refusals.push({ command: one.command, times, reason: decision.reason });
  }
  const sum = (counts: readonly { times: number }[]) => counts.reduce((total, { times }) => total + times, 0);
  const all = sum(judged);
  return { commands: all, would_run: all - sum(refusals), would_not: refusals };
}

function judge({ ownRules }: UserRules, engine: Engine, script: string, list: readonly string[]) {
  const allow = list.includes('*')
    ? ({ kind: 'all' } as const)
    : list.length === 0
      ? ({ kind: 'none' } as const)
      : ({ kind: 'names', names: list } as const);
  const rules = { ...ownRules.rules, allow, preset: undefined, narrowedBy: undefined };
  return engine.check({ command: { kind: 'shell', script } }, { rules, cwdRoots: [] });
}

function canBeListed(program: string): boolean {
  return /^[A-Za-z0-9_./+@:~[\]-]+$/.test(program);
}

function toText(lesson: Lesson): string {
  const { programs, left_out: leftOut, refused, would_run: wouldRun, commands, would_not: wouldNot } = lesson;
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', title, ...lines];
  const more = wouldNot.length - shownRefusals;
  const lines = [
    `ALLOWED_COMMANDS=${lesson.allowed_commands.join(',')}`,
    ...section('Commands that ran with each:', programs.map(toRow)),
    ...section('Left out, as too seldom or no name for a list:', leftOut.map(toRow)),
    ...section('Refused for not being listed; add what you want:', refused.map(toRow)),
    '',
    `With this list ${wouldRun} of ${commands} commands that ran would run.`,
    ...wouldNot
      .slice(0, shownRefusals)
      .map(
        ({ times, command, reason }) => `${pad(times)}  ${oneLine(command)}\n${pad('')}  ${visible(reason)}`,
      ),
    ...(more > 0 ? [`${pad(more)}  more, which --json shows`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function toRow({ program, commands }: Count): string {
  return `${pad(commands)}  ${visible(program)}`;
}

function pad(value: unknown): string {
  return String(value).padStart(8);
}
