import type { CommandSummary } from '../../audit/summarise-commands.ts';

/** A command's latest run, and how often it ran. */
export interface DistinctCommand {
  readonly one: CommandSummary;
  readonly times: number;
}

// `nacre learn` checks each command twice, at 1-2 ms per check.
const maxCommands = 5_000;

/** Merges commands with the same text; keeps the latest `max`. */
export function toDistinctCommands(
  commands: readonly CommandSummary[],
  max = maxCommands,
): readonly DistinctCommand[] {
  const known = new Map<string, DistinctCommand>();
  for (const one of commands) {
    const key = JSON.stringify([one.door === 'http', one.command]);
    const times = (known.get(key)?.times ?? 0) + 1;
    // Deleting the key first moves it to the end of the map, so `slice(-max)` keeps the latest.
    known.delete(key);
    known.set(key, { one, times });
  }
  return [...known.values()].slice(-max);
}
