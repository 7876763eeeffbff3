import { NacreError } from '../../contract/failure.ts';
import type { Limits } from '../../contract/limits.ts';

/** The names of all `Limits`. */
export const limitNames = [
  'memoryBytes',
  'treeMemoryBytes',
  'maxProcesses',
  'cpuSeconds',
  'fileBytes',
] as const satisfies readonly (keyof Limits)[];

/** The limits of one command: a call may tighten the limits of the settings; asking for more is an error. */
export function mergeLimits(settings: Limits, asked: Limits = {}): Limits {
  const merged = limitNames.flatMap((name) => {
    const [granted, wanted] = [settings[name], asked[name]];
    if (granted !== undefined && wanted !== undefined && wanted > granted)
      throw exceedsGranted(name, wanted, granted);
    const limit = wanted ?? granted;
    return limit === undefined ? [] : [[name, limit] as const];
  });
  return Object.fromEntries(merged);
}

function exceedsGranted(name: string, wanted: number, granted: number): NacreError {
  const key = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return new NacreError(
    'invalid_request',
    `${key} ${wanted} is more than the ${granted} that the settings allow. Nothing was run.`,
    { hint: `Ask for at most ${granted}, or leave ${key} out.` },
  );
}

/** True when every limit is `undefined`. */
export function isUnlimited(limits: Limits): boolean {
  return limitNames.every((name) => limits[name] === undefined);
}
