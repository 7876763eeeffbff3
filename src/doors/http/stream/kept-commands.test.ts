import { expect, test } from 'vitest';
import { pause } from '../../../support/pause.ts';
import { createKeptCommands, type KeptCommand } from './kept-commands.ts';

const asker = { caller: { door: 'http', client: 'test' }, owner: 'me' } as const;
const command = {
  id: 'a',
  commandId: 'cmd_1',
  encoding: 'utf8',
  isEndless: false,
  asker,
  done() {},
} as const;

test('H7: what nobody comes back to is ended when its time is over', async () => {
  const ended: KeptCommand[] = [];
  const kept = createKeptCommands((one) => ended.push(one), 20);
  expect(kept.reserve('me', 'a')).toBe(true);
  expect(kept.reserve('me', 'a')).toBe(false);
  const one = kept.add(command);
  kept.lose(one);
  for (let tries = 0; tries < 500 && ended.length === 0; tries += 1) await pause(10);
  expect(ended).toEqual([one]);
  expect(kept.find('me', 'a')).toBeUndefined();
});

test('H7: what somebody comes back to stays, and what has ended is only forgotten', async () => {
  const ended: KeptCommand[] = [];
  const kept = createKeptCommands((one) => ended.push(one), 20);
  const one = kept.add(command);
  kept.lose(one);
  expect(kept.find('other', 'a')).toBeUndefined();
  expect(kept.find('me', 'a')).toBe(one);
  kept.hold(one);
  await pause(60);
  expect(kept.find('me', 'a')).toBe(one);
  one.ended = true;
  kept.lose(one);
  for (let tries = 0; tries < 500 && kept.find('x', 'a') === undefined && tries < 10; tries += 1)
    await pause(10);
  expect(kept.find('me', 'a')).toBeUndefined();
  expect(ended).toEqual([]);
  kept.close();
});
