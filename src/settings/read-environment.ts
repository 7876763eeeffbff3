import type { Setting } from './define.ts';
import { didYouMean } from './nearest.ts';
import type { Offer, Offers, SettingProblem } from './offer.ts';

/** Environment variables as the caller passes them in. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment gives to these settings. */
export function offersFromEnvironment(env: Environment, settings: readonly Setting[]): Offers {
  const offers: Offer[] = [];
  const problems: SettingProblem[] = [];
  for (const setting of settings) {
    const [first, ...others] = setting.env.filter((name) => isGiven(setting, env[name]));
    if (first === undefined) continue;
    offers.push({ setting, source: 'environment', where: first, given: env[first] });
    const other = others.find((name) => env[name] !== env[first]);
    if (other !== undefined)
      problems.push({ where: other, message: `${setting.key} is ${contradiction(first)}` });
  }
  return { offers, problems };
}

/** A sentence for every NACRE_ variable that no setting declares: most likely a slip of the pen. */
export function warnOfUnknown(env: Environment, settings: readonly Setting[]): string[] {
  const known = new Set(settings.flatMap((setting) => setting.env));
  return Object.keys(env)
    .filter((name) => name.startsWith('NACRE_') && env[name] !== undefined && !known.has(name))
    .map((name) => `${name} is not a setting and has no effect.${didYouMean(name, known)}`);
}

/** An empty variable means "not set", but an empty list is a value: it allows nothing. */
function isGiven(setting: Setting, value: string | undefined): boolean {
  return value !== undefined && (value.trim() !== '' || setting.kind.type === 'list');
}

function contradiction(first: string): string {
  return `also given by ${first}, with another value; set only one of them.`;
}
