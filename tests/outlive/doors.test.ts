// Commands that outlive their server, at the doors that users and agents have.
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sleep } from '../../src/support/timing.ts';
import { needPty } from '../support/needs.ts';
import { createOutliveHome, type OutliveHome } from '../support/outlive.ts';

const slow = { timeout: 180_000 };
const patient = { timeout: 60_000, interval: 100 };

test('nothing survives orphan_ms, neither commands nor shells nor the worker', slow, async () => {
  const home = createOutliveHome({ env: { NACRE_ORPHAN_MS: '1000' } });
  const first = await home.open();
  await first.call('start_command', { command: 'sleep 7001', name: 'kept' });
  await first.call('Bash', { command: 'sleep 7002 & x=1' });
  await first.kill();
  await expect.poll(() => home.processes(), patient).toEqual([]);
  await expect.poll(() => home.workers(), patient).toEqual([]);
  const next = await home.open();
  expect(await next.call('list_commands', {})).toMatch(/"kept".*killed/);
  expect(await next.call('Bash', { command: 'echo "x is $x."' })).toContain('x is .');
  await next.kill();
});

test('a server that reconnects before orphan_ms keeps the command', slow, async () => {
  const home = createOutliveHome({ env: { NACRE_ORPHAN_MS: '4000' } });
  const first = await home.open();
  await first.call('start_command', { command: 'sleep 7003', name: 'kept' });
  await first.kill();
  const next = await home.open();
  expect(await next.call('list_commands', {})).toMatch(/"kept".*running/);
  await sleep(6_000);
  expect(await next.call('list_commands', {})).toMatch(/"kept".*running/);
  await next.kill();
});

test('nacre shutdown ends commands, shells and the worker without any server', slow, async () => {
  const home = createOutliveHome();
  const first = await home.open();
  await first.call('start_command', { command: 'trap "" TERM INT; sleep 7004', name: 'stubborn' });
  await first.call('Bash', { command: 'sleep 7005 &' });
  await first.kill();
  expect(await home.nacre('ps')).toMatch(/stubborn/);
  expect(await home.nacre('shutdown')).toContain('Ended the worker');
  await expect.poll(() => home.processes(), patient).toEqual([]);
  await expect.poll(() => home.workers(), patient).toEqual([]);
});

test('a terminal keeps its screen, its size and its input', slow, async (context) => {
  await needPty(context);
  const home = createOutliveHome();
  const first = await home.open();
  const script = 'printf "\\033[2J\\033[3;5Htop"; read x; printf "\\033[10;2Hgot %s" "$x"; sleep 7006';
  await first.call('start_command', { command: script, name: 'screen', pty: true, cols: 60, rows: 12 });
  await first.call('read_output', { command_id: 'screen', wait_for: 'top' });
  await first.kill();
  const next = await home.open();
  const screen = async () =>
    (await next.use('read_output', { command_id: 'screen', view: 'screen' })).structured.screen;
  await expect.poll(screen, patient).toBe('\n\n    top\n');
  await next.call('write_input', { command_id: 'screen', text: 'hello', keys: ['Enter'] });
  await expect.poll(screen, patient).toMatch(/^\n\n {4}top.*[\s\S]* got hello\n$/);
  await next.kill();
});

test('nacre attach works without any server: it shows, types and detaches', slow, async (context) => {
  await needPty(context);
  const home = createOutliveHome();
  const first = await home.open();
  await first.call('start_command', {
    ...{
      command: 'echo ready; while read x; do echo "got $x"; done',
      name: 'talk',
      pty: true,
      wait_for: 'ready',
    },
  });
  await first.kill();
  const attached = home.start(['attach', 'talk']);
  let shown = '';
  attached.stdout.on('data', (data: Buffer) => {
    shown += data.toString();
  });
  await expect.poll(() => shown, patient).toContain('ready');
  attached.stdin.write('hello\r');
  await expect.poll(() => shown, patient).toContain('got hello');
  attached.stdin.write('\x1d');
  const before = performance.now();
  await once(attached, 'exit');
  // A read of output waits for thirty seconds; detaching ends it.
  expect(performance.now() - before).toBeLessThan(20_000);
  expect(shown).toContain('keeps running');
  expect(await home.nacre('logs', 'talk')).toContain('got hello');
  expect(await home.nacre('stop', 'talk')).toContain('killed');
});

test(
  'a persistent shell keeps its directory, variables, functions, options and background jobs',
  slow,
  async () => {
    const home = createOutliveHome();
    const first = await home.open();
    await first.call('Bash', {
      command: 'cd /usr; value=42; export OUT=1; show() { echo "value $value"; }; set -u; sleep 7007 &',
    });
    await first.kill();
    const next = await home.open();
    const reply = await next.call('Bash', { command: 'pwd; show; echo "$OUT $-"; jobs -r | grep -c 7007' });
    expect(reply).toMatch(/\/usr\nvalue 42\n1 \w*u\w*\n1/);
    await next.kill();
  },
);

test(
  'after a killed worker, output is complete to the last byte on disk, and nothing survives',
  slow,
  async () => {
    const home = createOutliveHome();
    const first = await home.open();
    const script = 'seq 1 20000; echo all; sleep 7008';
    await first.call('start_command', { command: script, name: 'lost', wait_for: 'all' });
    await first.call('Bash', { command: 'sleep 7009 &' });
    const [worker] = home.workers();
    process.kill(worker?.pid ?? 0, 'SIGKILL');
    const status = () => first.call('read_output', { command_id: 'lost', cursor: 0 });
    await expect.poll(status, patient).toMatch(/status: "lost"/);
    expect(await status()).toMatch(/exit_code: null/);
    expect(await home.nacre('logs', 'lost')).toBe(
      `${Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('')}all\n`,
    );
    expect(await first.call('start_command', { command: 'echo next', name: 'next' })).toContain('next');
    expect(await first.call('Bash', { command: 'echo again' })).toContain('again');
    await expect.poll(() => countOf(home, 'sleep 700[89]'), patient).toBe(0);
    await first.kill();
  },
);

test('of two commands with the same name, the running one keeps the name', slow, async () => {
  const home = createOutliveHome();
  const first = await home.open();
  await first.call('start_command', { command: 'echo old', name: 'web', wait_ms: 10_000 });
  await first.call('start_command', { command: 'echo new; sleep 7013', name: 'web', wait_for: 'new' });
  await first.kill();
  const next = await home.open();
  const read = async () => (await next.use('read_output', { command_id: 'web', cursor: 0 })).structured;
  expect(await read()).toMatchObject({ status: 'running', stdout: 'new\n' });
  expect(await next.call('list_commands', {})).toMatch(/echo old.*\n.*name: "web".*echo new/);
  await next.kill();
});

test(
  'a command to which a server has reattached is lost when the worker is killed, and its output stays readable',
  slow,
  async () => {
    const home = createOutliveHome();
    const first = await home.open();
    await first.call('start_command', { command: 'echo begun; sleep 7012', name: 'lost', wait_for: 'begun' });
    await first.kill();
    const next = await home.open();
    expect(await next.call('list_commands', {})).toMatch(/"lost".*running/);
    process.kill(home.workers()[0]?.pid ?? 0, 'SIGKILL');
    const read = async () => (await next.use('read_output', { command_id: 'lost', cursor: 0 })).structured;
    await expect.poll(read, patient).toMatchObject({ status: 'lost', exit_code: null, stdout: 'begun\n' });
    await next.kill();
  },
);

test(
  'after a reboot, commands are lost although other processes have their pids, and their output stays readable',
  slow,
  async () => {
    const home = createOutliveHome();
    const first = await home.open();
    await first.call('start_command', { command: 'echo begun; sleep 7010', name: 'lost', wait_for: 'begun' });
    await first.kill();
    const [worker] = home.workers();
    if (!worker) throw new Error('There is no worker.');
    process.kill(worker.pid, 'SIGKILL');
    await expect.poll(() => home.processes(), patient).toEqual([]);
    const identity = join(worker.folder, 'identity');
    const before = JSON.parse(readFileSync(identity, 'utf8'));
    writeFileSync(identity, JSON.stringify({ ...before, boot: 'an-earlier-boot', pid: process.pid }));
    const next = await home.open();
    expect(await next.call('list_commands', {})).toMatch(/"lost".*lost/);
    expect(await next.call('read_output', { command_id: 'lost', cursor: 0 })).toMatch(
      /exit_code: null[\s\S]*begun|begun[\s\S]*exit_code: null/,
    );
    expect(await next.call('start_command', { command: 'echo next', name: 'next' })).toContain('next');
    await next.kill();
    expect(await home.nacre('audit', 'verify')).toContain('Intact');
  },
);

test('a command that a call waits for does not outlive its client or its server', slow, async () => {
  const home = createOutliveHome();
  for (const tool of ['execute_command', 'Bash']) {
    for (const end of ['kill', 'leave'] as const) {
      const client = await home.open();
      client.call(tool, { command: 'sleep 7011' }).catch(() => {});
      await expect.poll(() => countOf(home, 'sleep 7011'), patient).toBe(1);
      await client[end]();
      await expect.poll(() => countOf(home, 'sleep 7011'), patient).toBe(0);
    }
  }
});

test('a server that starts while the last worker ends does not wait for it', slow, async () => {
  const home = createOutliveHome();
  for (let round = 0; round < 5; round += 1) {
    const client = await home.open();
    // Its end leaves the worker with nothing to keep.
    await client.call('start_command', { command: 'true', name: `short-${round}` });
    await client.leave();
    const next = await home.open();
    const before = performance.now();
    expect(await next.call('start_command', { command: 'echo next', name: `next-${round}` })).toContain(
      'next',
    );
    // Ten seconds are the patience with a worker that does not answer.
    expect(performance.now() - before).toBeLessThan(9_000);
    await next.kill();
  }
});

function countOf({ mark }: OutliveHome, pattern: string): number {
  const wanted = new RegExp(`^${pattern}$`);
  return readdirSync('/proc').filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1).join(' ');
      return wanted.test(words) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  }).length;
}
