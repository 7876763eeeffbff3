import { families } from '../../src/tools/catalog.ts';
import type { Tool } from '../../src/tools/common/tool.ts';
import type { ToolFamily } from '../../src/tools/settings.ts';

/** Every tool by family, as clients see it; calling one rejects with `failure`. */
export function describeTools(
  failure: unknown = new Error('These tools cannot be called.'),
): Readonly<Record<ToolFamily, readonly Tool[]>> {
  const never = () => Promise.reject(failure);
  const commands = {
    ...{ start: never, runOrDetach: never, read: never, write: never, stop: never, list: never },
    ...{ checkReading: never, listSessions: never, closeSession: never },
  };
  const options = { run: never, check: never, commands, maxOutputChars: 30_000, onTimeout: 'kill' } as const;
  const made = Object.entries(families).map(([family, make]) => [family, make(options)]);
  return Object.fromEntries(made) as Record<ToolFamily, readonly Tool[]>;
}
