import type { z } from 'zod';
import type { Declarations, Setting } from './define.ts';
import { didYouMean } from './nearest.ts';
import type { Offer, Offers, SettingProblem } from './offer.ts';

/** Settings as a program gives them: by their names, whatever is left out has its default. */
export type GivenSettings<D extends Declarations> = {
  readonly [K in keyof D]?: z.input<D[K]> | undefined;
};

/** What an object of a program gives to these settings. */
export function offersFromObject(given: object, settings: readonly Setting[]): Offers {
  const byName = new Map(settings.map((setting) => [setting.name, setting]));
  const offers: Offer[] = [];
  const problems: SettingProblem[] = [];
  for (const [name, value] of Object.entries(given)) {
    const setting = byName.get(name);
    if (setting === undefined) problems.push({ where: name, message: unknown(name, settings) });
    else if (value !== undefined) offers.push({ setting, source: 'program', where: name, given: value });
  }
  return { offers, problems };
}

// Whoever knows a setting from a file or a variable is told its name here.
function unknown(name: string, settings: readonly Setting[]): string {
  const elsewhere = settings.find(({ key, env }) => key === name || env.includes(name));
  const suggestion = elsewhere
    ? ` Did you mean ${elsewhere.name}?`
    : didYouMean(
        name,
        settings.map((setting) => setting.name),
      );
  return `There is no setting ${name}.${suggestion}`;
}
