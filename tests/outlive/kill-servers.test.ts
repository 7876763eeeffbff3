// Servers are killed while their commands write numbered lines; every byte, exit code and shell must be found again.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sleep } from '../../src/support/timing.ts';
import { endWorkers } from '../../src/worker/host/end-workers.ts';
import { builtCli } from '../support/build.ts';
import { processesWith } from '../support/processes.ts';
import { soakCount } from '../support/soak.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder = '';
const servers: ChildProcess[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const child of servers.splice(0)) child.kill('SIGKILL');
  await endWorkers(join(folder, 'state'));
});

const mark = () => `OUTLIVE_TEST=${folder}`;
const environment = () => ({
  ...{ PATH: process.env.PATH ?? '', HOME: folder, OUTLIVE_TEST: folder },
  ...{ NACRE_STATE_DIR: join(folder, 'state'), ALLOWED_COMMANDS: '*' },
  NACRE_TOOLS: 'terminal,bash',
});

type Reply = { readonly instructions?: string; readonly content?: readonly { readonly text: string }[] };

async function open(client = 'tester') {
  const child = spawn(process.execPath, [builtCli, 'mcp'], {
    ...{ cwd: folder, env: environment(), stdio: ['pipe', 'pipe', 'ignore'] },
  });
  servers.push(child);
  const waiting = new Map<number, (reply: Reply) => void>();
  let count = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line);
    waiting.get(id)?.(result ?? error);
  });
  const request = (method: string, params: unknown) =>
    new Promise<Reply>((resolve) => {
      count += 1;
      waiting.set(count, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: count, method, params })}\n`);
    });
  const { instructions = '' } = await request('initialize', {
    ...{ protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: client, version: '1' } },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return {
    instructions,
    async call(name: string, args: Readonly<Record<string, unknown>>) {
      const { content = [] } = await request('tools/call', { name, arguments: args });
      return content.map(({ text }) => text).join('\n');
    },
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

const nacre = (...words: readonly string[]) =>
  execFileSync(process.execPath, [builtCli, ...words], {
    cwd: folder,
    env: environment(),
    encoding: 'utf8',
    maxBuffer: 67_108_864,
  });

test('commands and shells survive killed servers with every byte and their exit codes', {
  timeout: 600_000,
}, async () => {
  const rounds = soakCount(8, 2);
  const first = await open();
  // It counts until the file `enough` exists.
  const script = 'i=0; while [ ! -e enough ]; do i=$((i+1)); echo "line $i"; sleep 0.005; done; exit 7';
  await first.call('start_command', { command: script, name: 'counter' });
  await first.call('start_command', { command: `seq 1 200000; exit 3`, name: 'burst' });
  await first.call('Bash', { command: 'cd /; value=42; show() { echo "value $value"; }; sleep 300 &' });
  await first.kill();
  for (let round = 0; round < rounds; round += 1) {
    await sleep(Math.random() * 400);
    const next = await open();
    expect(await next.call('list_commands', {})).toMatch(/"counter".*running/);
    expect(await next.call('Bash', { command: 'show; pwd; jobs | grep -c sleep' })).toContain(
      'value 42\n/\n1',
    );
    await next.kill();
  }
  // On a busy machine the instructions may have to be sent before the worker has answered.
  const instructions = async () => {
    const next = await open();
    await next.kill();
    return next.instructions;
  };
  await expect
    .poll(instructions, { timeout: 200_000, interval: 100 })
    .toMatch(/1 command of an earlier connection still runs: counter\./);
  writeFileSync(join(folder, 'enough'), '');
  const stranger = await open('somebody-else');
  expect(await stranger.call('list_commands', {})).toContain('commands: []');
  await stranger.kill();
  const last = await open();
  await expect
    .poll(() => last.call('list_commands', {}), { timeout: 400_000, interval: 500 })
    .toMatch(/"counter".*exit_code: 7/);
  expect(await last.call('list_commands', {})).toMatch(/"burst".*exit_code: 3/);
  await last.kill();
  const expected = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index + 1}\n`).join('');
  const counted = nacre('logs', 'counter');
  expect(counted).toBe(expected(counted.split('\n').length - 1, 'line '));
  expect(counted.length).toBeGreaterThan(1_000);
  expect(nacre('logs', 'burst')).toBe(expected(200_000, ''));
  expect(nacre('ps')).toContain('counter');
  expect(nacre('shutdown')).toContain('Ended the worker');
  expect(processesWith(mark())).toEqual([]);
});

test('nacre stop ends a kept command without a server, and its folder says how', {
  timeout: 120_000,
}, async () => {
  const server = await open();
  await server.call('start_command', { command: 'sleep 300', name: 'kept' });
  await server.kill();
  expect(nacre('audit', 'verify')).toMatch(/still run and will be recorded: cmd_\w+\.[\s\S]*Intact/);
  expect(nacre('stop', 'kept')).toContain('killed');
  expect(nacre('audit', 'verify')).toMatch(/have ended, which is recorded when .*: cmd_\w+\.[\s\S]*Intact/);
  const root = join(folder, 'state', 'worker', 'protocol-1');
  const names = readdirSync(root).filter((name) => name.startsWith('worker-'));
  const ends = names.flatMap((name) =>
    readdirSync(join(root, name, 'jobs')).map((id) => join(root, name, 'jobs', id, 'end')),
  );
  expect(ends.map((end) => JSON.parse(readFileSync(end, 'utf8')).end.cause)).toEqual(['stopped']);
  const next = await open();
  expect(await next.call('list_commands', {})).toMatch(/"kept".*killed/);
  await expect
    .poll(() => nacre('audit', 'export'), { timeout: 20_000 })
    .toMatch(/"kind":"finished".*"end_record":/);
  await next.kill();
  expect(nacre('audit', 'verify')).not.toContain('without a recorded end');
});
