import type { z } from 'zod';
import type { Candidate, Candidates, SettingProblem } from './candidate.ts';
import type { Declarations, Setting } from './define.ts';
import { didYouMean } from './nearest.ts';

/** Settings that a program passes as an object, by name; omitted ones have their defaults. */
export type GivenSettings<D extends Declarations> = {
  readonly [K in keyof D]?: z.input<D[K]> | undefined;
};

/** The candidates for these settings in an object that a program passes. */
export function candidatesFromObject(given: object, settings: readonly Setting[]): Candidates {
  const byName = new Map(settings.map((setting) => [setting.name, setting]));
  const candidates: Candidate[] = [];
  const problems: SettingProblem[] = [];
  for (const [name, value] of Object.entries(given)) {
    const setting = byName.get(name);
    if (setting === undefined) problems.push({ where: name, message: unknown(name, settings) });
    else if (value !== undefined) candidates.push({ setting, source: 'program', where: name, raw: value });
  }
  return { candidates, problems };
}

// Suggests the property name (`ringBytes`) for a file key (`ring_bytes`) or a variable (`NACRE_RING_BYTES`).
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
