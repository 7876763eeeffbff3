import { NacreError } from '../../contract/failure.ts';
import type { Limits } from '../../contract/limits.ts';

/** Every limit, by name. */
export const limitNames = [
  'memoryBytes',
  'treeMemoryBytes',
  'maxProcesses',
  'cpuSeconds',
  'fileBytes',
] as const satisfies readonly (keyof Limits)[];

/** The limits of one command: a call can ask for less than the settings grant; to ask for more is refused. */
export function mergeLimits(settings: Limits, asked: Limits = {}): Limits {
  const merged = limitNames.flatMap((name) => {
    const [granted, wanted] = [settings[name], asked[name]];
    if (granted !== undefined && wanted !== undefined && wanted > granted)
      throw tooMuch(name, wanted, granted);
    const limit = wanted ?? granted;
    return limit === undefined ? [] : [[name, limit] as const];
  });
  return Object.fromEntries(merged);
}

function tooMuch(name: string, wanted: number, granted: number): NacreError {
  const key = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return new NacreError(
    'invalid_request',
    `${key} ${wanted} is more than the ${granted} that the settings grant. Nothing was run.`,
    { hint: `Ask for at most ${granted}, or leave ${key} out.` },
  );
}

/** True when nothing is limited. */
export function isUnlimited(limits: Limits): boolean {
  return limitNames.every((name) => limits[name] === undefined);
}
