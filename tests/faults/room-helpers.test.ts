// The processes of rooms and filtered networks, each killed or stopped: the next command or connection works, within a bound.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createStopwatch, sleep } from '../../src/support/timing.ts';
import type { WorkerOptions } from '../../src/worker/worker-options.ts';
import { needLevel, needPrograms } from '../support/needs.ts';
import { pathWithout } from '../support/path-without.ts';
import { commandLine, processesWith, zombieChildren } from '../support/processes.ts';
import { serverScript, waitForPort } from '../support/room-server.ts';
import { createTestWorker, type TestWorker } from '../support/worker.ts';

const boundMs = 20_000;
let here: TestWorker;
let home = '';
let cwd = '';
const open = (options: Partial<WorkerOptions> = {}) => {
  here = createTestWorker({
    highestLevel: 'namespace',
    supervisionRequire: 'namespace',
    sandbox: 'workspace',
    ...options,
  });
  home = options.environment?.HOME ?? here.folder;
  cwd = join(here.folder, 'project');
  mkdirSync(cwd);
};
const run = (script: string) => here.run(script, { cwd, room: 'one' });

/** The first process of this worker whose command line contains a text; appears within `boundMs`. */
async function find(text: string): Promise<number> {
  const elapsed = createStopwatch();
  while (elapsed() < boundMs) {
    const [found] = processesWith(`HOME=${home}`).filter((pid) => commandLine(pid).includes(text));
    if (found !== undefined) return found;
    await sleep(1);
  }
  throw new Error(`no process with ${text}`);
}

async function strike(text: string, signal: NodeJS.Signals): Promise<void> {
  const pid = await find(text);
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

beforeEach(async (context) => {
  needPrograms(context, 'curl', 'nsenter');
  await needLevel(context, 'namespace');
});
afterEach(async () => {
  const elapsed = createStopwatch();
  await here.close();
  expect(elapsed()).toBeLessThan(boundMs);
  // If a supervisor is killed before its keeper is ready, nacre does not know the init process, and the kernel ends the namespace a
  // moment later.
  await expect.poll(() => processesWith(`HOME=${home}`), { timeout: 5_000 }).toEqual([]);
  expect(zombieChildren()).toEqual([]);
});

describe.each(['SIGKILL', 'SIGSTOP'] as const)('%s', (signal) => {
  test.each([
    ['no hosts', [], 'echo $$; read -r'],
    ['listed hosts', ['allowed.example'], 'process.send(process.pid, server)'],
  ] as const)(
    'to the first process of a room with %s does not delay its commands',
    async (_, networkAllow, text) => {
      open({ networkAllow });
      const striking = strike(text, signal);
      const elapsed = createStopwatch();
      const first = run('echo first').catch((error: Error) => error);
      await striking;
      await first;
      expect((await run('echo next')).stdout).toBe('next\n');
      expect(elapsed()).toBeLessThan(boundMs);
    },
  );

  test('to the bridge of a filtered network does not delay the next command', async () => {
    // Not below /tmp, because the programs there cannot be seen in a sandbox.
    const folder = mkdtempSync('/var/tmp/nacre-bridge-');
    const environment = { HOME: folder, PATH: pathWithout(folder, { hidden: ['nsenter'] }) };
    open({ environment, networkAllow: ['allowed.example'] });
    const striking = strike('process.send(process.pid, server)', signal);
    const elapsed = createStopwatch();
    await run('echo first').catch((error: Error) => error);
    await striking;
    expect((await run('curl -s http://denied.example/')).stdout).toContain('is not allowed');
    expect(elapsed()).toBeLessThan(boundMs);
    rmSync(folder, { recursive: true });
  });

  test('to the connector of an open port loses at most one connection', async () => {
    open();
    const server = await here.start(serverScript(3_000, 'hello'), { cwd, room: 'one' });
    await waitForPort(here.worker, server, 3_000);
    const hostPort = await freePort();
    await here.worker.openPort({ room: 'one', port: 3_000, hostPort });
    const ask = () => fetch(`http://127.0.0.1:${hostPort}/`).then((reply) => reply.text());
    expect(await ask()).toBe('hello');
    await strike('process.send({ id }, socket)', signal);
    const elapsed = createStopwatch();
    await expect.poll(() => ask().catch(String), { timeout: boundMs }).toBe('hello');
    expect(elapsed()).toBeLessThan(boundMs);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
