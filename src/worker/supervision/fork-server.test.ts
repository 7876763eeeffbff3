import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { plainSandboxPlan } from '../../../tests/support/plain-sandbox-plan.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { Capture } from '../io/capture.ts';
import { createFifoPool, type FifoPool, openNamedForWriting, openReader } from '../io/fifo-pool.ts';
import type { ProcessExit } from '../processes/process-exit.ts';
import { toBubblewrapCommand } from '../sandbox/bubblewrap.ts';
import { ForkServer, heldFd, NotForkedError } from './fork-server.ts';
import { type ForkRequest, findForkServer, lifelineFd } from './fork-server-script.ts';
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
  forkServer = new ForkServer({ env, lifeline: () => lifeline.readEnd() });
});
afterEach(async () => {
  await forkServer.close();
  await lifeline.close();
  await pool.close();
  await expect.poll(() => processesWith(`FORK_SERVER=${env.FORK_SERVER}`), { timeout: 10_000 }).toEqual([]);
  rmSync(join(folder, '..'), { recursive: true });
});

const missing: ForkRequest = {
  argv: ['true'],
  env: {},
  cwd: '/',
  files: [{ fd: 0, open: 'read', path: '/no/such/file' }],
};

/** Starts a script, writes its input, and reads its output until it has ended. */
async function run(
  script: string,
  input = '',
): Promise<{ pid: number; stdout: string; status: string; exit: ProcessExit }> {
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
  const { pid, exited } = await forkServer.start({
    argv: ['/bin/bash', '-c', script],
    env,
    cwd: '/',
    files: [
      { fd: 0, open: 'read', path: stdin },
      { fd: 1, open: 'write', path: stdout },
      { fd: 2, open: 'write', path: stderr },
      { fd: 3, open: 'write', path: status },
      { fd: 4, open: 'copy', path: String(lifelineFd) },
    ],
  });
  writeSync(inward.ours, input);
  // A script that has written to its status pipe has opened all of its ends.
  await expect.poll(() => texts.status).toContain('here');
  for (const fd of [inward.ours, inward.holder]) closeSync(fd);
  await Promise.all(captures.map((capture) => capture.ended));
  return { pid, stdout: texts.stdout, status: texts.status, exit: await exited };
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

test('when it is killed, pending starts fail, and the next start uses another process', async () => {
  await run('echo here >&3');
  const [shell] = processesWith(`FORK_SERVER=${env.FORK_SERVER}`);
  process.kill(shell ?? 0, 'SIGKILL');
  await forkServer.start(missing).catch(() => {});
  await expect.poll(() => processesWith(`FORK_SERVER=${env.FORK_SERVER}`)).not.toContain(shell);
  expect((await run('echo here >&3; echo again')).stdout).toBe('again\n');
});

test('starts nothing after it is closed', async () => {
  await forkServer.close();
  await expect(forkServer.start(missing)).rejects.toThrow('closed');
});

test('E2: a keeper started by a fork server is gone when its whole namespace is, and not before', async () => {
  const start = async () =>
    startWithForkServer(forkServer, {
      supervisor: toBubblewrapCommand(plainSandboxPlan, { heldFd }),
      hasSupervisor: true,
      ownProcesses: 2,
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
    command: {
      kind: 'shell',
      script: `sleep 3000042.${process.pid} & kill -9 2; sleep 3000042.${process.pid}`,
    },
    cwd: '/',
    env: {},
    stdin: 'open',
    prelude: '',
    atTerminal: false,
  });
  writeSync(keeper.stdin, `${setUp}${run}`);
  await expect.poll(() => gone, { timeout: 10_000 }).toBe(true);
  expect(processesWith(`sleep 3000042.${process.pid}`)).toEqual([]);
  expect((await keeper.ended).exit.isLost).toBe(true);
  for (const fd of [keeper.stdin, keeper.stdout, keeper.stderr]) closeSync(fd);
  const failing = await startWithForkServer(forkServer, {
    supervisor: ['bwrap', '--no-such-option'],
    hasSupervisor: true,
    ownProcesses: 2,
    bashPath: '/bin/bash',
    env,
    fifos: await pool.take(4),
  });
  expect(await failing.ready).toBe(false);
  expect(failing.readStderr()).toContain('--no-such-option');
  await failing.discard();
});

test('a program that cannot be started is reported with the step that failed, and nothing else happens', async () => {
  await expect(forkServer.start(missing)).rejects.toThrow('open: ENOENT');
  await expect(forkServer.start({ ...missing, files: [], cwd: '/no/such' })).rejects.toThrow('chdir: ENOENT');
  await expect(forkServer.start({ ...missing, files: [], argv: ['/etc/passwd'] })).rejects.toThrow(
    'exec: EACCES',
  );
  await expect(forkServer.start({ ...missing, files: [], argv: ['a\0b'] })).rejects.toThrow('NUL');
  await expect(forkServer.start(missing)).rejects.toBeInstanceOf(NotForkedError);
  expect((await run('echo here >&3; echo works')).stdout).toBe('works\n');
});

test('runs a program until it ends or its time is over', async () => {
  const folder = join(temporaryFolder(), 'made');
  expect(await forkServer.run(['mkdir', folder], 10_000)).toBe(true);
  expect(existsSync(folder)).toBe(true);
  expect(await forkServer.run(['false'], 10_000)).toBe(false);
  expect(await forkServer.run(['sleep', '60'], 20)).toBe(false);
  rmSync(join(folder, '..'), { recursive: true });
});

test('reports how a program ended, also by a real-time signal', async () => {
  expect((await run('echo here >&3; exit 7')).exit).toEqual({ code: 7, signal: null });
  expect((await run('echo here >&3; kill -TERM $$')).exit).toEqual({ code: null, signal: 'SIGTERM' });
  expect((await run('echo here >&3; kill -35 $$')).exit).toEqual({ code: 163, signal: null });
});

test('reaps orphans, and kills everything below it when it is closed', async () => {
  await run(`echo here >&3; (sleep 0.01 & sleep 3000043.${process.pid} >/dev/null 2>&1 3>&- & exit) & exit`);
  await expect.poll(() => processesWith(`sleep\u00003000043.${process.pid}`).length).toBe(1);
  const [orphan = 0] = processesWith(`sleep\u00003000043.${process.pid}`);
  const server = processesWith(`FORK_SERVER=${env.FORK_SERVER}`);
  expect(server).toContain(Number(readFileSync(`/proc/${orphan}/stat`, 'utf8').split(' ')[3]));
  await forkServer.close();
  expect(processesWith(`sleep\u00003000043.${process.pid}`)).toEqual([]);
});

test('is replaced when its limits change, and exits when what it has started and adopted has ended', async () => {
  const start = (script: string) =>
    forkServer.start({ argv: ['bash', '-c', script], env, cwd: '/', files: [] });
  const first = forkServer.generation;
  const running = await start('(setsid sleep 1 &); sleep 0.5; exit 3');
  const [, server] = /\) \S (\d+)/.exec(readFileSync(`/proc/${running.pid}/stat`, 'utf8')) ?? [];
  execFileSync('prlimit', [`--pid=${server}`, '--nofile=300:']);
  expect(forkServer.generation).toBe(first + 1);
  expect((await (await start('exit 4')).exited).code).toBe(4);
  expect((await running.exited).code).toBe(3);
  await expect.poll(() => existsSync(`/proc/${server}`)).toBe(false);
  expect(forkServer.generation).toBe(first + 1);
});

test('a killed fork server changes `generation`, so that what it has started is not used again', async () => {
  const started = await forkServer.start({ argv: ['sleep', '30'], env, cwd: '/', files: [] });
  const first = forkServer.generation;
  const [, server] = /\) \S (\d+)/.exec(readFileSync(`/proc/${started.pid}/stat`, 'utf8')) ?? [];
  for (const pid of [Number(server), started.pid]) process.kill(pid, 'SIGKILL');
  // Before Node has noticed its exit.
  expect(forkServer.generation).toBe(first + 1);
  expect((await started.exited).isLost).toBe(true);
  expect(forkServer.generation).toBe(first + 1);
  expect((await run('echo here >&3; echo again')).stdout).toBe('again\n');
  expect(forkServer.generation).toBe(first + 1);
});

test('a fork server that was stopped is continued', async () => {
  await run('echo here >&3');
  const [server] = processesWith(`FORK_SERVER=${env.FORK_SERVER}`);
  process.kill(server ?? 0, 'SIGSTOP');
  expect((await run('echo here >&3; echo again')).stdout).toBe('again\n');
});

test('E2: a fork server that is stopped while the server is killed exits, too', async () => {
  const server = `const [program, ...args] = JSON.parse(process.argv[1]);
    console.log(require('node:child_process').spawn(program, args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] }).pid)`;
  const parent = spawn(process.execPath, ['-e', server, JSON.stringify(findForkServer())], { env });
  const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)));
  // It blocks SIGCHLD before it reads its stdin.
  const status = () => readFileSync(`/proc/${pid}/status`, 'utf8');
  await expect.poll(status).toMatch(/^SigBlk:\s0+10000$/m);
  process.kill(pid, 'SIGSTOP');
  parent.kill('SIGKILL');
  await expect.poll(() => processesWith(`FORK_SERVER=${env.FORK_SERVER}`), { timeout: 5_000 }).toEqual([]);
});

test('a fork server that does not answer is killed, and the next start uses another one', async () => {
  const dumb = new ForkServer({
    env,
    limits: { startMs: 100, closeMs: 100 },
    program: ['/bin/bash', '-c', `trap "" TERM; while :; do sleep 3000044.${process.pid}; done`],
  });
  await expect(dumb.start(missing)).rejects.toThrow('has exited');
  await expect(dumb.start(missing)).rejects.toThrow('has exited');
  await dumb.close();
  for (const pid of processesWith(`sleep\u00003000044.${process.pid}`)) process.kill(pid, 'SIGKILL');
});

test('a keeper whose pipes cannot all be opened leaves no descriptor and no name', async () => {
  const fifos = await pool.take(4);
  rmSync(fifos[3] ?? '');
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  const plan = { supervisor: ['env'] as const, bashPath: '/bin/bash', env, fifos };
  const own = { hasSupervisor: true, ownProcesses: 2 };
  await expect(startWithForkServer(forkServer, { ...plan, ...own })).rejects.toThrow('ENOENT');
  expect(open()).toBe(before);
  expect(fifos.filter((name) => existsSync(name))).toEqual([]);
});
