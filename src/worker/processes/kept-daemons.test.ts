import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import type { WorkerOptions } from '../worker-options.ts';
import { createPsProcessTable } from './ps-process-table.ts';

// Longer than the 15 characters of a name that the kernel keeps.
const daemon = 'nacre-test-daemon';

let here: TestWorker;
let script = '';
const begin = (options: Partial<WorkerOptions>) => {
  here = createTestWorker({ ...options, keep: ['other', daemon], keepPollMs: 50, killGraceMs: 200 });
  copyFileSync('/usr/bin/sleep', join(here.folder, daemon));
  const quiet = '> /dev/null 2>&1 < /dev/null';
  script = `${here.folder}/${daemon} 1201 ${quiet} & (trap "" TERM; sleep 1202; sleep 1203) & echo up; sleep 0.1`;
};
afterEach(async () => {
  await here.close();
  expect(processesWith(here.folder)).toEqual([]);
});
const alive = () => processesWith(`${daemon}\u00001201`);
const others = () => {
  const own = processesWith(`HOME=${here.folder}`);
  return processesWith('sleep\u0000120').filter((pid) => own.includes(pid));
};

test.each([
  { highestLevel: 'group' },
  { highestLevel: 'group', table: createPsProcessTable() },
  { highestLevel: 'unshare' },
  { highestLevel: 'namespace' },
  { highestLevel: 'namespace', maxProcesses: 50 },
] as const)(
  'E1: at level $highestLevel a daemon named by keep stays after its command, is reported, and ends with the worker',
  async (options: Partial<WorkerOptions>) => {
    begin(options);
    const { state, stdout } = await here.run(script);
    expect(stdout).toBe('up\n');
    expect(state.end?.kept).toEqual([
      { pid: expect.any(Number), command: expect.stringContaining(`${daemon} 1201`) },
    ]);
    expect(state.end?.leftRunning.map(({ command }) => command)).not.toContainEqual(
      expect.stringMatching(`^${here.folder}/${daemon}`),
    );
    expect(state.end?.leftRunning.length).toBeGreaterThan(0);
    expect(state.enforcement?.gaps.join(' ')).toContain(`${daemon} may keep running`);
    expect(alive()).toHaveLength(1);
    expect(others()).toEqual([]);
    expect((await here.run('echo next')).stdout).toBe('next\n');
    await here.worker.dispose(state.id);
    expect(alive()).toHaveLength(1);
    await here.worker.close();
    expect(alive()).toEqual([]);
  },
);

describe.each(['group', 'namespace'] as const)('E1: at level %s a daemon named by keep', (highestLevel) => {
  beforeEach(() => begin({ highestLevel }));

  test('is released when it ends by itself', async () => {
    const { state } = await here.run(script);
    const left = () => processesWith(`NACRE_COMMAND_ID=${state.id}`).length;
    for (const pid of alive()) process.kill(pid, 'SIGKILL');
    await expect.poll(left, { timeout: 10_000, interval: 50 }).toBe(0);
  });

  test('does not survive a timeout or a stop', async () => {
    const id = await here.start(`${script}; sleep 1204`);
    await here.worker.read(id, 0, { waitMs: 5_000, maxBytes: 10 });
    await here.worker.stop(id, { signal: 'SIGTERM', graceMs: 100 });
    expect(alive()).toEqual([]);
    const late = await here.start(`${script}; sleep 1205`, { timeoutMs: 400 });
    expect(await here.worker.wait(late, 10_000)).toMatchObject({ status: 'timeout', end: { kept: [] } });
    expect(alive()).toEqual([]);
  });
});
