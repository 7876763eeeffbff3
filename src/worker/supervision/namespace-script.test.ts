import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { builtGuard } from '../../../tests/support/build.ts';
import { runChild } from '../../../tests/support/child.ts';
import { compareNamespaces } from '../../../tests/support/compare-namespaces.ts';
import { execAllowOf } from '../../../tests/support/exec-list.ts';
import { needLandlock, needRoot } from '../../../tests/support/needs.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createTestWorker } from '../../../tests/support/worker.ts';
import { findGuardPrograms } from '../guard/guard-program.ts';
import { createFifoPool, type FifoPool } from '../io/fifo-pool.ts';
import { childrenOf } from '../processes/descendants.ts';
import type { Keeper } from './follow-keeper.ts';
import { ForkServer, NotForkedError } from './fork-server.ts';
import { Lifeline } from './keeper-pool.ts';
import { toLaunchMessage } from './keeper-script.ts';
import { startWithForkServer } from './start-keeper.ts';

let folder: string;
let pool: FifoPool;
let lifeline: Lifeline;
let forkServer: ForkServer;
beforeEach(() => {
  folder = temporaryFolder();
  pool = createFifoPool(join(folder, 'fifos'));
  lifeline = new Lifeline(pool);
  forkServer = new ForkServer({
    env: { PATH: '/usr/bin:/bin', FOLDER: folder },
    lifeline: () => lifeline.readEnd(),
  });
});
afterEach(async () => {
  await forkServer.close();
  await lifeline.close();
  await pool.close();
  await expect.poll(() => processesWith(folder), { timeout: 10_000 }).toEqual([]);
  rmSync(folder, { recursive: true });
});

const start = async (mounts: readonly string[] = [], guard?: readonly string[], bashPath = '/bin/bash') =>
  startWithForkServer(forkServer, {
    bashPath,
    env: { FOLDER: folder },
    fifos: await pool.take(4),
    namespace: { user: '', layers: [], droppedCapabilities: [], mounts, guard },
  });
const listed = ['ps', 'grep', 'sort', 'env', 'cat', 'readlink', 'awk'];

/** Runs a script in a keeper. */
async function launch(script: string, mounts?: readonly string[]): Promise<Keeper> {
  const keeper = await start(mounts);
  expect(await keeper.ready).toBe(true);
  const command = { kind: 'shell', script } as const;
  const options = { cwd: '/', env: {}, stdin: 'open', prelude: '', atTerminal: false } as const;
  const message = toLaunchMessage({ command, ...options });
  writeSync(keeper.stdin, `${message.setUp}${message.run}`);
  return keeper;
}

function closeEnds({ stdin, stdout, stderr }: Keeper): void {
  for (const fd of [stdin, stdout, stderr]) closeSync(fd);
}

/** Runs a script in a keeper, and returns how it ended and what it wrote. */
async function run(script: string, mounts?: readonly string[]) {
  const output = join(folder, 'output');
  const keeper = await launch(`exec >${output} 2>&1; ${script}`, mounts);
  const end = await keeper.ended;
  keeper.end();
  await keeper.gone;
  closeEnds(keeper);
  return { ...end, cpuMs: keeper.endedCpuMs(), text: readFileSync(output, 'utf8') };
}

describe('a keeper in namespaces of the fork server', () => {
  test('reports an exit status, a signal, what is left running, and the CPU time', async () => {
    expect(await run('exit 130')).toMatchObject({ exit: { code: 130, signal: null }, processes: 1 });
    expect(await run('kill -INT $$')).toMatchObject({ exit: { code: null, signal: 'SIGINT' } });
    expect(await run('kill -9 $$')).toMatchObject({ exit: { code: null, signal: 'SIGKILL' } });
    expect(await run('sleep 60 & sleep 60 & exit 3')).toMatchObject({ exit: { code: 3 }, processes: 2 });
    const { cpuMs } = await run('for ((i = 0; i < 50000; i += 1)); do :; done');
    expect(cpuMs).toBeGreaterThan(5);
  });

  test('E2: its namespace ends with its init process or the fork server', async () => {
    const sleepers = () => processesWith(`sleep\u00003000051.${process.pid}`);
    const script = `setsid sleep 3000051.${process.pid} & sleep 3000051.${process.pid}`;
    const strikes = {
      init: (pid: number) => pid,
      'fork server': parent,
    };
    for (const [name, find] of Object.entries(strikes)) {
      const keeper = await launch(script);
      await expect.poll(() => sleepers().length).toBe(2);
      process.kill(find(keeper.pid), 'SIGKILL');
      await keeper.gone;
      expect(sleepers(), name).toEqual([]);
      expect((await keeper.ended).exit.isLost, name).toBe(true);
      closeEnds(keeper);
    }
  });

  test('E2: no signal from inside reaches its keeper, and orphans do not stay as zombies', async () => {
    const script = `(true & exec sleep 0.2) & trap '' TERM HUP; for s in KILL STOP TERM HUP CHLD; do kill -$s 1; done
      setsid sh -c 'true & sleep 0.1 & exit' & wait; sleep 0.3; grep -l '^State:.Z' /proc/[0-9]*/status; exit 9`;
    expect(await run(script)).toMatchObject({ exit: { code: 9 }, processes: 1, text: '' });
  });

  test('E2: what root writes to its status pipe does not change the end that it reports', async (context) => {
    needRoot(context);
    expect(await run('printf x >/proc/1/fd/3; exit 3')).toMatchObject({ exit: { code: 3 }, processes: 1 });
  });

  test('E2: it finds processes that are left running if root has covered /proc', async (context) => {
    needRoot(context);
    const hidden = 'sleep 60 & mount -t tmpfs none /proc; exit 3';
    expect(await run(hidden)).toMatchObject({ exit: { code: 3 }, processes: 2, text: '' });
  });

  test('a shell that cannot be executed is a failed request', async () => {
    const failing = start([], undefined, join(folder, 'missing'));
    await expect(failing).rejects.toBeInstanceOf(NotForkedError);
    await expect(failing).rejects.toThrow('exec: ENOENT');
    await expect.poll(() => processesWith(`FOLDER=${folder}`), { timeout: 10_000 }).toHaveLength(1);
  });

  test('E2: it reaps orphans that end after the command', async () => {
    const keeper = await launch('setsid sleep 60 & sleep 0.1');
    expect(await keeper.ended).toMatchObject({ processes: 2 });
    const [orphan = 0] = childrenOf(keeper.pid);
    process.kill(orphan, 'SIGKILL');
    await expect.poll(() => childrenOf(keeper.pid)).toEqual([]);
    keeper.end();
    await keeper.gone;
    closeEnds(keeper);
  });

  test('E5: covers folders and files, which the command cannot read', async () => {
    const [secrets, token] = [join(folder, 'secrets'), join(folder, 'token')];
    mkdirSync(secrets);
    writeFileSync(join(secrets, 'key'), 'secret');
    writeFileSync(token, 'secret');
    const { text } = await run(`ls -A ${secrets}; cat ${token}; echo hacked >${token}`, [
      `d${secrets}`,
      `f${token}`,
    ]);
    expect(text).not.toContain('secret\n');
    expect(text).toMatch(/cat: .*Permission denied/);
    expect(readFileSync(token, 'utf8')).toBe('secret');
  });

  test('makes files and folders read-only', async () => {
    const [tools, file] = [join(folder, 'tools'), join(folder, 'file')];
    mkdirSync(tools);
    writeFileSync(join(tools, 'tool'), 'old');
    writeFileSync(file, 'old');
    const script = `for f in ${tools}/tool ${file}; do echo new >$f; done; touch ${folder}/other && echo other; grep -c "${tools} ro" /proc/self/mountinfo`;
    const { text } = await run(script, [`r${tools}`, `r${file}`]);
    expect(text.match(/Read-only file system/g)).toHaveLength(2);
    expect(text).toMatch(/other\n1\n$/);
    expect([join(tools, 'tool'), file].map((path) => readFileSync(path, 'utf8'))).toEqual(['old', 'old']);
  });

  test('makes the mounts below a folder read-only, too', async (context) => {
    needRoot(context);
    const [tools, inner] = [join(folder, 'tools'), join(folder, 'tools', 'a mount')];
    mkdirSync(inner, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', inner]);
    try {
      const { text } = await run(`touch '${inner}/new'`, [`r${tools}`]);
      expect(text).toContain('Read-only file system');
      expect(existsSync(join(inner, 'new'))).toBe(false);
    } finally {
      execFileSync('umount', [inner]);
    }
  });

  test('a shell that cannot be restricted is a failed request, and nothing is left of it', async (context) => {
    await needLandlock(context);
    const [program] = findGuardPrograms(builtGuard);
    const words = program?.toForkWords?.({ execute: ['/bin/bash'] }) ?? [];
    const without = (name: string) => words.filter((word) => !word.startsWith(`${name}=`));
    for (const [guard, step] of [
      [[join(folder, 'missing.pl')], 'guard: ENOENT'],
      [without('capabilityCalls'), 'guard: '],
    ] as const) {
      const failing = start([], guard);
      await expect(failing).rejects.toBeInstanceOf(NotForkedError);
      await expect(failing).rejects.toThrow(step);
    }
    // Only the fork server itself is left.
    await expect.poll(() => processesWith(`FOLDER=${folder}`), { timeout: 10_000 }).toHaveLength(1);
    expect((await run('exit 0')).exit.code).toBe(0);
  });

  test('a namespace that cannot be created is a failed request, with the step that failed', async () => {
    const failing = start([`d${join(folder, 'missing')}`]);
    await expect(failing).rejects.toBeInstanceOf(NotForkedError);
    await expect(failing).rejects.toThrow('mount: ENOENT');
    expect((await run('exit 0')).exit.code).toBe(0);
  });
});

describe('a command finds the same in the namespaces of bubblewrap and in those of the fork server', () => {
  test.each([
    ['as this user', {}],
    ['under a list', { exec: 'enforce', execAllow: execAllowOf(listed) }],
  ] as const)('%s', async (_title, options) => {
    const here = createTestWorker({ highestLevel: 'namespace', ...options });
    const { madeBy, byBubblewrap, byForkServer } = await compareNamespaces(here);
    await here.close();
    expect(madeBy).toEqual(['bubblewrap', 'fork server']);
    expect(byForkServer).toEqual(byBubblewrap);
  });

  test.each([
    ['in a layer', {}],
    ['in a layer, under a list', { exec: 'enforce', execAllow: execAllowOf(listed) }],
  ] as const)('%s', async (_title, options) => {
    const home = temporaryFolder();
    const places = { home, stateDir: join(home, 'state') };
    const here = createTestWorker({ highestLevel: 'namespace', ...places, ...options });
    const tracked = { changes: { mode: 'track' } } as const;
    const { madeBy, byBubblewrap, byForkServer } = await compareNamespaces(here, tracked);
    await here.close();
    expect(madeBy).toEqual(['bubblewrap', 'fork server']);
    expect(byForkServer).toEqual(byBubblewrap);
    expect(byForkServer).toContain(`${here.folder} overlay overlay`);
  });

  test('as an ordinary user, who cannot open the descriptors of the keeper there', async () => {
    const found = (await runChild('fork-namespace')) as Record<string, unknown>;
    expect(found.madeBy).toEqual(['bubblewrap', 'fork server']);
    expect(found.byForkServer).toEqual(found.byBubblewrap);
    expect(found.reached).toBe('none\nnone\n');
  });

  test('as an ordinary user in a layer', async () => {
    const found = (await runChild('fork-namespace-layer')) as Record<string, unknown>;
    expect(found.madeBy).toEqual(['bubblewrap', 'fork server']);
    expect(found.byForkServer).toEqual(found.byBubblewrap);
    expect(found.byForkServer).toContain(`${found.folder} overlay overlay`);
    expect(found.init).toMatch(/^perl/);
    expect(found.a).toBe('a');
  });

  test('as an ordinary user under a list', async () => {
    const found = (await runChild('fork-namespace', { args: listed })) as Record<string, unknown>;
    expect(found.madeBy).toEqual(['bubblewrap', 'fork server']);
    expect(found.byForkServer).toEqual(found.byBubblewrap);
    expect(found.reached).toBe('none\nnone\n');
  });
});

function parent(pid: number): number {
  return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
}
