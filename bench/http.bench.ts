// The HTTP door: one POST compared with `execFile`, POSTs per second, 200 concurrent POSTs, 1,000 sockets, and a slow reader.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';
import { createDeferred } from '../src/support/timing.ts';
import { interleave, median, perSecond, report } from './measure.ts';

const home = mkdtempSync(join(tmpdir(), 'nacre-bench-http-'));
const env = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  NACRE_LOGIN_ENV: 'never',
  SHELL_ALLOWLIST: '*',
  NACRE_MAX_RUNNING: '1100',
  NACRE_SPOOL_BYTES: '2GiB',
  NACRE_SPOOL_TOTAL_BYTES: '4GiB',
  EXEC_TIMEOUT_MS: '600000',
};

interface Server {
  readonly child: ChildProcess;
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function start(): Promise<Server> {
  const child = spawn(process.execPath, ['dist/cli.js', 'serve', '--port', '0', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(child.stdout, 'data');
  const { address, token } = JSON.parse(String(line));
  return {
    child,
    address,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
  };
}

const agent = new Agent({ keepAlive: true });

// `http.request`, because `fetch` would add its own overhead to the measurement.
function post({ address, headers }: Server, command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${address}/api/shell`, { method: 'POST', headers, agent }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ command, args }));
  });
}

async function connect({ address, headers }: Server): Promise<WebSocket> {
  const socket = new WebSocket(`${address.replace('http', 'ws')}/api/shell/stream`, { headers });
  await once(socket, 'open');
  return socket;
}

function memoryMb({ child }: Server): number {
  const [, kilobytes = '0'] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

async function measurePost(server: Server): Promise<void> {
  const run = promisify(execFile);
  const times = await interleave(
    60,
    { execFile: () => run('git', ['--version']), post: () => post(server, 'git', ['--version']) },
    15,
  );
  report(
    'POST of git --version compared with execFile',
    median(times.post) / median(times.execFile),
    1.3,
    'times',
  );
}

async function measureSustained(server: Server): Promise<void> {
  const rate = await perSecond(() => post(server, 'true', []), { count: 1_000, atOnce: 16 });
  report('POSTs of true per second, 16 at once', rate, 500, 'per second', true);
}

async function measureMany(server: Server): Promise<void> {
  const statuses = await Promise.all(Array.from({ length: 200 }, () => post(server, 'true', [])));
  report(
    'failures of 200 concurrent POSTs',
    statuses.filter((status) => status !== 200).length,
    0,
    'responses',
  );
}

/** Every command is a `cat` that waits for EOF until all of them run, so that all run at the same time. */
async function measureSockets(server: Server): Promise<void> {
  const wanted = 1_000;
  const sockets: WebSocket[] = [];
  for (let count = 0; count < wanted; count += 1) sockets.push(await connect(server));
  let running = 0;
  let most = 0;
  const allRunning = createDeferred<void>();
  const ended = sockets.map(
    (socket, index) =>
      new Promise<boolean>((resolve) => {
        const id = String(index);
        socket.on('message', (data) => {
          const { type, code } = JSON.parse(String(data));
          if (type === 'shell.start') {
            running += 1;
            most = Math.max(most, running);
            if (running === wanted) allRunning.resolve();
            allRunning.promise.then(() =>
              socket.send(JSON.stringify({ type: 'shell.stdin', id, eof: true })),
            );
          }
          if (type === 'shell.exit') running -= 1;
          if (type === 'shell.error') allRunning.resolve();
          if (type === 'shell.exit' || type === 'shell.error') resolve(code === 0);
        });
        socket.send(JSON.stringify({ type: 'shell.run', id, command: 'cat' }));
      }),
  );
  const good = (await Promise.all(ended)).filter(Boolean).length;
  for (const socket of sockets) socket.terminate();
  report('commands running at the same time, one per socket', most, wanted, 'commands', true);
  report('of these, exited with 0', good, wanted, 'commands', true);
}

async function measureSlowReader(server: Server): Promise<void> {
  const idle = memoryMb(server);
  const socket = await connect(server);
  const wanted = 1_073_741_824;
  let most = 0;
  let seen = 0;
  const done = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type === 'shell.stdout') seen += message.data.length;
      if (message.type === 'shell.exit') resolve();
      // Pause every 16 MiB, so that the reader is much slower than the command.
      if (message.type === 'shell.stdout' && seen % 16_777_216 < message.data.length) {
        socket.pause();
        setTimeout(() => socket.resume(), 100);
      }
    });
  });
  const sampler = setInterval(() => {
    most = Math.max(most, memoryMb(server) - idle);
  }, 50);
  const script = `head -c ${wanted} /dev/zero | tr '\\0' a`;
  socket.send(JSON.stringify({ type: 'shell.run', id: 'a', command: 'bash', args: ['-c', script] }));
  await done;
  clearInterval(sampler);
  socket.terminate();
  report('bytes of 1 GiB that a slow reader received', seen, wanted, 'bytes', true);
  report('memory above idle meanwhile', most, 80, 'MB');
}

const server = await start();
try {
  await measurePost(server);
  await measureSustained(server);
  await measureMany(server);
  await measureSlowReader(server);
  await measureSockets(server);
} finally {
  agent.destroy();
  server.child.kill('SIGTERM');
  await once(server.child, 'exit');
  rmSync(home, { recursive: true, force: true });
}
