import { allSettings } from '../../src/rules/all-settings.ts';
import { timeLimitsFor } from '../../src/rules/time-limits-for.ts';
import { resolveCandidates } from '../../src/settings/resolve-candidates.ts';
import { families } from '../../src/tools/catalog.ts';
import type { Tool } from '../../src/tools/common/tool.ts';
import { type ToolFamily, toFamilies } from '../../src/tools/settings.ts';

/** Every tool by family, as clients see it; calling one rejects with `failure`. */
export function describeTools(
  failure: unknown = new Error('These tools cannot be called.'),
): Readonly<Record<ToolFamily, readonly Tool[]>> {
  const never = () => Promise.reject(failure);
  const commands = {
    ...{ start: never, runOrDetach: never, read: never, write: never, stop: never, list: never },
    ...{ checkReading: never, listSessions: never, closeSession: never },
  };
  const changes = { list: never, show: never, apply: never, discard: never, undo: never };
  const options = {
    ...{ run: never, check: never, commands, changes },
    ...({ maxOutputChars: 30_000, onTimeout: 'kill' } as const),
  };
  const defaults = resolveCandidates({}, allSettings);
  const made = toFamilies(['all']).map((family) => {
    const timeLimits = timeLimitsFor(family, defaults, 'usual');
    return [family, families[family]({ ...options, timeLimits })];
  });
  return Object.fromEntries(made) as Record<ToolFamily, readonly Tool[]>;
}
