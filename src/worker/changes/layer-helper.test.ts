import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needPrograms } from '../../../tests/support/needs.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createStopwatch } from '../../support/timing.ts';
import { findLayerHelper } from './helper-script.ts';
import { LayerHelper } from './layer-helper.ts';

// The last word is in the helper's command line, by which the test finds it.
function createHelper(stallMs?: number) {
  const [program = '', ...args] = findLayerHelper() ?? [];
  const mark = temporaryFolder();
  const helper = new LayerHelper([program, ...args, '0', mark], stallMs);
  return { helper, store: mark, pids: () => processesWith(`\0${mark}`) };
}

test('a helper that was stopped is continued', async (context) => {
  needPrograms(context, 'perl');
  const { helper, store, pids } = createHelper();
  await helper.call('remove', store);
  for (const pid of pids()) process.kill(pid, 'SIGSTOP');
  await helper.call('remove', store, join(store, 'nothing'));
  for (const pid of pids()) process.kill(pid, 'SIGSTOP');
  await helper.close();
  expect(pids()).toEqual([]);
});

test('a helper that was killed is replaced at the next request', async (context) => {
  needPrograms(context, 'perl');
  const { helper, store, pids } = createHelper();
  await helper.call('remove', store);
  for (const pid of pids()) process.kill(pid, 'SIGKILL');
  await expect.poll(() => helper.call('remove', store).then(String, String)).toBe('');
  await helper.close();
});

test('a request that makes no progress is an error within a bound, and the next one works', async (context) => {
  needPrograms(context, 'perl', 'flock');
  const { helper, store } = createHelper(500);
  const holder = spawn('flock', [join(store, 'lock'), 'sleep', '7747'], { stdio: 'ignore', detached: true });
  await expect.poll(() => processesWith('sleep\x007747').length, { timeout: 10_000 }).toBe(2);
  const elapsed = createStopwatch();
  await expect(helper.call('remove', store)).rejects.toMatchObject({
    code: 'resources_unavailable',
    message: expect.stringContaining('does not respond'),
  });
  expect(elapsed()).toBeLessThan(10_000);
  process.kill(-(holder.pid ?? 0), 'SIGKILL');
  await once(holder, 'exit');
  expect(await helper.call('remove', store)).toEqual([]);
  await helper.close();
});
