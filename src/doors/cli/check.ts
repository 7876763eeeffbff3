// `nacre check`: shows the policy decision for a command, or scores a file of labelled commands. Nothing runs.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Rules } from '../../contract/decision.ts';
import { NacreError } from '../../contract/failure.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Checked } from '../../engine/journey/check.ts';
import type {
  Arguments,
  DisplayAccess,
  EngineAccess,
  FlagAccess,
  IoAccess,
  SettingsAccess,
  UserRules,
} from '../door.ts';
import { failedExit, problemExit, refusedExit } from '../exit-codes.ts';
import { print, toErrorJson, toErrorText } from '../print.ts';
import { toDecisionText, toPresetLine } from './show-decision.ts';
import { toScript } from './to-script.ts';

interface Flags {
  readonly json: boolean;
  readonly on?: string | undefined;
  readonly cwd?: string | undefined;
  readonly file?: string | undefined;
}

type CheckDeps = FlagAccess<Flags> &
  IoAccess &
  DisplayAccess &
  Arguments &
  EngineAccess &
  UserRules &
  Pick<SettingsAccess, 'noteOnExec'>;

/** Explains the policy decision for one command, or scores the commands in `--file`. */
export async function checkDoor(deps: CheckDeps): Promise<number> {
  const { io, flags } = deps;
  const { json } = flags;
  try {
    const engine = await deps.engine();
    if (flags.file !== undefined) return await scoreFile(deps, engine, flags.file, json);
    const { rules } = deps.ownRules;
    if (deps.words.length === 0 && rules.preset !== undefined) {
      await print(
        io.stdout,
        json ? `${JSON.stringify(toPresetDocument(rules))}\n` : `${toPresetLine(rules)}\n`,
      );
      return 0;
    }
    const command = { kind: 'shell', script: toScript(onlyArgument(deps.words)) } as const;
    const kernel = await noteOnKernel(deps, engine);
    const checked = await engine.check({ command, on: flags.on, cwd: flags.cwd }, deps.ownRules);
    await print(
      io.stdout,
      json
        ? `${JSON.stringify({ ...toDocument(checked), ...toPresetDocument(rules), kernel })}\n`
        : toDecisionText(checked, { ...rules, kernel }, deps.display),
    );
    return checked.decision.verdict === 'allow' ? 0 : refusedExit;
  } catch (error) {
    await (json ? print(io.stdout, toErrorJson(error)) : print(io.stderr, toErrorText(error)));
    return failedExit;
  } finally {
    await deps.close();
  }
}

/** Why the kernel does not enforce the list, if `exec: auto` leads one to expect that it does. */
async function noteOnKernel({ noteOnExec }: CheckDeps, engine: Engine): Promise<string | undefined> {
  const note = await noteOnExec();
  if (note === undefined || note.isWarning) return note?.text;
  const report = await engine.report();
  return report.exec === 'off' ? report.execNote : undefined;
}

function onlyArgument([word, ...more]: readonly string[]): string {
  if (word !== undefined && more.length === 0) return word;
  throw new NacreError('invalid_request', 'nacre check expects one quoted command.', {
    hint: "Try: nacre check 'git log | head'; flags go before the command.",
  });
}

function toDocument({ decision, cwd, found }: Checked): Record<string, unknown> {
  const programs = decision.programs.map((program) => ({ ...program, path: found[program.name] ?? null }));
  return { ...decision, cwd, programs };
}

function toPresetDocument({ preset, allow }: Rules): Record<string, unknown> {
  return preset === undefined ? {} : { preset, allowed: allow.kind === 'names' ? allow.names : ['*'] };
}

const labelledCase = z.object({
  command: z.string(),
  allow: z.union([z.literal('*'), z.array(z.string())]),
  expect: z.enum(['allow', 'deny']),
  id: z.string().optional(),
  class: z.string().optional(),
});

type LabelledCase = z.output<typeof labelledCase>;

async function scoreFile(
  { io, ownRules }: CheckDeps,
  engine: Engine,
  path: string,
  json: boolean,
): Promise<number> {
  const cases = await readCases(path);
  const wrong: { id: string; command: string; expected: string; got: string; rule: string }[] = [];
  for (const { command, allow, expect: expected, id } of cases) {
    const list = allow === '*' ? ({ kind: 'all' } as const) : ({ kind: 'names', names: allow } as const);
    const context = { ...ownRules, rules: { ...ownRules.rules, allow: list } };
    const { decision } = await engine.check({ command: { kind: 'shell', script: command } }, context);
    const got = decision.verdict === 'allow' ? 'allow' : 'deny';
    if (got !== expected) wrong.push({ id: id ?? '', command, expected, got, rule: decision.rule });
  }
  const score = {
    cases: cases.length,
    false_allows: wrong.filter(({ got }) => got === 'allow').length,
    false_denies: wrong.filter(({ got }) => got === 'deny').length,
    wrong,
  };
  await print(io.stdout, json ? `${JSON.stringify(score)}\n` : toScoreText(score));
  return wrong.length === 0 ? 0 : problemExit;
}

async function readCases(path: string): Promise<readonly LabelledCase[]> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new NacreError('invalid_request', `${path} cannot be read: ${(cause as Error).message}.`, {
      hint: 'Pass a readable file of JSON lines.',
      cause,
    });
  });
  return text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [readCase(line, `${path}:${index + 1}`)]));
}

function readCase(line: string, where: string): LabelledCase {
  try {
    return labelledCase.parse(JSON.parse(line));
  } catch (cause) {
    throw new NacreError('invalid_request', `${where} is not a labelled command.`, {
      hint: 'Each line needs command, allow (a list of programs or "*") and expect (allow or deny).',
      cause,
    });
  }
}

function toScoreText(score: {
  cases: number;
  false_allows: number;
  false_denies: number;
  wrong: readonly object[];
}) {
  const lines = score.wrong.map((one) => `${JSON.stringify(one)}\n`).join('');
  return `${lines}${score.cases} cases, ${score.false_allows} false allows, ${score.false_denies} false denies\n`;
}
