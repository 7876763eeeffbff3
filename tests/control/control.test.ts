import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logsDoor } from '../../src/doors/control/logs.ts';
import { psDoor } from '../../src/doors/control/ps.ts';
import { stopDoor } from '../../src/doors/control/stop.ts';
import { createDisplay } from '../../src/doors/display.ts';
import { connect } from '../support/mcp.ts';
import { collect, createPlace, runInProcess, sleep, startInProcess } from '../support/nacre.ts';
import { soakCount } from '../support/soak.ts';

type Server = Awaited<ReturnType<typeof connect>>;
let server: Server;
const serve = async (env: Record<string, string> = {}): Promise<Server> => {
  const started = await connect({ env: { ALLOWED_COMMANDS: '*', ...env }, args: ['--tools', 'all'] });
  // The control socket is opened after the warm-up.
  for (let tries = 0; tries < 1_000 && !started.stderr().includes('ready:'); tries += 1) await sleep(10);
  return started;
};
beforeAll(async () => {
  server = await serve();
});
afterAll(async () => {
  expect(await server.close()).toEqual([]);
  expect(sockets()).toEqual([]);
});

const folder = () => join(server.cwd, '.local', 'state', 'nacre', 'control');
const sockets = () => readdirSync(folder()).filter((name) => name.endsWith('.sock'));
const nacre = (...words: string[]) => runInProcess(words, server);
const start = async (command: string, more: object = {}) =>
  (await server.use('start_command', { command, wait_ms: 300, ...more })).structured;
const rowOf = async (id: unknown) =>
  (await nacre('ps')).stdout.split('\n').find((line) => line.startsWith(String(id)));

describe('T9: another terminal of the same user', () => {
  it('lists the commands of a running server, prints their output, and stops them', async () => {
    const { command_id } = await start('echo one; sleep 60', { name: 'listed' });
    expect((await nacre('ps')).stdout).toMatch(/^ID .*COMMAND\n/);
    expect(await rowOf(command_id)).toMatch(/^cmd_\w+ {2}listed +running .*echo one; sleep 60$/);
    // S7: CPU time and memory appear once the process tree has been measured.
    await expect.poll(() => rowOf(command_id), { timeout: 10_000 }).toMatch(/ \d+\.\ds +\d+MB /);
    const listed = JSON.parse((await nacre('ps', '--json')).stdout);
    expect(listed).toContainEqual(expect.objectContaining({ id: command_id, name: 'listed' }));
    expect(await nacre('logs', 'listed')).toMatchObject({ code: 0, stdout: 'one\n' });
    expect((await nacre('stop', 'listed')).stdout).toMatch(/^cmd_\w+ killed, exit code 130\n$/);
    const seen = await server.use('read_output', { command_id, cursor: 0 });
    expect(seen.structured).toMatchObject({ status: 'killed', stdout: 'one\n' });
  });

  it('lists and stops commands that a call waits for, of every tool', async () => {
    const calls = (['execute_command', 'shell_execute', 'Bash'] as const).map(async (tool) => {
      const command = `echo ${tool}; sleep 1000.25`;
      const reply = server.use(tool, { command });
      const find = async () => {
        const listed: { id: string; command: { script: string } }[] = JSON.parse(
          (await nacre('ps', '--json')).stdout,
        );
        return listed.find((one) => one.command.script === command)?.id;
      };
      await expect.poll(find, { timeout: 10_000 }).toMatch(/^\w+$/);
      const id = await find();
      expect((await nacre('stop', String(id))).stdout).toMatch(/killed, exit code 1\d\d\n$/);
      const { text, isError } = await reply;
      expect([tool, isError, text]).toEqual([tool, true, expect.stringMatching(/stopped|exit code 1\d\d/)]);
      expect(await find()).toBeUndefined();
    });
    await Promise.all(calls);
    const { structured } = await server.use('list_commands', { status: 'running' });
    expect(JSON.stringify(structured)).not.toContain('1000.25');
  });

  it('follows a command to its end', async () => {
    const { command_id } = await start('for i in 1 2 3; do echo $i; sleep 0.2; done');
    expect(await nacre('logs', '-f', String(command_id))).toMatchObject({ code: 0, stdout: '1\n2\n3\n' });
  });

  it('attaches to a command in a terminal, types into it and detaches', async () => {
    const { command_id } = await start('while read -r x; do echo "got $x"; done; exit 3', { pty: true });
    const attached = startInProcess(['attach', String(command_id)], server);
    attached.stdin.write('hello\r');
    await expect.poll(() => attached.out.text(), { timeout: 10_000 }).toContain('got hello');
    attached.stdin.write('\x1d');
    expect(await attached.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('keeps running') });
    const again = startInProcess(['attach', String(command_id)], server);
    again.stdin.write('\x04');
    expect(await again.ended).toMatchObject({ code: 3 });
  });

  it('types lines into a command without a terminal, and ends its input', async () => {
    const { command_id } = await start('while read -r x; do echo "got $x"; done; echo "at end"; exit 4');
    const attached = startInProcess(['attach', String(command_id)], server);
    attached.stdin.write('one\ntwo\n');
    await expect.poll(() => attached.out.text(), { timeout: 10_000 }).toBe('got one\ngot two\n');
    attached.stdin.end();
    expect(await attached.ended).toMatchObject({ code: 4, stdout: 'got one\ngot two\nat end\n' });
  });

  it('stops following when it is interrupted, and ends with the server', async () => {
    const other = await serve();
    const { structured } = await other.use('start_command', {
      command: 'echo up; sleep 60',
      pty: true,
      wait_ms: 300,
    });
    const id = String(structured.command_id);
    const following = startInProcess(['logs', '-f', id], other);
    await expect.poll(() => following.out.text(), { timeout: 10_000 }).toBe('up\n');
    following.interrupt('SIGINT');
    expect(await following.ended).toMatchObject({ code: 130, stderr: '' });
    const attached = startInProcess(['attach', id], other);
    await expect.poll(() => attached.out.text(), { timeout: 10_000 }).toContain('up');
    expect(await other.close()).toEqual([]);
    const { code, stdout } = await attached.ended;
    // The exit code of the command, or 125 if the connection ended first.
    expect([125, 143, 137, 129]).toContain(code);
    expect(stdout).not.toContain('keeps running');
  });

  it('sees control characters escaped, and long commands truncated', async () => {
    const strange = await start('sleep 60 # \x1b]0;title\x07\r\x1b[2Krm\nsecond line');
    expect(await rowOf(strange.command_id)).toMatch(
      /sleep 60 # \\u\{1b\}\]0;title\\u\{7\}\\u\{d\}\\u\{1b\}\[2Krm ⏎ second line$/,
    );
    const long = await start(`sleep 60 # ${'x'.repeat(500_000)}`);
    expect((await rowOf(long.command_id))?.length).toBeLessThan(1_000);
    expect((await nacre('ps', '--json')).stdout.length).toBeLessThan(50_000);
    for (const { command_id } of [strange, long]) await nacre('stop', String(command_id));
  });

  it('pauses everything, and resumes', async () => {
    await start('sleep 60', { name: 'long' });
    const call = server.call({ command: 'touch begun; sleep 60', timeout_ms: 50_000 });
    await expect.poll(() => existsSync(join(server.cwd, 'begun')), { timeout: 10_000 }).toBe(true);
    expect((await nacre('pause')).stdout).toMatch(/^1 server paused/);
    expect((await call).structured).toMatchObject({ signal: 'SIGTERM' });
    const refused = await server.call({ command: 'echo hi' });
    expect(refused).toMatchObject({ isError: true, structured: { code: 'policy_denied' } });
    expect(refused.structured.error).toContain('paused');
    expect((await start('echo hi')).error).toContain('paused');
    expect((await nacre('resume')).stdout).toBe('Commands run again.\n');
    expect((await server.call({ command: 'echo hi' })).structured.stdout).toBe('hi\n');
  });

  it('pauses servers that start later, and persistent shells', async () => {
    await server.use('Bash', { command: 'sleep 60 &' });
    expect((await nacre('pause')).code).toBe(0);
    const later = await connect({ env: { ALLOWED_COMMANDS: '*', HOME: server.cwd } });
    expect((await later.call({ command: 'echo hi' })).structured.error).toContain('paused');
    expect((await server.use('Bash', { command: 'echo hi' })).structured.error).toContain('paused');
    await nacre('resume');
    expect((await later.call({ command: 'echo hi' })).structured.stdout).toBe('hi\n');
    expect((await server.use('Bash', { command: 'echo hi; jobs' })).structured.stdout).toBe('hi\n');
    expect(await later.close()).toEqual([]);
  });

  it('gets an error for an unknown command, and for no command', async () => {
    expect(await nacre('logs', 'nothing')).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('nothing'),
    });
    expect(await nacre('logs')).toMatchObject({ code: 125, stderr: expect.stringContaining('one command') });
  });
});

/** Calls a door directly, with a shorter reply time than the command line has. */
async function openDoor(door: (deps: DoorTestDeps) => Promise<number>) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [collect(stdout), collect(stderr)];
  const { signal } = new AbortController();
  const io = { stdin: new PassThrough(), stdout, stderr, interrupted: signal };
  const display = createDisplay(stdout, {});
  const code = await door({ io, display, controlDir: folder(), replyMs: 1_000 });
  return { code, stdout: out.text(), stderr: err.text() };
}

type DoorTestDeps = Pick<Parameters<typeof psDoor>[0], 'io' | 'display' | 'controlDir' | 'replyMs'>;

describe('T9: the control socket', () => {
  const socketPath = () => join(folder(), sockets()[0] ?? '');

  it('is private to its owner, and requires a secret', async () => {
    const path = socketPath();
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(`${path}.secret`).mode & 0o777).toBe(0o600);
    const raw = connectSocket(path);
    const replies = collect(raw);
    raw.write('{"method":"list","secret":"wrong"}\nnonsense\n');
    await expect
      .poll(() => replies.text(), { timeout: 10_000 })
      .toMatch(/does not match this server[\s\S]*\n.*error/);
    raw.destroy();
    const inside = await server.call({ command: `ls ${folder()}` });
    expect(inside.structured.exit_code).not.toBe(0);
  });

  it('replies to invalid requests with an error', async () => {
    const path = socketPath();
    const secret = readFileSync(`${path}.secret`, 'utf8');
    const ask = async (line: string) => {
      const raw = connectSocket(path);
      const replies = collect(raw);
      raw.write(`${line}\n`);
      await expect.poll(() => replies.text(), { timeout: 10_000 }).toMatch(/\n$/);
      raw.destroy();
      return JSON.parse(replies.text()) as { error?: { code: string; message: string } };
    };
    const invalid = ['null', '[]', '7', '', '{', '{"secret":{"toString":1}}', '{"method":"list"}', '\0'];
    for (const line of invalid) expect((await ask(line)).error).toMatchObject({ code: 'invalid_request' });
    const unknown = { method: 'nonsense', secret };
    expect((await ask(JSON.stringify(unknown))).error?.message).toContain('nonsense');
    expect((await ask(JSON.stringify({ method: 'read', secret }))).error?.code).toBe('job_not_found');
  });

  it('survives many half-sent requests, a huge one, and clients that leave before their reply', async () => {
    const path = socketPath();
    const secret = readFileSync(`${path}.secret`, 'utf8');
    const half = Array.from({ length: 200 }, () => connectSocket(path));
    for (const one of half) one.on('error', () => {}).write('{"method":"li');
    const huge = connectSocket(path).on('error', () => {});
    const closed = new Promise((resolve) => huge.on('close', resolve));
    huge.write('x'.repeat(20 * 1024 * 1024));
    await closed;
    expect((await nacre('ps')).code).toBe(0);
    for (const one of half) one.destroy();
    const { command_id } = await start('sleep 60');
    const line = `${JSON.stringify({ method: 'list', secret })}\n`;
    for (let count = 0; count < soakCount(50, 10); count += 1) {
      const hasty = connectSocket(path).on('error', () => {});
      hasty.write(line.repeat(20), () => hasty.destroy());
      await new Promise((resolve) => hasty.on('close', resolve));
    }
    await expect
      .poll(async () => (await nacre('ps')).stdout, { timeout: 20_000 })
      .toContain(String(command_id));
    await nacre('stop', String(command_id));
  }, 60_000);
});

describe('T9: two servers of the same user', () => {
  let other: Server;
  beforeAll(async () => {
    other = await serve({ HOME: server.cwd });
  });

  it('are both listed; one that does not reply is reported', async () => {
    await start('sleep 60', { name: 'reachable' });
    process.kill(other.pid, 'SIGSTOP');
    const error = `The server with pid ${other.pid} does not reply.`;
    try {
      const [listed, stopped] = await Promise.all([
        openDoor((deps) => psDoor({ ...deps, flags: { json: false } })),
        openDoor((deps) => stopDoor({ ...deps, words: ['reachable'], given: [] })),
        expect(
          openDoor((deps) => logsDoor({ ...deps, flags: { follow: false }, words: ['nothing'], given: [] })),
        ).rejects.toThrow(error),
      ]);
      expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('reachable  ') });
      expect(listed.stderr).toContain(error);
      expect(stopped.stdout).toContain('killed');
    } finally {
      process.kill(other.pid, 'SIGCONT');
    }
    expect((await nacre('ps')).stderr).toBe('');
  });

  it('can run commands of the same name, which is then ambiguous', async () => {
    const { command_id } = await start('echo mine; sleep 60', { name: 'twin' });
    const theirs = await other.use('start_command', { command: 'echo theirs; sleep 60', name: 'twin' });
    const refused = await nacre('stop', 'twin');
    expect(refused).toMatchObject({ code: 125, stderr: expect.stringContaining(String(command_id)) });
    expect(refused.stderr).toContain(String(theirs.structured.command_id));
    expect((await nacre('logs', String(command_id))).stdout).toBe('mine\n');
    await nacre('stop', String(command_id));
    expect((await nacre('logs', 'twin')).stdout).toBe('theirs\n');
  });

  it('leave no socket behind when one is killed', async () => {
    process.kill(other.pid, 'SIGKILL');
    expect(await other.close()).toEqual([]);
    for (const name of ['1_dead.sock', '1_dead.sock.secret']) writeFileSync(join(folder(), name), 'x');
    // The name is no longer ambiguous.
    expect((await nacre('logs', 'twin')).stdout).toBe('mine\n');
    const left = readdirSync(folder());
    expect(left.filter((name) => name.startsWith(`${other.pid}_`) || name.startsWith('1_'))).toEqual([]);
  });
});

it('T9: without a server the list is empty, and a pause applies to servers that start later', async () => {
  const place = createPlace();
  const run = (...words: string[]) => runInProcess(words, place);
  expect((await run('ps')).stdout).toMatch(/^ID .*\n$/);
  expect(await run('pause')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('0 servers paused'),
  });
  expect(await run('run', 'touch ran')).toMatchObject({
    code: 126,
    stderr: expect.stringContaining('paused'),
  });
  await run('resume');
  expect(await run('run', 'ls')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('ran') });
});
