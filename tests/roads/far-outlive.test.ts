// Commands on other machines that outlive their server, at the doors. A stand-in for ssh runs everything on this machine.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createStopwatch } from '../../src/support/timing.ts';
import { createStandIns } from '../support/machines.ts';
import { createOutliveHome, type OutliveClient } from '../support/outlive.ts';

const slow = { timeout: 120_000 };

const userFile = 'danger: off\nmachines: { h1: { ssh: h1 }, h2: { ssh: h2 } }\n';

const killAll = (pids: readonly number[]) => {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended with its parent.
    }
  }
};

const begin = () => {
  const machines = createStandIns(['h1', 'h2']);
  // Runs after the servers have been killed, since functions of `onTestFinished` run in reverse order.
  onTestFinished(async () => {
    killAll(machines.processes('h1'));
    await expect.poll(() => machines.processes('h1'), { timeout: 20_000 }).toEqual([]);
  });
  const home = createOutliveHome({ userFile, env: { PATH: machines.path } });
  return { machines, home };
};

const startSlowly = async (client: OutliveClient, name = 'far') => {
  const command = 'for i in $(seq 1 300); do echo line $i; sleep 0.02; done; exit 7';
  const { structured } = await client.use('start_command', { command, name, on: 'h1', wait_for: 'line 3' });
  expect(structured.stdout).toMatch(/^line 1\nline 2\n/);
  return String(structured.command_id);
};

const all = Array.from({ length: 300 }, (_, at) => `line ${at + 1}\n`).join('');

// A later server does not know what the client has read, so it shows all output again.
const readToEnd = async (client: OutliveClient, name: string) => {
  let text = '';
  for (;;) {
    const { structured } = await client.use('read_output', {
      ...{ command_id: name, wait_ms: 10_000, max_output_chars: 100_000 },
    });
    text += String(structured.stdout ?? '');
    if (structured.exit_code !== null && structured.exit_code !== undefined)
      return { text, code: structured.exit_code, status: structured.status };
    if (structured.status === 'lost') return { text, code: null, status: 'lost' };
  }
};

const statusOf = async (client: OutliveClient, id: string) => {
  const { structured } = await client.use('list_commands', {});
  const commands = structured.commands as readonly Record<string, unknown>[];
  return commands.find((one) => one.command_id === id)?.status;
};

test.each(['killed', 'closed'])(
  'a later server reattaches to a command on another machine whose server was %s',
  slow,
  async (how) => {
    const { home } = begin();
    const first = await home.open();
    const id = await startSlowly(first);
    await (how === 'killed' ? first.kill() : first.leave());
    const second = await home.open();
    expect(second.instructions).toContain('1 command of an earlier connection still runs: far');
    expect(await statusOf(second, id)).toBe('running');
    expect(await readToEnd(second, 'far')).toMatchObject({ text: all, code: 7 });
    await second.leave();
    const audit = join(home.state, 'audit');
    const text = readdirSync(audit)
      .map((name) => readFileSync(join(audit, name), 'utf8'))
      .join('');
    const ends = text.split('\n').filter((line) => line.includes('"kind":"finished"') && line.includes(id));
    expect(ends).toHaveLength(1);
  },
);

test(
  'while its machine cannot be reached, the command is unreachable, and is taken up afterwards',
  slow,
  async () => {
    const { home, machines } = begin();
    const first = await home.open();
    const id = await startSlowly(first);
    machines.cut('h1');
    await first.kill();
    const second = await home.open();
    const elapsed = createStopwatch();
    expect(await statusOf(second, id)).toBe('unreachable');
    expect(elapsed()).toBeLessThan(10_000);
    expect((await second.use('execute_command', { command: 'echo 2', on: 'h2' })).text).toContain('2');
    expect(await home.nacre('ps')).toMatch(/far +h1 +unreachable/);
    machines.heal('h1');
    expect(await readToEnd(second, 'far')).toMatchObject({ text: all, code: 7 });
    await second.leave();
  },
);

test('the local user sees, reads and stops commands of dead servers on other machines', slow, async () => {
  const { home, machines } = begin();
  const first = await home.open();
  await startSlowly(first, 'one');
  await first.use('start_command', { command: 'echo up; sleep 600', name: 'two', on: 'h1', wait_ms: 0 });
  await first.kill();
  machines.cut('h1');
  expect(await home.nacre('ps')).toMatch(/two +h1 +unreachable/);
  machines.heal('h1');
  expect(await home.nacre('ps')).toMatch(/one +h1 +(?:running|failed)[\s\S]*two +h1 +running/);
  expect(await home.nacre('logs', 'two')).toContain('up');
  await home.nacre('stop', 'two');
  expect(await home.nacre('ps')).toMatch(/two +h1 +killed/);
  const second = await home.open();
  expect(await readToEnd(second, 'one')).toMatchObject({ text: all, code: 7 });
  await second.leave();
});

test('a persistent shell on another machine is the same for a later server', slow, async () => {
  const { home } = begin();
  const first = await home.open();
  await first.call('Bash', { command: 'x=far; cd /', on: 'h1' });
  await first.kill();
  const second = await home.open();
  expect(await second.call('Bash', { command: 'echo $x $PWD', on: 'h1' })).toContain('far /');
  await second.leave();
  const third = await home.open();
  expect(await third.call('Bash', { command: 'echo $x $PWD', on: 'h1' })).toContain('far /');
  await third.call('KillShell', { shell_id: 'main@h1' });
  expect(await third.call('Bash', { command: 'echo "[$x]"', on: 'h1' })).toContain('[]');
  await third.leave();
});

test('a command that its machine has forgotten is lost, and no code is guessed', slow, async () => {
  const { home, machines } = begin();
  const first = await home.open();
  const id = await startSlowly(first);
  await first.kill();
  killAll(machines.processes('h1'));
  rmSync(join(machines.home('h1'), '.cache/nacre/workers'), { recursive: true, force: true });
  const second = await home.open();
  expect(await readToEnd(second, 'far')).toMatchObject({ status: 'lost', code: null });
  expect(await second.call('read_output', { command_id: id })).toContain(
    'no longer has a record of the command',
  );
  await second.leave();
});

test(
  'another installation with the same user, folder and client does not get the commands',
  slow,
  async () => {
    const { home, machines } = begin();
    const first = await home.open();
    const id = await startSlowly(first);
    await first.kill();
    const other = createOutliveHome({
      folder: home.folder,
      env: { PATH: machines.path, NACRE_STATE_DIR: join(home.folder, 'other') },
    });
    const stranger = await other.open();
    await stranger.use('execute_command', { command: 'true', on: 'h1' });
    expect(await statusOf(stranger, id)).toBeUndefined();
    await stranger.leave();
    const second = await home.open();
    expect(await readToEnd(second, 'far')).toMatchObject({ text: all, code: 7 });
    await second.leave();
  },
);

test.each(['h1', 'local'])(
  'a secret that was typed on %s is hidden from the readers of a later server',
  slow,
  async (on) => {
    const { home } = begin();
    const first = await home.open();
    const secret = 'correct-horse-battery';
    await first.use('start_command', {
      command: 'read x; echo "got $x"; sleep 600',
      name: 'asks',
      on,
      wait_ms: 0,
    });
    await first.use('write_input', {
      command_id: 'asks',
      text: `${secret}\n`,
      secret: true,
      wait_for: 'got',
    });
    await first.kill();
    const second = await home.open();
    const { text, structured } = await second.use('read_output', { command_id: 'asks', wait_for: 'got' });
    expect(structured.stdout).toMatch(/^got \*+/);
    expect(text).not.toContain(secret);
    await second.use('stop_command', { command_id: 'asks' });
    await second.leave();
  },
);

test('a command that does not outlive its server leaves no record', slow, async () => {
  const { home } = begin();
  const client = await home.open();
  await client.use('execute_command', { command: 'echo hi', on: 'h1' });
  const { structured } = await client.use('start_command', { command: 'sleep 600', on: 'h1', wait_ms: 0 });
  const notes = () => readdirSync(join(home.state, 'machines')).filter((name) => name.includes('_'));
  expect(notes()).toHaveLength(1);
  await client.use('stop_command', { command_id: structured.command_id });
  await client.leave();
  const again = await home.open();
  expect(again.instructions).not.toContain('earlier connection');
  await again.leave();
});
