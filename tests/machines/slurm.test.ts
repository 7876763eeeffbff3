// Allocations of a real Slurm on loopback.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createRemoteBackend } from '../../src/backends/remote/create-remote-backend.ts';
import { createRoad } from '../../src/backends/roads/create-road.ts';
import { serverLabel } from '../../src/backends/roads/server-label.ts';
import type { SlurmRoad } from '../../src/contract/machine.ts';
import { builtWorker } from '../support/build.ts';
import { describeBackend } from '../support/describe-backend.ts';
import { createStart } from '../support/open-backend.ts';
import { isInstalled } from '../support/program-needs.ts';
import { readAll } from '../support/read-all.ts';
import { toRemote } from '../support/roads.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workerOptionsIn } from '../support/worker-options.ts';
import { describeDoors } from './describe-doors.ts';
import { slurmNeeds, startLogin, startSlurm, type TestLogin, type TestSlurm } from './hosts/start-slurm.ts';
import { whyNoHosts } from './hosts/start-ssh.ts';

const missing = slurmNeeds.find((program) => !isInstalled(program));
const reason = process.getuid?.() === 0 ? missing && `${missing} is missing` : 'only root can start it';

const loginReason = reason ?? whyNoHosts();

let slurm: TestSlurm;
let login: TestLogin;
beforeAll(async () => {
  if (reason === undefined) slurm = await startSlurm();
  if (loginReason === undefined) login = await startLogin(slurm);
});
afterAll(async () => {
  await login?.stop();
  await slurm?.stop();
});

const open = (more: Partial<SlurmRoad> = {}) => {
  const folder = temporaryFolder();
  const home = temporaryFolder();
  const environment = { ...slurm.environment, HOME: home, TOKEN: 'secret' };
  const road = createRoad(
    { name: 'hpc', orphanMs: 1_000, limits: {}, road: { kind: 'slurm', timeSeconds: 300, cpus: 1, ...more } },
    { program: builtWorker, build: 'test', environment, cwd: folder },
  );
  const backend = createRemoteBackend({ ...toRemote(workerOptionsIn(folder)), road });
  const close = async () => {
    await backend.close();
    await road.remove?.();
  };
  onTestFinished(close);
  const start = createStart(backend, folder);
  const run = async (script: string) => (await readAll(backend, await start(script))).stdout.trim();
  return { backend, folder, start, run, close };
};

const jobs = () => slurm.run('squeue', '-h', '-t', 'pending,running', '-o', '%i %T %l');

describeBackend('an allocation of Slurm as a backend', open, reason);

describeDoors(
  'an allocation behind a login node',
  () => ({
    entry: `{ slurm: { login: login1, ssh_config: ${login.config}, cpus: 1, time: 5min } }`,
    ...{ proof: ['printenv', 'SLURM_STEP_NUM_NODES'], expected: '1\n' },
  }),
  loginReason,
);

describe.skipIf(reason !== undefined)('an allocation of Slurm', () => {
  test('behind a login node is cancelled with its connection', async () => {
    await expect.poll(jobs).toBe('');
    const { run, close } = open({ login: 'login1', config: login.config });
    expect(await run('echo hi')).toBe('hi');
    expect(jobs()).toMatch(/RUNNING/);
    await close();
    await expect.poll(jobs).toBe('');
    const unknown = open({ login: 'login2', config: login.config });
    await expect(unknown.backend.open()).rejects.toThrow('its host name cannot be resolved');
  });

  test('is made once, has the limits of its settings, and is cancelled with its connection', async () => {
    const { run, close } = open({ timeSeconds: 600, partition: 'all' });
    expect(await run('tr "\\0" "\\n" < /proc/$PPID/environ | grep -c ^TOKEN= || true')).toBe('0');
    await run('sleep 300 & disown');
    expect(jobs()).toMatch(/^\d+ RUNNING 10:00\n$/);
    await close();
    await expect.poll(jobs).toBe('');
  });

  test('that Slurm refuses is reported with its message', async () => {
    await expect(open({ partition: 'no-such' }).backend.open()).rejects.toThrow(/Slurm says: .*partition/i);
  });

  test('that has to wait is reported within ten seconds, and is not left in the queue', async () => {
    const one = open({ cpus: 2 });
    const other = open({ cpus: 2 });
    await one.run('true');
    await other.run('true');
    const third = open({ cpus: 2 });
    await expect(third.backend.open()).rejects.toThrow('still pending in the Slurm queue');
    expect(jobs()).toMatch(/PENDING/);
    await third.close();
    await expect.poll(jobs).not.toMatch(/PENDING/);
  });

  test('of a server that was killed is cancelled by the next one', async () => {
    const label = serverLabel().split(' ').with(2, '4194303').join(' ');
    const words = ['--no-shell', '--job-name=nacre-0123456789abcdef', `--comment=${label}`, '--time=5'];
    slurm.run('salloc', ...words);
    expect(jobs()).toMatch(/RUNNING/);
    const { run, close } = open();
    await run('true');
    await close();
    await expect.poll(jobs).toBe('');
  });

  test('that was cancelled is replaced, and its commands are reported as lost', async () => {
    const { backend, start, run } = open();
    const id = await start('echo begun; sleep 300');
    await backend.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
    slurm.run('scancel', jobs().split(' ')[0] ?? '');
    await expect.poll(() => backend.wait(id, 0)).toMatchObject({ status: 'lost', end: { exitCode: null } });
    expect(await run('echo again')).toBe('again');
  });
});

test('the error for a machine without Slurm says to install it or to name a login node', async () => {
  const road = createRoad(
    { name: 'hpc', orphanMs: 1_000, limits: {}, road: { kind: 'slurm', timeSeconds: 300 } },
    { program: builtWorker, build: 'test', environment: { PATH: '/nonexistent' }, cwd: '/' },
  );
  await expect(road.open()).rejects.toThrow('salloc or srun was not found');
});
