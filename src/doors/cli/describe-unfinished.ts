import type { KeptState } from '../../contract/backend.ts';

const mostNamed = 3;

const meanings = {
  running: 'still run and will be recorded',
  ended: 'have ended, which is recorded when their client reconnects',
  lost: 'were lost with their worker, which is recorded when their client reconnects',
  unknown:
    'belong to a server that still runs, was killed or could not write its log, or to a worker whose records are gone',
} as const;

type Meaning = keyof typeof meanings;

/** One sentence per reason for which commands have no recorded end. */
export function describeUnfinished(ids: readonly string[], kept: readonly KeptState[]): readonly string[] {
  const states = new Map(kept.map(({ id, state }) => [id, state]));
  const order: readonly Meaning[] = ['running', 'ended', 'lost', 'unknown'];
  return order.flatMap((meaning) => {
    const own = ids.filter((id) => (states.get(id) ?? 'unknown') === meaning);
    if (own.length === 0) return [];
    const named = own.slice(0, mostNamed).join(', ');
    const more = own.length > mostNamed ? ` and ${own.length - mostNamed} more` : '';
    return [`commands without a recorded end that ${meanings[meaning]}: ${named}${more}.`];
  });
}
