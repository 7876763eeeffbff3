import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { soakCount } from '../../../tests/support/soak.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { sleep } from '../../support/timing.ts';
import { createProcProcessTable } from '../processes/proc-process-table.ts';
import { createPsProcessTable } from '../processes/ps-process-table.ts';
import { createInstanceFolder } from './instance-folder.ts';
import { instanceVariable, sweepProcesses } from './sweep-processes.ts';

const table = createProcProcessTable();
const mark = `SWEEP_TEST=${process.pid}`;
const started = new Set<ReturnType<typeof spawn>>();
afterEach(async () => {
  for (const child of started) endGroup(child);
  started.clear();
  await expect.poll(() => processesWith(mark)).toEqual([]);
});

function endGroup({ pid }: ReturnType<typeof spawn>) {
  try {
    process.kill(-(pid ?? 0), 'SIGKILL');
  } catch {
    // ESRCH: another test's sweep has already killed it.
  }
}

/** The name of a server that is dead. */
async function deadServer(): Promise<string> {
  const { path } = await createInstanceFolder(temporaryFolder(), table);
  const { pid } = spawnSync('true');
  return basename(path).replace(`-${process.pid}-`, `-${pid}-`);
}

/** Starts a shell with a server's name in its environment, and a child that has cleared its own. */
async function leaveRunning(server: string) {
  const script = 'env -i MARK="$MARK" sleep 77.25 & echo up; wait';
  const env = { PATH: '/usr/bin:/bin', MARK: mark, [instanceVariable]: server };
  const child = spawn('bash', ['-c', script], { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  started.add(child);
  await once(child.stdout, 'data');
  while (processesWith(mark).length < 2) await sleep(5);
  return child;
}

test('E2: processes of a dead server are killed with their descendants', async () => {
  const child = await leaveRunning(await deadServer());
  const ended = once(child, 'close');
  await sweepProcesses(table, undefined);
  expect(processesWith(mark)).toEqual([]);
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
});

test('E2: processes of a living server, of another machine or of no server are spared', async () => {
  const { path, remove } = await createInstanceFolder(temporaryFolder(), table);
  const elsewhere = (await deadServer()).replace(/^[0-9a-f]{8}/, '00000000');
  for (const name of [basename(path), elsewhere, 'anything', '']) {
    const child = await leaveRunning(name);
    await sweepProcesses(table, undefined);
    expect(processesWith(mark)).toHaveLength(2);
    endGroup(child);
    await expect.poll(() => processesWith(mark)).toEqual([]);
  }
  await remove();
});

test('E2: a server that runs inside a command of a dead server does not kill that command', async () => {
  const own = await deadServer();
  const child = await leaveRunning(own);
  const swept = await sweepProcesses(table, own);
  expect(swept.map(({ pid }) => pid)).not.toContain(child.pid);
});

test('E2: a sweep kills what a supervisor left that was killed while starting', async () => {
  const env = { PATH: '/usr/bin:/bin', MARK: mark, [instanceVariable]: await deadServer() };
  const [program, ...args] =
    'bwrap --unshare-pid --unshare-user --die-with-parent --dev-bind / / sleep 77.5'.split(' ');
  const rounds = soakCount(60, 15);
  for (let round = 0; round < rounds; round += 1) {
    const bubblewrap = spawn(`${program}`, args, { env, stdio: 'ignore', detached: true });
    const until = performance.now() + (4 * round) / rounds;
    while (performance.now() < until);
    bubblewrap.kill('SIGKILL');
    await once(bubblewrap, 'exit');
  }
  await sweepProcesses(table, undefined);
  expect(processesWith(mark)).toEqual([]);
});

test('a process table without environments finds nothing to kill', async () => {
  expect(await sweepProcesses(createPsProcessTable(), undefined)).toEqual([]);
});
