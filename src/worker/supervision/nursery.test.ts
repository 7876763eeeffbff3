import { closeSync, existsSync, mkdirSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { captureStream } from '../io/capture.ts';
import { openNamedForWriting, openReader } from '../io/fifo.ts';
import { createFifoPool, type FifoPool } from '../io/fifo-pool.ts';
import { createLifeline, type Lifeline } from './lifeline.ts';
import { createNursery, heldFd, type Nursery } from './nursery.ts';
import { toOrder } from './order.ts';
import { startInNursery } from './start-keeper.ts';

let folder: string;
let nursery: Nursery;
let pool: FifoPool;
let lifeline: Lifeline;
let env: Record<string, string>;
beforeEach(() => {
  // A name that a careless shell would take apart.
  folder = join(temporaryFolder(), 'it\'s a "folder"\n$(of) ours');
  mkdirSync(folder);
  pool = createFifoPool(folder);
  env = { PATH: '/usr/bin:/bin', NURSERY: join(folder, '..') };
  lifeline = createLifeline(pool);
  nursery = createNursery({ bashPath: '/bin/bash', env, life: async () => (await lifeline()).theirs });
});
afterEach(async () => {
  await nursery.close();
  await lifeline.close();
  await pool.close();
  await expect.poll(() => processesWith(`NURSERY=${env.NURSERY}`), { timeout: 10_000 }).toEqual([]);
  rmSync(join(folder, '..'), { recursive: true });
});

/** Starts a script, gives it its input, and reads what it says until it is gone. */
async function say(script: string, input = ''): Promise<{ pid: number; stdout: string; status: string }> {
  const [stdout = '', stderr = '', status = '', stdin = ''] = await pool.take(4);
  const inward = openNamedForWriting(stdin);
  const texts = { stdout: '', stderr: '', status: '' };
  const readers = Object.entries({ stdout, stderr, status }).map(([name, path]) =>
    captureStream(openReader(path), (bytes) => {
      texts[name as keyof typeof texts] += Buffer.from(bytes).toString();
      return true;
    }),
  );
  const pid = await nursery.start(['/bin/bash', '-c', script], { stdout, stderr, status, stdin });
  writeSync(inward.ours, input);
  // Whoever answers has opened all of its ends.
  await expect.poll(() => texts.status).toContain('here');
  for (const fd of [inward.ours, inward.holder]) closeSync(fd);
  await Promise.all(readers.map((reader) => reader.ended));
  return { pid, stdout: texts.stdout, status: texts.status };
}

test('starts a program with its descriptors, the last of them at its end when we are, and tells its number', async () => {
  const { pid, stdout, status } = await say(
    'echo here >&3; cat; read -r -t 0.01 <&4; echo "$$ $?" >&3',
    'some input',
  );
  expect(stdout).toBe('some input');
  expect(status).toBe(`here\n${pid} 142\n`);
});

test('what it starts leads a group, can be interrupted, and is no deeper shell than one that we start', async () => {
  const script =
    'read -r _ _ _ _ group _ < /proc/self/stat; grep SigIgn /proc/self/status; echo "$SHLVL $OLDPWD $group"';
  const { pid, stdout } = await say(`echo here >&3; ${script}`);
  expect(stdout).toMatch(/^SigIgn:\s+0{16}\n/);
  expect(stdout).toContain(`\n1  ${pid}\n`);
});

test('passes on what another program was asked for', async () => {
  expect((await say("echo here >&3; echo 'one $x'")).stdout).toBe('one $x\n');
  expect((await say('echo here >&3; echo "two"')).stdout).toBe('two\n');
});

test('when its shell is killed, what it was asked for fails, and the next start has a new one', async () => {
  await say('echo here >&3');
  const [shell] = processesWith(`NURSERY=${env.NURSERY}`);
  process.kill(shell ?? 0, 'SIGKILL');
  const gone = () => nursery.start(['true'], { stdin: '/a', stdout: '/a', stderr: '/a', status: '/a' });
  await gone().catch(() => {});
  await expect.poll(() => processesWith(`NURSERY=${env.NURSERY}`)).not.toContain(shell);
  expect((await say('echo here >&3; echo again')).stdout).toBe('again\n');
});

test('is closed for good', async () => {
  await nursery.close();
  const nowhere = { stdin: '/a', stdout: '/a', stderr: '/a', status: '/a' };
  await expect(nursery.start(['true'], nowhere)).rejects.toThrow('closed');
});

test('E2: a keeper of it is gone when the whole of its namespace is, and not before', async () => {
  const supervisor = ['bwrap', '--sync-fd', String(heldFd), '--unshare-pid', '--die-with-parent'] as const;
  const start = async () =>
    startInNursery(nursery, {
      supervisor: [...supervisor, '--dev-bind', '/', '/', '--proc', '/proc'],
      bashPath: '/bin/bash',
      env,
      fifos: await pool.take(4),
    });
  const keeper = await start();
  expect(await keeper.ready).toBe(true);
  let gone = false;
  void keeper.gone.then(() => {
    gone = true;
  });
  // The keeper is the second of its namespace; what it has started lives on without it until the first has seen it.
  const { setUp, run } = toOrder({
    command: { kind: 'shell', script: 'sleep 300.0042 & kill -9 2; sleep 300.0042' },
    cwd: '/',
    env: {},
    stdin: 'open',
    prelude: '',
    atTerminal: false,
  });
  writeSync(keeper.stdin, `${setUp}${run}`);
  await expect.poll(() => gone, { timeout: 10_000 }).toBe(true);
  expect(processesWith('sleep 300.0042')).toEqual([]);
  expect((await keeper.ended).exit).toEqual({ code: null, signal: 'SIGKILL' });
  for (const fd of [keeper.stdin, keeper.stdout, keeper.stderr]) closeSync(fd);
  const failing = await startInNursery(nursery, {
    supervisor: ['bwrap', '--no-such-option'],
    bashPath: '/bin/bash',
    env,
    fifos: await pool.take(4),
  });
  expect(await failing.ready).toBe(false);
  expect(failing.lastWords()).toContain('--no-such-option');
  await failing.discard();
});

test('a keeper that dies before it could open its pipes is given up, and nothing waits for it', async () => {
  const robbed: Nursery = {
    ...nursery,
    start(argv, files) {
      rmSync(files.stdin);
      return nursery.start(argv, files);
    },
  };
  const fifos = await pool.take(4);
  const keeper = await startInNursery(robbed, { supervisor: ['env'], bashPath: '/bin/bash', env, fifos });
  await keeper.discard();
  expect(await keeper.ready).toBe(false);
});

test('a keeper whose pipes cannot all be opened leaves no descriptor and no name', async () => {
  const fifos = await pool.take(4);
  rmSync(fifos[3] ?? '');
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  const plan = { supervisor: ['env'] as const, bashPath: '/bin/bash', env, fifos };
  await expect(startInNursery(nursery, plan)).rejects.toThrow('ENOENT');
  expect(open()).toBe(before);
  expect(fifos.filter((name) => existsSync(name))).toEqual([]);
});
