import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createStopwatch } from '../../support/timing.ts';
import { createPsProcessTable, parsePsLine } from './ps-process-table.ts';

test('a line of ps is parsed, with or without leading blanks', () => {
  expect(parsePsLine('   77   1   70 Ss   Mon Jan  5 10:11:12 2026')).toEqual({
    pid: 77,
    parent: 1,
    group: 70,
    session: 0,
    startTime: 'Mon Jan 5 10:11:12 2026',
    zombie: false,
  });
  expect(parsePsLine('8 1 8 Z Mon Jan 5 10:11:12 2026')?.zombie).toBe(true);
  expect(parsePsLine('')).toBeNull();
  expect(parsePsLine('8 1 8 Z')).toBeNull();
});

test('a living process is found with its children and described, and not found after its end', async () => {
  const table = createPsProcessTable();
  const child = spawn('sh', ['-c', 'sleep 41 & sleep 42; true'], { detached: true });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const root = { pid, startTime: await table.startTime(pid), marker: '', elapsed: createStopwatch() };
  await expect.poll(async () => (await table.members(root)).length).toBe(3);
  expect(await table.descendants(root)).toHaveLength(3);
  expect(root.startTime).toMatch(/\d\d:\d\d:\d\d/);
  expect(await table.describe(pid)).toBe('sh -c sleep 41 & sleep 42; true');
  expect(table.certainlyEmpty(root)).toBe(false);
  process.kill(-pid, 'SIGKILL');
  await once(child, 'exit');
  await expect.poll(() => table.members(root)).toEqual([]);
  expect(await table.startTime(pid)).toBeNull();
  expect(await table.describe(pid)).toBe(`process ${pid}`);
});

test('a ps that cannot be run is an error, not an empty list', async () => {
  const table = createPsProcessTable('/nowhere');
  const root = { pid: 1, startTime: null, marker: '', elapsed: createStopwatch() };
  await expect(table.members(root)).rejects.toThrow('ps');
  expect(await table.describe(1)).toBe('process 1');
});
