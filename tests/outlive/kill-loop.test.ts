// NACRE_ROUNDS=300 npx vitest run tests/outlive/kill-loop.test.ts
import { expect, test } from 'vitest';
import { KillLoop } from '../support/kill-loop.ts';
import { needPrograms, needPty } from '../support/needs.ts';
import { createOutliveHome } from '../support/outlive.ts';
import { soakCount } from '../support/soak.ts';

const rounds = Number(process.env.NACRE_ROUNDS ?? soakCount(20, 2));
const patient = { timeout: 60_000, interval: 100 };
const victims = ['server', 'client', 'both'] as const;

test('no byte, exit code or shell is lost when servers and clients are killed at random moments', {
  timeout: 120_000 + rounds * 60_000,
}, async (context) => {
  needPrograms(context, 'perl');
  await needPty(context);
  const home = createOutliveHome({ env: { NACRE_TOMBSTONE_SECONDS: '300' } });
  const loop = new KillLoop(home);
  for (let round = 0; round < rounds; round += 1) {
    // Some kills hit a server that is starting.
    const longestMs = Math.random() < 0.3 ? 400 : 5_000;
    const victim = victims[Math.floor(Math.random() * victims.length)] ?? 'server';
    await loop.round(Math.random() * longestMs, victim);
  }
  await loop.finish();
  expect(await home.nacre('shutdown')).toContain('Ended the worker');
  await expect.poll(() => home.processes(), patient).toEqual([]);
  expect(await home.nacre('audit', 'verify')).toMatch(/Intact/);
  expect(withoutOneEnd(await home.nacre('audit', 'export'), loop.checked)).toEqual([]);
  if (process.env.NACRE_ROUNDS) console.log(JSON.stringify({ rounds, ...loop.counts }));
});

/**
 * The checked commands that have not exactly one recorded end, with that number. A server that is killed right after it has
 * recorded an end leaves it to the next one, which records the same end with the same signature again.
 */
function withoutOneEnd(exported: string, checked: ReadonlySet<string>): readonly string[] {
  const records = exported
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const ends = records.filter(({ kind }) => kind === 'finished');
  const countEnds = (of: string) =>
    new Set(ends.flatMap(({ id, end_record }) => (id === of ? [end_record.signature] : []))).size;
  return records
    .filter(({ kind, name }) => kind === 'asked' && checked.has(name))
    .map(({ id, name }) => `${name}: ${countEnds(id)}`)
    .filter((found) => !found.endsWith(': 1'));
}
