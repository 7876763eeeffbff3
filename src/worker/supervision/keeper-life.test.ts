import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needPrograms } from '../../../tests/support/needs.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createFifoPool, openForReading } from '../io/fifo-pool.ts';
import { childrenOf } from '../processes/descendants.ts';
import type { ProcessExit } from '../processes/process-exit.ts';
import { KeeperLife } from './keeper-life.ts';
import { readStartTime } from './until-gone.ts';

const own = { hasSupervisor: true, ownProcesses: 2 };
const limits = { startMs: 3_000, latestMs: 30_000, reapMs: 1_000 };

async function openStatus() {
  const fifos = createFifoPool(join(temporaryFolder(), 'fifos'));
  const [name = ''] = await fifos.take(1);
  return { fifos, status: openForReading(name) };
}

interface FamilyOptions {
  /** True if the processes have the status pipe open. */
  readonly hasStatus?: boolean;
  readonly reapMs?: number;
}

/** Starts ordinary processes in the places of supervisor, init and keeper: nothing but nacre ends the init process. */
async function startFamily(argv: readonly [string, ...string[]], options: FamilyOptions = {}) {
  const { fifos, status } = await openStatus();
  const [program, ...args] = argv;
  const supervisor = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'ignore', options.hasStatus ? status.theirs : 'ignore'],
    detached: true,
  });
  const pid = supervisor.pid ?? 0;
  const exited = once(supervisor, 'exit').then(([code, signal]): ProcessExit => ({ code, signal }));
  await expect.poll(() => childrenOf(childrenOf(pid)[0] ?? 0).length, { timeout: 20_000 }).toBe(1);
  const [init = 0] = childrenOf(pid);
  const [keeper = 0] = childrenOf(init);
  const life = new KeeperLife({ pid, exited }, status.ours, own, { ...limits, ...options });
  return { supervisor, init, keeper, exited, life, theirs: status.theirs, fifos };
}

test('E2: the end of a killed supervisor is reported only when its init process is gone', async () => {
  const family = await startFamily(['bash', '-c', `bash -c 'sleep 7741 & wait' & wait`]);
  const { supervisor, init, keeper, life, theirs, fifos } = family;
  writeSync(theirs, 'ready\0');
  expect(await life.ready).toBe(true);
  const endings: boolean[] = [];
  void life.ended.then(() => endings.push(readStartTime(init) === null));
  supervisor.kill('SIGKILL');
  await life.gone;
  expect(readStartTime(init)).toBeNull();
  expect(endings).toEqual([true]);
  expect((await life.ended).exit.isLost).toBe(true);
  expect(life.survivor).toBeUndefined();
  closeSync(theirs);
  process.kill(keeper, 'SIGKILL');
  await fifos.close();
});

test('E2: only the first `ready` has an effect, because a command of root can repeat it', async () => {
  const { fifos, status } = await openStatus();
  const supervisor = spawn('bash', ['-c', 'sleep 7742 & wait; exec sleep 7742'], {
    stdio: 'ignore',
    detached: true,
  });
  const pid = supervisor.pid ?? 0;
  const exited = once(supervisor, 'exit').then(([code, signal]): ProcessExit => ({ code, signal }));
  await expect.poll(() => childrenOf(pid).length).toBe(1);
  const life = new KeeperLife({ pid, exited }, status.ours, { hasSupervisor: true, ownProcesses: 1 }, limits);
  writeSync(status.theirs, 'ready\0');
  expect(await life.ready).toBe(true);
  process.kill(childrenOf(pid)[0] ?? 0, 'SIGKILL');
  await expect.poll(() => childrenOf(pid)).toEqual([]);
  // A keeper that has no init process when it reports `ready` would be killed.
  writeSync(status.theirs, 'ready\0exited 3 1 0\0');
  expect((await life.ended).exit.code).toBe(3);
  expect(readStartTime(pid)).not.toBeNull();
  supervisor.kill('SIGKILL');
  await life.gone;
  closeSync(status.theirs);
  await fifos.close();
});

test('E2: the end of a supervisor that was killed before its keeper was ready is reported in the same way', async () => {
  const argv = ['bash', '-c', `bash -c 'sleep 7743 & wait' & wait`] as const;
  const { supervisor, init, keeper, life, theirs, fifos } = await startFamily(argv, { hasStatus: true });
  closeSync(theirs);
  supervisor.kill('SIGKILL');
  await life.gone;
  expect([init, keeper].map(readStartTime)).toEqual([null, null]);
  expect(await life.ready).toBe(false);
  await fifos.close();
});

// Reaps its child one and a half seconds after the child has died, as a supervisor on a very busy machine does.
const slowSupervisor = `
  my $init = fork // die;
  exec 'bash', '-c', 'sleep 7742 & wait' unless $init;
  do { select undef, undef, undef, 0.01; open my $stat, '<', "/proc/$init/stat"; $_ = <$stat> } until /\\) Z /;
  select undef, undef, undef, 1.5;
  waitpid $init, 0;
  exit 7;
`;

test.for(['end', 'giveUp'] as const)(
  '%s lets a slow supervisor reap its init process',
  async (way, context) => {
    needPrograms(context, '/usr/bin/perl');
    const family = await startFamily(['/usr/bin/perl', '-e', slowSupervisor], { reapMs: 100 });
    const { keeper, exited, life, theirs, fifos } = family;
    await life[way]();
    expect(await exited).toEqual({ code: 7, signal: null });
    await life.gone;
    closeSync(theirs);
    process.kill(keeper, 'SIGKILL');
    await fifos.close();
  },
);
