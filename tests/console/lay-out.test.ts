import { describe, expect, test } from 'vitest';
import { layOut } from '../../src/console/timeline/lay-out.ts';
import type { CommandCard } from '../../src/contract/console.ts';

const begin = Date.parse('2026-01-01T12:00:00Z');

function card(id: string, from: number, seconds: number, more: Partial<CommandCard> = {}): CommandCard {
  const at = new Date(begin + from * 1_000).toISOString();
  const times = { asked_at: at, started_at: at, duration_ms: seconds * 1_000 };
  return {
    id,
    ...times,
    state: 'completed',
    shell: null,
    background: false,
    cpu_ms: 0,
    acts: [],
    ...more,
  } as CommandCard;
}

const rowsOf = (cards: readonly CommandCard[], seconds = 100) =>
  layOut(cards, begin + seconds * 1_000).lanes.map(({ kind, name, row, bars }) => [
    `${kind} ${name} ${row}`,
    bars.map((bar) => bar.card.id).join(' '),
  ]);

describe('the lanes of a session', () => {
  test('commands that ran at the same time are in different rows, so that none covers another', () => {
    const cards = [card('a', 0, 50), card('b', 10, 5), card('c', 20, 5), card('d', 22, 60), card('e', 60, 5)];
    expect(rowsOf(cards)).toEqual([
      ['commands commands 0', 'a e'],
      ['commands commands 1', 'b c'],
      ['commands commands 2', 'd'],
    ]);
  });

  test('the rows do not change while a command goes on running', () => {
    const running = { state: 'running', duration_ms: null } as const;
    const cards = [
      card('a', 0, 50),
      card('b', 49.5, 5),
      card('c', 60, 0, running),
      card('d', 60.04, 0, running),
    ];
    const rows = [
      ['commands commands 0', 'a c'],
      ['commands commands 1', 'b d'],
    ];
    for (const seconds of [60.05, 61, 100, 3_600, 86_400]) expect(rowsOf(cards, seconds)).toEqual(rows);
  });

  test('two servers in the background are both visible', () => {
    const on = { background: true, state: 'running', duration_ms: null } as const;
    expect(rowsOf([card('a', 0, 1), card('b', 2, 0, on), card('c', 3, 0, on)])).toEqual([
      ['commands commands 0', 'a'],
      ['background background 0', 'b'],
      ['background background 1', 'c'],
    ]);
  });

  test('while a server runs in the background the time ends now, and an idle time before that is folded', () => {
    const on = { background: true, state: 'running', duration_ms: null } as const;
    const cards = [card('a', 0, 1), card('b', 2, 0, on)];
    const { gaps, lanes } = layOut(cards, begin + 600_000);
    expect(gaps.map(({ ms }) => Math.round(ms / 1_000))).toEqual([596]);
    expect(lanes.find(({ kind }) => kind === 'background')?.bars[0]?.to).toBe(1);
    expect(layOut([card('a', 0, 1)], begin + 600_000).gaps).toEqual([]);
  });

  test('a shell that is called `you` does not put its commands among the acts of people', () => {
    expect(rowsOf([card('a', 0, 1, { shell: 'you' }), card('b', 2, 1, { state: 'waiting' })])).toEqual([
      ['shell you 0', 'a'],
      ['you you 0', 'b'],
    ]);
  });
});
