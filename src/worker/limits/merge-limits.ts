import type { Limits } from '../../contract/limits.ts';

/** Every limit, by name. */
export const limitNames = [
  'memoryBytes',
  'treeMemoryBytes',
  'maxProcesses',
  'cpuSeconds',
  'fileBytes',
] as const satisfies readonly (keyof Limits)[];

/** The tighter of two sets of limits, one by one: a call can ask for less than the settings grant, never for more. */
export function mergeLimits(settings: Limits, asked: Limits = {}): Limits {
  const merged = limitNames.flatMap((name) => {
    const values = [settings[name], asked[name]].filter((value) => value !== undefined);
    return values.length === 0 ? [] : [[name, Math.min(...values)] as const];
  });
  return Object.fromEntries(merged);
}

/** True when nothing is limited. */
export function isUnlimited(limits: Limits): boolean {
  return limitNames.every((name) => limits[name] === undefined);
}
