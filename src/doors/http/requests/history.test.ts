import { expect, test } from 'vitest';
import { createHistory } from './history.ts';

const me = { owner: 'me', client: 'tester' };

test('lists running and finished calls of an owner, newest first', () => {
  const history = createHistory();
  const done = history.begin(me, 'one');
  history.begin({ owner: 'other', client: 'x' }, 'y'.repeat(400));
  done('exit 0');
  done('exit 1');
  expect(history.list('me')).toMatchObject([
    { command: 'one', outcome: 'exit 0', durationMs: expect.any(Number) },
  ]);
  expect(history.list()).toMatchObject([
    { command: `${'y'.repeat(300)}…`, outcome: null },
    { command: 'one' },
  ]);
});

test('is bounded, but keeps running calls', () => {
  const history = createHistory();
  history.begin(me, 'runs');
  for (let index = 0; index < 300; index += 1) history.begin(me, String(index))('ok');
  const commands = history.list().map(({ command }) => command);
  expect(commands.length).toBeLessThanOrEqual(201);
  expect([commands.at(0), commands.at(-1)]).toEqual(['299', 'runs']);
});
