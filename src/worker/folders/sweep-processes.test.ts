import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { sleep } from '../../support/sleep.ts';
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
    // Another worker's sweep was faster.
  }
}

/** The name that a server had which is no longer alive. */
async function deadServer(): Promise<string> {
  const { path } = await createInstanceFolder(temporaryFolder(), table);
  const { pid } = spawnSync('true');
  return basename(path).replace(`-${process.pid}-`, `-${pid}-`);
}

/** Starts a shell that carries a server's name, with a child that has cleared its environment. */
async function leave(server: string) {
  const script = 'env -i MARK="$MARK" sleep 77.25 & echo up; wait';
  const env = { PATH: '/usr/bin:/bin', MARK: mark, [instanceVariable]: server };
  const child = spawn('bash', ['-c', script], { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  started.add(child);
  await once(child.stdout, 'data');
  while (processesWith(mark).length < 2) await sleep(5);
  return child;
}

test('E2: what a dead server left is ended, with all that descends from it', async () => {
  const child = await leave(await deadServer());
  const ended = once(child, 'close');
  await sweepProcesses(table, undefined);
  expect(processesWith(mark)).toEqual([]);
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
});

test('E2: what carries the name of a living server, of one elsewhere or no such name is left alone', async () => {
  const { path, remove } = await createInstanceFolder(temporaryFolder(), table);
  const elsewhere = (await deadServer()).replace(/^[0-9a-f]{8}/, '00000000');
  for (const name of [basename(path), elsewhere, 'anything', '']) {
    const child = await leave(name);
    await sweepProcesses(table, undefined);
    expect(processesWith(mark)).toHaveLength(2);
    endGroup(child);
    await expect.poll(() => processesWith(mark)).toEqual([]);
  }
  await remove();
});

test('E2: a server that was itself started by such a command does not end its own surroundings', async () => {
  const own = await deadServer();
  const child = await leave(own);
  const swept = await sweepProcesses(table, own);
  expect(swept.map(({ pid }) => pid)).not.toContain(child.pid);
});

test('E2: a supervisor that died while it was being started leaves nothing after the sweep', async () => {
  const env = { PATH: '/usr/bin:/bin', MARK: mark, [instanceVariable]: await deadServer() };
  const [program, ...args] =
    'bwrap --unshare-pid --unshare-user --die-with-parent --dev-bind / / sleep 77.5'.split(' ');
  for (let round = 0; round < 60; round += 1) {
    const bubblewrap = spawn(`${program}`, args, { env, stdio: 'ignore', detached: true });
    const until = performance.now() + round / 15;
    while (performance.now() < until);
    bubblewrap.kill('SIGKILL');
    await once(bubblewrap, 'exit');
  }
  await sweepProcesses(table, undefined);
  expect(processesWith(mark)).toEqual([]);
});

test('a table that cannot see variables finds nothing to end', async () => {
  expect(await sweepProcesses(createPsProcessTable(), undefined)).toEqual([]);
});
