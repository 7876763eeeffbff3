import { createSocket } from 'node:dgram';
import { mkdirSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runChild } from '../../../tests/support/child.ts';
import { needLevel, needPrograms } from '../../../tests/support/needs.ts';
import { commandLine, processesWith } from '../../../tests/support/processes.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import type { WorkerOptions } from '../worker-options.ts';

// A sandbox has its own /tmp, which would hide a home directory in the usual one.
const originalTmpDir = process.env.TMPDIR;
const size = 128 * 1_048_576;
const web = createHttpServer((request, response) => {
  if (request.url !== '/huge') return void response.end(`hello ${request.headers.host}${request.url}\n`);
  const chunk = Buffer.alloc(1_048_576, 120);
  let left = size;
  const pour = () => {
    while (left > 0) {
      left -= chunk.length;
      if (!response.write(chunk)) return void response.once('drain', pour);
    }
    response.end();
  };
  pour();
});
let site = '';
let port = 0;
beforeAll(async () => {
  process.env.TMPDIR = '/var/tmp';
  await listen(web, { host: '127.0.0.1', port: 0 });
  port = (web.address() as AddressInfo).port;
  site = `localhost:${port}`;
});
afterAll(async () => {
  process.env.TMPDIR = originalTmpDir ?? '/tmp';
  web.closeAllConnections();
  await close(web);
});

let here: TestWorker;
let project = '';
const make = (options: Partial<WorkerOptions>) => {
  here = createTestWorker({
    highestLevel: 'namespace',
    supervisionRequire: 'namespace',
    networkAllow: [`allowed.${site}`, `*.wild.${site}`],
    ...options,
  });
  project = join(here.folder, 'project');
  mkdirSync(project);
};
// Node inside the sandbox; `HOME` distinguishes this worker from other test runs.
const bridges = () =>
  processesWith(`HOME=${here.folder}`).filter((pid) => commandLine(pid).startsWith('/run/nacre/node'));
beforeEach(async (context) => {
  here = createTestWorker();
  needPrograms(context, 'curl');
  await needLevel(context, 'namespace');
});
afterEach(() => here.close());
const run = (script: string) => here.run(script, { cwd: project });
const listen = (server: Server, where: ListenOptions) =>
  new Promise<void>((resolve) => server.listen(where, resolve));
const close = (server: Server) => new Promise((resolve) => server.close(resolve));

describe.each(['workspace', 'strict'] as const)('in the sandbox %s with listed hosts', (sandbox) => {
  beforeEach(() => make({ sandbox }));

  test('ordinary programs reach them, and the result reports a filtered network', async () => {
    const { stdout, state } = await run(
      `curl -sS http://allowed.${site}/plain; curl -sS -p http://allowed.${site}/tunnel; curl -sS http://a.b.wild.${site}/`,
    );
    expect(stdout).toBe(
      `hello allowed.${site}/plain\nhello allowed.${site}/tunnel\nhello a.b.wild.${site}/\n`,
    );
    expect(state.enforcement).toMatchObject({ network: 'filtered', sandbox });
    expect(state.end).toMatchObject({ deniedHosts: [], leftRunning: [], exitCode: 0 });
  });

  test('any other host is refused, and the result names it although the command succeeds', async () => {
    const { stdout, state } = await run(
      `curl -s http://denied.${site}/; curl -s -p http://wild.${site}/; curl -s http://allowed.localhost:1/; curl -s http://127.0.0.2:${port}/; exit 0`,
    );
    expect(stdout).toContain(`denied.${site} is not allowed: nacre's setting network_allow does not list it`);
    expect(stdout).not.toContain('hello');
    expect(state.end).toMatchObject({
      exitCode: 0,
      deniedHosts: [`denied.${site}`, `wild.${site}`, 'allowed.localhost:1', `127.0.0.2:${port}`],
    });
    expect((await run('true')).state.end?.deniedHosts).toEqual([]);
  });

  test('the proxy is the only way out: no TCP, no UDP, no Unix socket of the machine', async () => {
    const received: string[] = [];
    const udp = createSocket('udp4', (message) => received.push(String(message)));
    await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
    const createLeak = () => createServer((socket) => socket.on('error', () => {}).end('leak'));
    const [byPath, inWorkspace, abstract] = [createLeak(), createLeak(), createLeak()];
    const path = join('/var/tmp', `nacre-test-${process.pid}.sock`);
    await listen(byPath, { path });
    await listen(inWorkspace, { path: join(project, 'own.sock') });
    await listen(abstract, { path: `\0nacre-test-${process.pid}` });
    const { stdout, stderr } = await run(`
      exec 2> /dev/null
      cat < /dev/tcp/127.0.0.1/${port}; echo x > /dev/udp/127.0.0.1/${udp.address().port}
      try() { curl -s --max-time 2 "$@" http://x/ > /dev/null; echo "$1 $?"; }
      try --unix-socket ${path}; try --unix-socket own.sock; try --abstract-unix-socket nacre-test-${process.pid}
      grep -c nacre /proc/net/unix; tail -n +3 /proc/net/dev | cut -d: -f1
    `);
    expect(stderr).toBe('');
    expect(stdout.split('\n').map((line) => line.trim())).toEqual([
      ...['--unix-socket 7', '--unix-socket 7', '--abstract-unix-socket 7', '0', 'lo', ''],
    ]);
    expect(received).toEqual([]);
    udp.close();
    await Promise.all([byPath, inWorkspace, abstract].map(close));
    rmSync(path, { force: true });
  });

  test('the command can neither see nor use the bridge', async () => {
    const { stdout, state } = await run(
      'set -- /proc/[0-9]*; echo $#; readlink /proc/$$/fd/* | grep socket; env | grep NODE_CHANNEL; ps -eo comm | grep node; sleep 60 & echo done',
    );
    // The namespace init process, the keeper and the shell.
    expect(stdout).toBe('3\ndone\n');
    expect(state.end?.leftRunning).toMatchObject([{ command: 'sleep 60' }]);
    // A warm shell for the next command may still be starting.
    await expect.poll(bridges).toEqual([]);
  });
});

describe('a filtered network', () => {
  test('forwards a large transfer without buffering it', async () => {
    make({ sandbox: 'workspace' });
    await run(`curl -sS http://allowed.${site}/huge | wc -c`);
    const before = process.memoryUsage().rss;
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 10);
    const { stdout } = await run(
      `curl -sS http://allowed.${site}/huge | wc -c; curl -sS -p http://allowed.${site}/huge | wc -c`,
    );
    clearInterval(timer);
    expect(stdout).toBe(`${size}\n${size}\n`);
    expect(most - before).toBeLessThan(size / 2);
  });

  test('closes open connections when its command ends', async () => {
    make({ sandbox: 'workspace' });
    const id = await here.start(`curl -sS --limit-rate 1k http://allowed.${site}/huge > /dev/null`, {
      cwd: project,
    });
    await expect.poll(() => connections(web)).toBeGreaterThan(0);
    await here.worker.stop(id, { signal: 'SIGKILL', graceMs: 0 });
    await expect.poll(() => connections(web)).toBe(0);
  });

  test('works for scripts that are too long for an argument, and for commands without a shell', async () => {
    make({ sandbox: 'workspace' });
    const long = await run(
      `# ${'x'.repeat(10_000)}\ncurl -sS http://allowed.${site}/long; readlink /proc/self/fd/5`,
    );
    expect(long.stdout).toBe(`hello allowed.${site}/long\n`);
    const argv = ['curl', '-sS', `http://allowed.${site}/argv`] as const;
    const { stdout } = await here.run('', { cwd: project, command: { kind: 'argv', argv } });
    expect(stdout).toBe(`hello allowed.${site}/argv\n`);
  });

  test('replaces a proxy that the server itself uses', async () => {
    const environment = {
      PATH: '/usr/bin:/bin',
      https_proxy: 'http://192.0.2.1:1',
      NO_PROXY: '*',
      NODE_OPTIONS: '--nonsense',
    };
    make({ sandbox: 'workspace', environment });
    const { stdout } = await run(
      `echo "$https_proxy|$NO_PROXY|$NODE_OPTIONS"; curl -sS http://allowed.${site}/`,
    );
    expect(stdout).toBe(`http://127.0.0.1:3128|127.0.0.1,::1|--nonsense\nhello allowed.${site}/\n`);
  });

  test('is off if the list is empty, and unfiltered if the settings turn the network on', async () => {
    make({ sandbox: 'workspace', networkAllow: [] });
    expect((await run('echo "$http_proxy"')).state.enforcement).toMatchObject({ network: 'off' });
    await here.close();
    make({ sandbox: 'workspace', network: 'on' });
    const { stdout, state } = await run(`echo "<$http_proxy>"; curl -sS http://127.0.0.1:${port}/`);
    expect(stdout).toBe(`<>\nhello 127.0.0.1:${port}/\n`);
    expect(state.enforcement).toMatchObject({ network: 'on' });
  });

  test('is the same in a stricter sandbox that one command requests', async () => {
    make({ sandbox: 'workspace' });
    const { stdout, state } = await here.run(`curl -s http://allowed.${site}/`, {
      cwd: project,
      isolation: { sandbox: 'strict' },
    });
    expect(stdout).toContain('hello');
    expect(state.enforcement).toMatchObject({ sandbox: 'strict', network: 'filtered' });
  });

  test('is the same for an ordinary user', async () => {
    make({ sandbox: 'strict' });
    expect(await runChild('filtered-network')).toMatchObject({
      uid: expect.toSatisfy((uid) => uid > 0),
      stdout: 'hello\n7\n3\n',
      network: 'filtered',
      denied: ['denied.localhost:PORT'],
    });
  });

  test('is an error, and not ignored, without a sandbox', async () => {
    make({ sandbox: 'off' });
    await expect(here.start('true')).rejects.toMatchObject({
      code: 'isolation_unavailable',
      hint: expect.stringContaining('sandbox'),
    });
  });
});

function connections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
}
