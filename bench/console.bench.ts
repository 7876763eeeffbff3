// The console in the distribution's Chromium: first paint, size, scrolling, following, search, memory, and the cost of observers.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type CDPSession, chromium, type Page } from 'playwright-core';
import { WebSocket } from 'ws';
import { fromOutputFrame } from '../src/contract/console.ts';

const home = mkdtempSync(join(tmpdir(), 'nacre-bench-console-'));
const env = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  NACRE_LOGIN_ENV: 'never',
  SHELL_ALLOWLIST: '*',
  NACRE_SPOOL_BYTES: '2GiB',
  NACRE_SPOOL_TOTAL_BYTES: '4GiB',
  EXEC_TIMEOUT_MS: '600000',
  // `follow` prints 100 MB; with the usual limit its command would be killed after one second.
  EXEC_MAX_BUFFER_BYTES: '134217728',
};
const rows: [string, string, string][] = [];

interface Greeting {
  readonly address: string;
  readonly token: string;
  readonly link: string;
}

async function start(): Promise<{ readonly child: ChildProcess; readonly greeting: Greeting }> {
  const args = [resolve('dist/cli.js'), 'serve', '--port', '0', '--json'];
  const child = spawn(process.execPath, args, { env, cwd: home, stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  return { child, greeting: JSON.parse(String(line)) };
}

const bearer = ({ token }: Greeting) => ({
  Authorization: `Bearer ${token}`,
  'Content-Type': 'application/json',
});

async function run(greeting: Greeting, script: string): Promise<number> {
  const before = performance.now();
  const body = JSON.stringify({ command: 'bash', args: ['-c', script] });
  await (
    await fetch(`${greeting.address}/api/shell`, { method: 'POST', headers: bearer(greeting), body })
  ).text();
  return performance.now() - before;
}

async function idOf(greeting: Greeting, words: string): Promise<string> {
  for (;;) {
    const reply = await fetch(`${greeting.address}/api/commands?q=${encodeURIComponent(words)}`, {
      headers: bearer(greeting),
    });
    const { commands } = (await reply.json()) as { commands: { id: string }[] };
    if (commands[0]) return commands[0].id;
  }
}

const measureFrames = (action: string, ms: number) => `new Promise((done) => {
  const log = document.querySelector('.log');
  const frames = [];
  const begin = performance.now();
  let last = begin;
  const step = (now) => {
    frames.push(now - last);
    last = now;
    ${action}
    if (now - begin < ${ms}) requestAnimationFrame(step);
    else done({ fps: frames.length / ((now - begin) / 1000), p99: frames.sort((a, b) => a - b)[Math.floor(frames.length * 0.99)] });
  };
  requestAnimationFrame(step);
})`;

interface Frames {
  readonly fps: number;
  readonly p99: number;
}

const showFrames = ({ fps, p99 }: Frames) => `${fps.toFixed(1)} fps, p99 ${p99.toFixed(1)} ms`;

async function pageFigures(greeting: Greeting, page: Page): Promise<void> {
  const gz = readdirSync('dist/console').filter((name) => name.endsWith('.js.gz'));
  const bytes = gz.reduce((sum, name) => sum + statSync(join('dist/console', name)).size, 0);
  rows.push(['script, gzip', '100 KB', `${(bytes / 1_000).toFixed(1)} KB`]);
  await page.goto(greeting.link);
  await page.getByRole('button', { name: 'Open nacre' }).click();
  await page.locator('nav.rail').waitFor();
  await page.goto(`${greeting.address}/`);
  await page.locator('nav.rail').waitFor();
  const paint = await page.evaluate(
    "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0",
  );
  rows.push(['first paint', '300 ms', `${Number(paint).toFixed(0)} ms`]);

  await run(greeting, 'seq 1 100000 | sed "s/$/ a line of the usual length in an output/"');
  await page.goto(`${greeting.address}/commands/${await idOf(greeting, 'seq 1 100000')}`);
  await page.getByText('100,000 lines').first().waitFor({ timeout: 60_000 });
  const scrolled = (await page.evaluate(measureFrames('log.scrollTop += 300;', 4_000))) as Frames;
  rows.push(['100,000 lines, scrolled', '60 fps', showFrames(scrolled)]);
}

async function search(greeting: Greeting, page: Page): Promise<void> {
  await run(greeting, 'seq 1 1000000; echo needle');
  await page.goto(`${greeting.address}/commands/${await idOf(greeting, 'seq 1 1000000')}`);
  await page.getByText('1,000,001 lines').first().waitFor({ timeout: 60_000 });
  await page.waitForTimeout(2_000);
  const took = await page.evaluate(`new Promise((done) => {
    const field = document.getElementById('find');
    const hits = document.querySelector('.hits');
    const begin = performance.now();
    const look = () => (hits.textContent === '1' ? done(performance.now() - begin) : setTimeout(look, 1));
    field.value = 'needle';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    look();
  })`);
  rows.push(['search in 1,000,000 lines', '150 ms', `${Number(took).toFixed(0)} ms`]);
  const jumped = await page.evaluate(`new Promise((done) => {
    const log = document.querySelector('.log');
    const begin = performance.now();
    const isThere = () => [...log.querySelectorAll('.ln:not(.none)')].some((row) => {
      const [number, text] = [row.querySelector('.no').textContent, row.querySelector('.tx').textContent];
      return number === text && Math.abs(Number(number) - 400_000) < 2_000;
    });
    const look = () => (isThere() ? done(performance.now() - begin) : setTimeout(look, 1));
    log.scrollTop = log.scrollHeight * 0.4;
    look();
  })`);
  rows.push(['  jump to line 400,000', '100 ms', `${Number(jumped).toFixed(0)} ms`]);
}

const busySeconds = async (session: CDPSession) =>
  (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')?.value ??
  0;

async function measureHeap(session: CDPSession): Promise<string> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return `${(usedSize / 1e6).toFixed(1)} MB`;
}

const watchTasks = `globalThis.longest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
}).observe({ type: 'longtask' })`;

async function follow(greeting: Greeting, page: Page): Promise<void> {
  const line = 'x'.repeat(99);
  const script = `yes ${line} | head -c 1000000 > piece; for i in $(seq 1 100); do cat piece; sleep 0.07; done; sleep 4`;
  const call = run(greeting, script);
  await page.goto(`${greeting.address}/commands/${await idOf(greeting, 'head -c 1000000')}`);
  await page.locator('.log .ln').first().waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const lines = async () => Number((await page.locator('.live .nums b').innerText()).replaceAll(',', ''));
  await page.evaluate(watchTasks);
  const [before, linesBefore] = [await busySeconds(session), await lines()];
  const followed = (await page.evaluate(measureFrames('', 5_000))) as Frames;
  // Each line has 100 bytes.
  const rate = ((await lines()) - linesBefore) / 10_000 / 5;
  rows.push(['10 MB/s followed', '55 fps', showFrames(followed)]);
  rows.push(['  arrived', '10 MB/s', `${rate.toFixed(1)} MB/s`]);
  rows.push(['  main thread', '50 %', `${(((await busySeconds(session)) - before) * 20).toFixed(0)} %`]);
  rows.push(['  longest task', '50 ms', `${Number(await page.evaluate('longest')).toFixed(0)} ms`]);
  rows.push(['  heap of the page', '10 MB', await measureHeap(session)]);
  await call.catch(() => {});
}

async function observers(greeting: Greeting): Promise<void> {
  // 1 MB/s.
  const script = 'for i in $(seq 1 40); do head -c 50000 /dev/zero | tr "\\\\0" x; sleep 0.045; done';
  const alone: number[] = [];
  const watched: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    alone.push(await run(greeting, `${script}; # alone ${round}`));
    const call = run(greeting, `${script}; # watched ${round}`);
    const id = await idOf(greeting, `watched ${round}`);
    const sockets = await Promise.all([0, 1].map(() => openObservers(greeting, id)));
    watched.push(await call);
    for (const socket of sockets) socket.terminate();
  }
  const middle = (values: number[]) => values.sort((a, b) => a - b)[2] ?? 0;
  const cost = (middle(watched) / middle(alone) - 1) * 100;
  rows.push(['50 observers of a command', '3 %', `${cost.toFixed(1)} %`]);
}

async function openObservers({ address, token }: Greeting, id: string): Promise<WebSocket> {
  const socket = new WebSocket(`${address.replace('http', 'ws')}/api/console`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  socket.on('message', (data, isBinary) => {
    const frame = isBinary ? fromOutputFrame(data as Buffer) : undefined;
    if (frame) socket.send(JSON.stringify({ type: 'ack', channel: frame.channel, cursor: frame.cursor }));
  });
  await once(socket, 'open');
  for (let channel = 0; channel < 25; channel += 1)
    socket.send(JSON.stringify({ type: 'open', channel, command: id, from: 0, mode: 'all' }));
  return socket;
}

// A day of another server: its records appear in the audit folder while the page is open.
async function events(greeting: Greeting, page: Page): Promise<void> {
  await page.goto(`${greeting.address}/commands`);
  await page.locator('.rows-list').waitFor();
  const dir = join(home, '.local/state/nacre/audit');
  mkdirSync(dir, { recursive: true });
  const day = new Date().toISOString().slice(0, 10);
  const file = join(dir, `${day}_999999_0123456789ab.jsonl`);
  for (let part = 0; part < 50; part += 1) {
    const lines = Array.from({ length: 4_000 }, (_, index) => {
      const number = part * 1_000 + Math.floor(index / 4);
      const kind = ['asked', 'decided', 'started', 'finished'][index % 4];
      const common = {
        seq: part * 4_000 + index,
        time: new Date().toISOString(),
        kind,
        id: `cmd_${number.toString(16).padStart(12, '0')}`,
        door: 'mcp',
        client: 'bench',
      };
      const more = {
        command: `echo ${number}`,
        cwd: '/',
        verdict: 'allow',
        rule: 'listed',
        programs: ['echo'],
        status: 'completed',
        exit_code: 0,
        duration_ms: 5,
      };
      return `${JSON.stringify({ ...common, ...more })}\n`;
    });
    writeFileSync(file, lines.join(''), { flag: 'a' });
    await page.waitForTimeout(100);
  }
  await page.waitForTimeout(3_000);
  const session = await page.context().newCDPSession(page);
  rows.push(['heap after 200,000 events', '60 MB', await measureHeap(session)]);
}

// Commands of a server that is this process, so the console takes them for running ones.
async function liveCommands(greeting: Greeting, page: Page): Promise<void> {
  const dir = join(home, '.local/state/nacre/audit');
  mkdirSync(dir, { recursive: true });
  const time = new Date().toISOString();
  const lines = Array.from({ length: 200 }, (_, index) => {
    const common = { time, id: `cmd_live${String(index).padStart(8, '0')}`, door: 'mcp', client: 'bench' };
    return ['asked', 'started']
      .map((kind, part) => ({ seq: index * 2 + part, ...common, kind, command: `sleep ${index}`, cwd: '/' }))
      .map((record) => `${JSON.stringify(record)}\n`)
      .join('');
  });
  const file = join(dir, `${time.slice(0, 10)}_${process.pid}_0123456789ab.jsonl`);
  writeFileSync(file, lines.join(''));
  for (const [name, path, row] of [
    ['200 commands run, a tick', '/', '.running-row'],
    ['  the same on the page Commands', '/commands', '.row'],
  ] as const) {
    await page.goto(`${greeting.address}${path}`);
    await page.locator(row).nth(99).waitFor();
    await page.waitForTimeout(1_000);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    const before = await busySeconds(session);
    await page.waitForTimeout(5_000);
    const perTick = (((await busySeconds(session)) - before) / 5) * 1_000;
    rows.push([name, '10 ms', `${perTick.toFixed(1)} ms`]);
  }
  rmSync(file);
}

const { child, greeting } = await start();
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await pageFigures(greeting, page);
  await search(greeting, page);
  await follow(greeting, page);
  await liveCommands(greeting, page);
  await events(greeting, page);
  await page.close();
  await observers(greeting);
} finally {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  console.log(`\nconsole${' '.repeat((widths[0] ?? 0) - 7)}  ${'bar'.padEnd(widths[1] ?? 0)}  measured`);
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  await browser.close();
  child.kill('SIGTERM');
  await once(child, 'exit');
  rmSync(home, { recursive: true, force: true });
}
