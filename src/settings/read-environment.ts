import type { Candidate, Candidates, SettingProblem } from './candidate.ts';
import type { Setting } from './define.ts';
import { didYouMean } from './nearest.ts';

/** Environment variables by name, like `process.env`. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** The candidates for these settings in the environment. */
export function candidatesFromEnvironment(env: ProcessEnvironment, settings: readonly Setting[]): Candidates {
  const candidates: Candidate[] = [];
  const problems: SettingProblem[] = [];
  for (const setting of settings) {
    const [first, ...others] = setting.env.filter((name) => isGiven(setting, env[name]));
    if (first === undefined) continue;
    candidates.push({ setting, source: 'environment', where: first, raw: env[first] });
    const other = others.find((name) => env[name] !== env[first]);
    if (other !== undefined) problems.push({ where: other, message: contradiction(setting, first) });
  }
  return { candidates, problems };
}

/** A warning for every `NACRE_` variable that no setting declares; most likely its name is mistyped. */
export function warnAboutUnknown(env: ProcessEnvironment, settings: readonly Setting[]): string[] {
  const known = new Set(settings.flatMap((setting) => setting.env));
  return Object.keys(env)
    .filter((name) => name.startsWith('NACRE_') && env[name] !== undefined && !known.has(name))
    .map((name) => `${name} is not a setting and has no effect.${didYouMean(name, known)}`);
}

/** An empty variable counts as unset, except for a list: there it is the empty list, which allows nothing. */
function isGiven(setting: Setting, value: string | undefined): boolean {
  return value !== undefined && (value.trim() !== '' || setting.kind.type === 'list');
}

function contradiction({ key }: Setting, first: string): string {
  return `${key} is also set by ${first}, to a different value; set only one of them.`;
}
