import { expect, test } from 'vitest';
import { createTestWorker } from '../../../tests/support/worker.ts';
import { createPsProcessTable } from '../processes/ps-process-table.ts';
import { countsPerNamespace, createWarden } from './create-warden.ts';

const plan = { id: 'cmd', asked: undefined, ownProcesses: 2, isPowerless: false, enters: 'put' } as const;
const limits = { maxProcesses: 9, treeMemoryBytes: 5e8, cpuSeconds: 3 };

test('without limits nothing is bound and nothing is a gap', () => {
  const ward = createWarden({ limits: {}, cgroups: null, isRoot: true }).take(plan);
  expect(ward).toMatchObject({ prelude: '', group: null, gaps: [] });
});

test('what the kernel does not hold is a gap, and so is the power of root', () => {
  const gaps = (isRoot: boolean, isPowerless: boolean) =>
    createWarden({ limits, cgroups: null, isRoot })
      .take({ ...plan, isPowerless })
      .gaps.join(' ');
  expect(gaps(true, false)).toMatch(/memory of a whole tree.*number of processes.*As root/);
  expect(gaps(true, true)).not.toMatch(/As root/);
  expect(gaps(false, false)).not.toMatch(/As root|number of processes/);
});

test('processes of a user are counted by namespace since 5.14', () => {
  const versions = ['5.13.9', '5.14.0-rc1', '6.1.0-18-amd64', '4.19', 'unknown'];
  expect(versions.map(countsPerNamespace)).toEqual([false, true, true, false, false]);
});

test('S7: where the process table knows no figures they are null, and processes are counted all the same', async () => {
  const here = createTestWorker({ table: createPsProcessTable(), cgroups: false });
  const { state } = await here.run('sleep 0.5');
  expect(state.resources).toEqual({
    cpuMs: null,
    peakMemoryBytes: null,
    processes: null,
    readBytes: null,
    writtenBytes: null,
  });
  const storm = await here.run('for i in {1..30}; do sleep 9 & done; wait', { limits: { maxProcesses: 20 } });
  expect(storm.state.end).toMatchObject({
    cause: 'processes',
    detail: expect.stringContaining('limit of 20'),
  });
  await here.close();
});
