import type { Candidate, Candidates, SettingProblem } from './candidate.ts';
import type { Declarations, Setting } from './define.ts';
import type { InputOf } from './schema.ts';
import { suggestSetting } from './suggest-setting.ts';

/** Settings that a program passes as an object, by name; omitted ones have their defaults. */
export type GivenSettings<D extends Declarations> = {
  readonly [K in keyof D]?: InputOf<D[K]> | undefined;
};

/** The candidates for these settings in an object that a program passes. */
export function candidatesFromObject(given: object, settings: readonly Setting[]): Candidates {
  const byName = new Map(settings.map((setting) => [setting.name, setting]));
  const candidates: Candidate[] = [];
  const problems: SettingProblem[] = [];
  for (const [name, value] of Object.entries(given)) {
    const setting = byName.get(name);
    if (setting === undefined)
      problems.push({
        where: name,
        message: `There is no setting ${name}.${suggestSetting(name, settings, (one) => one.name)}`,
      });
    else if (value !== undefined) candidates.push({ setting, source: 'program', where: name, raw: value });
  }
  return { candidates, problems };
}
