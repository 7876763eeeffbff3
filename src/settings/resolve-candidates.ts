// From sources to effective values:
// 1. flags, environment and files are read into candidates, each with the place it came from
// 2. `checkCandidate` checks every candidate, even an outranked one; all problems are reported in one error
// 3. `applyImplied` adds what presets imply
// 4. the first of flag, environment and user file wins, else the default
// 5. `tighten` applies the project file, which can only restrict
import { NacreError } from '../contract/failure.ts';
import { applyImplied } from './apply-implied.ts';
import {
  type Candidates,
  type CheckedCandidate,
  checkCandidate,
  type SettingProblem,
  type Source,
} from './candidate.ts';
import { type Declarations, listSettings, type Setting, type Values } from './define.ts';
import { candidatesFromFlags, type ParsedFlags } from './parse-flags.ts';
import { candidatesFromEnvironment, type ProcessEnvironment, warnAboutUnknown } from './read-environment.ts';
import { tighten } from './tighten.ts';

/** Sources that need no file access, and the candidates that were read from the others. */
export interface CandidateSources {
  readonly flags?: ParsedFlags | undefined;
  readonly env?: ProcessEnvironment | undefined;
  /** Candidates from the project's and the user's file, or from the program that embeds nacre. */
  readonly more?: readonly Candidates[] | undefined;
}

/** A value that lost to a source with higher priority. */
export interface Outranked {
  readonly source: Source;
  readonly where: string;
  readonly value: unknown;
}

/** The source of an effective value, and the project file line that tightened it. */
export interface Origin {
  readonly source: Source;
  /** The flag, the variable, the line of a file, or `default`. */
  readonly where: string;
  /** The value of another setting, such as a preset's name, that implied it or a part of it. */
  readonly impliedBy?: string | undefined;
  /** The `path:line` in the project file that changed the value or added a limit to it. */
  readonly tightenedBy?: string;
  /** Values from sources with lower priority, highest first. */
  readonly outranked?: readonly Outranked[] | undefined;
}

/** The effective settings. */
export interface ResolvedSettings<D extends Declarations> {
  readonly values: Values<D>;
  /** Additional limits from a project file; a command must satisfy both the value and its limit. */
  readonly limits: Partial<Values<D>>;
  /** The values in the project file as written there. */
  readonly project: Partial<Values<D>>;
  readonly origins: { readonly [K in keyof D]: Origin };
  readonly warnings: readonly string[];
}

/** Resolves every declared setting, or throws one `settings_invalid` error that lists all problems. */
export function resolveCandidates<D extends Declarations>(
  sources: CandidateSources,
  declarations: D,
): ResolvedSettings<D> {
  const settings = listSettings(declarations);
  const { candidates, problems } = collect(sources, settings);
  const decided = settings.map((setting) => decideValue(setting, candidates));
  const all = [...problems, ...decided.flatMap(({ problem }) => problem ?? [])];
  if (all.length > 0) throw settingsInvalid(all);
  const pick = (part: (decided: Decided) => unknown) =>
    Object.fromEntries(
      decided.map((one) => [one.name, part(one)]).filter(([, value]) => value !== undefined),
    );
  return {
    values: pick(({ value }) => value) as Values<D>,
    limits: pick(({ limit }) => limit) as Partial<Values<D>>,
    project: pick(({ project }) => project) as Partial<Values<D>>,
    origins: pick(({ origin }) => origin) as { readonly [K in keyof D]: Origin },
    warnings: warnAboutUnknown(sources.env ?? {}, settings),
  };
}

/** The `settings_invalid` error for these problems, one line each. */
export function settingsInvalid(problems: readonly SettingProblem[]): NacreError {
  const lines = problems.map(({ where, message }) => `${where}: ${message}`);
  const [only = ''] = lines;
  const message =
    lines.length === 1 ? only : `${lines.length} settings are invalid:\n- ${lines.join('\n- ')}`;
  return new NacreError('settings_invalid', message, {
    hint: 'Correct or remove each setting that is named; nothing was started.',
    details: { problems },
  });
}

interface Collected {
  readonly candidates: readonly CheckedCandidate[];
  readonly problems: readonly SettingProblem[];
}

function collect(sources: CandidateSources, settings: readonly Setting[]): Collected {
  const none: Candidates = { candidates: [], problems: [] };
  const read = [
    sources.flags ? candidatesFromFlags(sources.flags, settings) : none,
    candidatesFromEnvironment(sources.env ?? {}, settings),
    ...(sources.more ?? []),
  ];
  const checked = read.flatMap(({ candidates }) => candidates.map(checkCandidate));
  const problems = [...read.flatMap((one) => one.problems), ...checked.filter(isProblem)];
  return { candidates: applyImplied(checked.filter(isCandidate), settings), problems };
}

function isCandidate(checked: CheckedCandidate | SettingProblem): checked is CheckedCandidate {
  return 'setting' in checked;
}

function isProblem(checked: CheckedCandidate | SettingProblem): checked is SettingProblem {
  return !isCandidate(checked);
}

interface Decided {
  readonly name: string;
  readonly value?: unknown;
  readonly limit?: unknown;
  readonly project?: unknown;
  readonly origin?: Origin;
  readonly problem?: SettingProblem;
}

function decideValue(setting: Setting, candidates: readonly CheckedCandidate[]): Decided {
  const { name } = setting;
  const mine = candidates.filter((candidate) => candidate.setting.name === name);
  const [winner, ...losers] = mine.filter(({ source }) => source !== 'project');
  const value = winner ? winner.value : setting.schema.whenUnset();
  const origin: Origin = {
    source: winner?.source ?? 'default',
    where: winner?.where ?? 'default',
    ...(winner?.impliedBy !== undefined && { impliedBy: winner.impliedBy }),
    ...(losers.length > 0 && { outranked: losers.map(toOutranked) }),
  };
  const project = mine.find(({ source }) => source === 'project');
  return project ? decideTightened(setting, value, origin, project) : { name, value, origin };
}

function toOutranked({ source, where, value }: CheckedCandidate): Outranked {
  return { source, where, value };
}

function decideTightened(
  setting: Setting,
  base: unknown,
  origin: Origin,
  project: CheckedCandidate,
): Decided {
  const { name, schema, key } = setting;
  const { value, limit } = tighten(setting, base, project.value);
  // Two lists without a common entry leave an empty one, which a schema with `min(1)` rejects.
  if (value !== undefined && !schema.safeParse(value).success) {
    const lists = `${JSON.stringify(project.raw)} and the value of ${origin.where}`;
    return { name, problem: { where: project.where, message: `${key}: ${lists} have no entry in common.` } };
  }
  const changed = limit !== undefined || JSON.stringify(value) !== JSON.stringify(base);
  const from = changed ? { ...origin, tightenedBy: project.where } : origin;
  return { name, value, limit, project: project.value, origin: from };
}
