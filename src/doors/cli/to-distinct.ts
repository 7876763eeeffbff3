import type { CommandSummary } from '../../audit/summarise-commands.ts';

/** A command, as it ran last, and how often it ran. */
export interface Distinct {
  readonly one: CommandSummary;
  readonly times: number;
}

// Each is judged twice, which takes a millisecond or two.
const mostCommands = 5_000;

/** Commands with the same text become one; of too many, those that ran last are kept. */
export function toDistinct(commands: readonly CommandSummary[], most = mostCommands): readonly Distinct[] {
  const known = new Map<string, Distinct>();
  for (const one of commands) {
    const key = JSON.stringify([one.door === 'http', one.command]);
    const times = (known.get(key)?.times ?? 0) + 1;
    // What is known already moves to the end.
    known.delete(key);
    known.set(key, { one, times });
  }
  return [...known.values()].slice(-most);
}
