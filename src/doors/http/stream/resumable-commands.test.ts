import { expect, test } from 'vitest';
import { sleep } from '../../../support/timing.ts';
import { createResumableCommands, type ResumableCommand } from './resumable-commands.ts';

const context = { caller: { door: 'http', client: 'test' }, owner: 'me' } as const;
const command = {
  id: 'a',
  commandId: 'cmd_1',
  format: 'clean',
  isEndless: false,
  context,
} as const;

test('H7: a command without a socket is ended when it expires', async () => {
  const ended: ResumableCommand[] = [];
  const commands = createResumableCommands((one) => ended.push(one), 20);
  expect(commands.reserve('me', 'a')).toBe(true);
  expect(commands.reserve('me', 'a')).toBe(false);
  const one = commands.add(command);
  commands.expire(one);
  await expect.poll(() => ended).toEqual([one]);
  expect(commands.find('me', 'a')).toBeUndefined();
});

test('H7: a resumed command stays, and an ended one is only forgotten', async () => {
  const ended: ResumableCommand[] = [];
  const commands = createResumableCommands((one) => ended.push(one), 20);
  const one = commands.add(command);
  commands.expire(one);
  expect(commands.find('other', 'a')).toBeUndefined();
  expect(commands.find('me', 'a')).toBe(one);
  commands.keep(one);
  await sleep(60);
  expect(commands.find('me', 'a')).toBe(one);
  one.ended = true;
  commands.expire(one);
  await expect.poll(() => commands.find('me', 'a')).toBeUndefined();
  expect(ended).toEqual([]);
  commands.close();
});
