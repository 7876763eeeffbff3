import { closeSync, existsSync, mkdirSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { plainSandboxPlan } from '../../../tests/support/plain-sandbox-plan.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { Capture } from '../io/capture.ts';
import { createFifoPool, type FifoPool, openNamedForWriting, openReader } from '../io/fifo-pool.ts';
import { toBubblewrapCommand } from '../sandbox/bubblewrap.ts';
import { keeperLimits } from './follow-keeper.ts';
import { ForkServer, type ForkServerFifos, heldFd } from './fork-server.ts';
import { Lifeline } from './keeper-pool.ts';
import { toLaunchMessage } from './keeper-script.ts';
import { startWithForkServer } from './start-keeper.ts';

let folder: string;
let forkServer: ForkServer;
let pool: FifoPool;
let lifeline: Lifeline;
let env: Record<string, string>;
beforeEach(() => {
  // A name that must be quoted in bash.
  folder = join(temporaryFolder(), 'it\'s a "folder"\n$(of) ours');
  mkdirSync(folder);
  pool = createFifoPool(folder);
  env = { PATH: '/usr/bin:/bin', FORK_SERVER: join(folder, '..') };
  lifeline = new Lifeline(pool);
  forkServer = new ForkServer({ bashPath: '/bin/bash', env, lifeline: () => lifeline.readEnd() });
});
afterEach(async () => {
  await forkServer.close();
  await lifeline.close();
  await pool.close();
  await expect.poll(() => processesWith(`FORK_SERVER=${env.FORK_SERVER}`), { timeout: 10_000 }).toEqual([]);
  rmSync(join(folder, '..'), { recursive: true });
});

/** Starts a script, writes its input, and reads its output until it has ended. */
async function run(script: string, input = ''): Promise<{ pid: number; stdout: string; status: string }> {
  const [stdout = '', stderr = '', status = '', stdin = ''] = await pool.take(4);
  const inward = openNamedForWriting(stdin);
  const texts = { stdout: '', stderr: '', status: '' };
  const captures = Object.entries({ stdout, stderr, status }).map(
    ([name, path]) =>
      new Capture(openReader(path), (bytes) => {
        texts[name as keyof typeof texts] += Buffer.from(bytes).toString();
        return true;
      }),
  );
  const pid = await forkServer.start(['/bin/bash', '-c', script], { stdout, stderr, status, stdin });
  writeSync(inward.ours, input);
  // A script that has written to its status pipe has opened all of its ends.
  await expect.poll(() => texts.status).toContain('here');
  for (const fd of [inward.ours, inward.holder]) closeSync(fd);
  await Promise.all(captures.map((capture) => capture.ended));
  return { pid, stdout: texts.stdout, status: texts.status };
}

test('starts a program with its four pipes and the lifeline, and returns its pid', async () => {
  const { pid, stdout, status } = await run(
    'echo here >&3; cat; read -r -t 0.01 <&4; echo "$$ $?" >&3',
    'some input',
  );
  expect(stdout).toBe('some input');
  expect(status).toBe(`here\n${pid} 142\n`);
});

test('a started program leads a process group, does not ignore SIGINT, and has the SHLVL of a direct child', async () => {
  const script =
    'read -r _ _ _ _ group _ < /proc/self/stat; grep SigIgn /proc/self/status; echo "$SHLVL $OLDPWD $group"';
  const { pid, stdout } = await run(`echo here >&3; ${script}`);
  expect(stdout).toMatch(/^SigIgn:\s+0{16}\n/);
  expect(stdout).toContain(`\n1  ${pid}\n`);
});

test('can start different programs one after the other', async () => {
  expect((await run("echo here >&3; echo 'one $x'")).stdout).toBe('one $x\n');
  expect((await run('echo here >&3; echo "two"')).stdout).toBe('two\n');
});

test('when its shell is killed, pending starts fail, and the next start uses a new shell', async () => {
  await run('echo here >&3');
  const [shell] = processesWith(`FORK_SERVER=${env.FORK_SERVER}`);
  process.kill(shell ?? 0, 'SIGKILL');
  const missing = () => forkServer.start(['true'], { stdin: '/a', stdout: '/a', stderr: '/a', status: '/a' });
  await missing().catch(() => {});
  await expect.poll(() => processesWith(`FORK_SERVER=${env.FORK_SERVER}`)).not.toContain(shell);
  expect((await run('echo here >&3; echo again')).stdout).toBe('again\n');
});

test('starts nothing after it is closed', async () => {
  await forkServer.close();
  const missing = { stdin: '/a', stdout: '/a', stderr: '/a', status: '/a' };
  await expect(forkServer.start(['true'], missing)).rejects.toThrow('closed');
});

test('E2: a keeper started by a fork server is gone when its whole namespace is, and not before', async () => {
  const start = async () =>
    startWithForkServer(forkServer, {
      supervisor: toBubblewrapCommand(plainSandboxPlan, { heldFd }),
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
  // Pid 2 is the keeper. Its children keep running without it until the init process has noticed its death.
  const { setUp, run } = toLaunchMessage({
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
  const failing = await startWithForkServer(forkServer, {
    supervisor: ['bwrap', '--no-such-option'],
    bashPath: '/bin/bash',
    env,
    fifos: await pool.take(4),
  });
  expect(await failing.ready).toBe(false);
  expect(failing.readStderr()).toContain('--no-such-option');
  await failing.discard();
});

test('a keeper that dies before it has opened its pipes is given up, and `discard` does not hang', async () => {
  const failing = {
    start(argv: readonly string[], fifos: ForkServerFifos) {
      rmSync(fifos.stdin);
      return forkServer.start(argv, fifos);
    },
  };
  const plan = { supervisor: ['env'], bashPath: '/bin/bash', env, fifos: await pool.take(4) } as const;
  const keeper = await startWithForkServer(failing, plan, { ...keeperLimits, startMs: 200, reapMs: 100 });
  await keeper.discard();
  expect(await keeper.ready).toBe(false);
});

test('a keeper whose pipes cannot all be opened leaves no descriptor and no name', async () => {
  const fifos = await pool.take(4);
  rmSync(fifos[3] ?? '');
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  const plan = { supervisor: ['env'] as const, bashPath: '/bin/bash', env, fifos };
  await expect(startWithForkServer(forkServer, plan)).rejects.toThrow('ENOENT');
  expect(open()).toBe(before);
  expect(fifos.filter((name) => existsSync(name))).toEqual([]);
});
