import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import type { JobSpec } from '../contract/job.ts';
import { Spool, SpoolQuota } from './io/spool.ts';
import { Job } from './job.ts';
import { KeptDaemons } from './processes/kept-daemons.ts';
import { createProcProcessTable } from './processes/proc-process-table.ts';
import { NotExecutableError } from './start/start-failures.ts';
import { type JobLaunch, JobRegistry } from './worker.ts';

let registry: JobRegistry;
beforeEach(() => {
  registry = new JobRegistry();
});
afterEach(() => registry.close());

const spec: JobSpec = {
  id: 'cmd_1',
  command: { kind: 'shell', script: 'true' },
  cwd: '/',
  env: {},
  stdin: 'empty',
  timeoutMs: null,
};
const createJob = () =>
  new Job(
    spec,
    { spool: new Spool(join(temporaryFolder(), 'spool'), new SpoolQuota(1_000_000)), withheldEnv: [] },
    {
      ringBytes: 65_536,
      spoolBytes: 1_000_000,
      drainMs: 100,
      killGraceMs: 100,
      daemons: new KeptDaemons([], createProcProcessTable()),
    },
  );
const failing = (error: Error): JobLaunch => ({
  job: createJob(),
  waitsForLaunchMessage: false,
  start: () => Promise.reject(error),
});

test('a job whose start fails is forgotten, and every launch of its id fails with it', async () => {
  const launch = () => registry.launch('cmd_1', async () => failing(new Error('no process')));
  const [first, second] = await Promise.allSettled([launch(), launch()]);
  expect([first, second]).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(() => registry.find('cmd_1')).toThrow('cmd_1');
  expect(registry.list()).toEqual([]);
});

test('a program that is not executable is a job with exit code 126', async () => {
  await registry.launch('cmd_1', async () => failing(new NotExecutableError('tool: Permission denied')));
  const job = await registry.findStarted('cmd_1');
  expect(job.state()).toMatchObject({ status: 'failed', end: { exitCode: 126 } });
  await registry.dispose('cmd_1');
  expect(() => registry.find('cmd_1')).toThrow('cmd_1');
});

test('a second launch of an id that is being started does not prepare it again', async () => {
  let prepared = 0;
  const launch = () =>
    registry.launch('cmd_1', async () => {
      prepared += 1;
      return failing(new NotExecutableError('tool: Permission denied'));
    });
  await Promise.all([launch(), launch()]);
  await launch();
  expect(prepared).toBe(1);
});

test('a closed registry refuses to launch, and stopping an unknown job does nothing', async () => {
  await registry.stopOnClose('cmd_unknown');
  await registry.close();
  await expect(registry.launch('cmd_1', async () => failing(new Error('unused')))).rejects.toMatchObject({
    code: 'shutting_down',
  });
});
