import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../support/mcp.ts';
import { collect, runInProcess, startInProcess } from '../support/nacre.ts';

type Server = Awaited<ReturnType<typeof connect>>;
let server: Server;
const serve = async (env: Record<string, string> = {}): Promise<Server> => {
  const made = await connect({ env: { ALLOWED_COMMANDS: '*', ...env } });
  // The socket is there once the server is warm.
  await expect.poll(() => made.stderr(), { timeout: 10_000 }).toContain('ready:');
  return made;
};
beforeEach(async () => {
  server = await serve();
});
afterEach(async () => {
  expect(await server.close()).toEqual([]);
  expect(readdirSync(folder()).filter((name) => name.includes('.sock'))).toEqual([]);
});

const folder = () => join(server.cwd, '.local', 'state', 'nacre', 'control');
const nacre = (...words: string[]) => runInProcess(words, server);
const start = async (command: string, more: object = {}) =>
  (await server.use('start_command', { command, wait_ms: 300, ...more })).structured;

describe('T9: another terminal of the same user', () => {
  it('lists the commands of a running server, prints what they print, and stops them', async () => {
    const { command_id } = await start('echo one; sleep 60', { name: 'web' });
    const listed = await nacre('ps');
    expect(listed.stdout).toMatch(
      new RegExp(`^ID .*COMMAND\\n${command_id}  web  +running .*echo one; sleep 60\\n$`),
    );
    // S7: what its tree uses is there while it runs, once somebody has looked.
    await expect
      .poll(async () => (await nacre('ps')).stdout, { timeout: 10_000 })
      .toMatch(/ \d+\.\ds +\d+MB /);
    const [first] = JSON.parse((await nacre('ps', '--json')).stdout);
    expect(first).toMatchObject({ id: command_id, name: 'web' });
    expect(await nacre('logs', 'web')).toMatchObject({ code: 0, stdout: 'one\n' });
    expect((await nacre('stop', 'web')).stdout).toMatch(/^cmd_\w+ killed, exit code 130\n$/);
    const seen = await server.use('read_output', { command_id, cursor: 0 });
    expect(seen.structured).toMatchObject({ status: 'killed', stdout: 'one\n' });
  });

  it('follows a command to its end', async () => {
    const { command_id } = await start('for i in 1 2 3; do echo $i; sleep 0.3; done');
    expect(await nacre('logs', '-f', String(command_id))).toMatchObject({ code: 0, stdout: '1\n2\n3\n' });
  });

  it('sits in front of a command, types into it and leaves it', async () => {
    const { command_id } = await start('while read -r x; do echo "got $x"; done; exit 3', { pty: true });
    const attached = startInProcess(['attach', String(command_id)], server);
    attached.stdin.write('hello\r');
    await expect.poll(() => attached.out.text(), { timeout: 10_000 }).toContain('got hello');
    attached.stdin.write('\x1d');
    expect(await attached.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('goes on') });
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

  it('is told when the server is gone, and stops to follow when it is interrupted', async () => {
    const { command_id } = await start('echo up; sleep 60', { pty: true });
    const following = startInProcess(['logs', '-f', String(command_id)], server);
    await expect.poll(() => following.out.text(), { timeout: 10_000 }).toBe('up\n');
    following.interrupt('SIGINT');
    expect(await following.ended).toMatchObject({ code: 130, stderr: '' });
    const attached = startInProcess(['attach', String(command_id)], server);
    await expect.poll(() => attached.out.text(), { timeout: 10_000 }).toContain('up');
    await server.close();
    const { code, stdout } = await attached.ended;
    // It sees the end of the command, or that of the server.
    expect([125, 143, 137, 129]).toContain(code);
    expect(stdout).not.toContain('goes on');
  });

  it('sees commands as they are, whatever they would do to a terminal', async () => {
    await start('sleep 60 # \x1b]0;title\x07\r\x1b[2Krm\nsecond line');
    expect((await nacre('ps')).stdout).toMatch(
      /sleep 60 # \\u\{1b\}\]0;title\\u\{7\}\\u\{d\}\\u\{1b\}\[2Krm ⏎ second line\n$/,
    );
    await start(`sleep 60 # ${'x'.repeat(500_000)}`);
    expect((await nacre('ps')).stdout.length).toBeLessThan(1_000);
    expect((await nacre('ps', '--json')).stdout.length).toBeLessThan(50_000);
  });

  it('says which of two commands of one name is meant', async () => {
    const other = await serve({ HOME: server.cwd });
    const { command_id } = await start('echo mine; sleep 60', { name: 'web' });
    const theirs = await other.use('start_command', { command: 'echo theirs; sleep 60', name: 'web' });
    const refused = await nacre('stop', 'web');
    expect(refused).toMatchObject({ code: 125, stderr: expect.stringContaining(String(command_id)) });
    expect(refused.stderr).toContain(String(theirs.structured.command_id));
    expect((await nacre('logs', String(command_id))).stdout).toBe('mine\n');
    await nacre('stop', String(command_id));
    expect((await nacre('logs', 'web')).stdout).toBe('theirs\n');
    expect(await other.close()).toEqual([]);
    expect((await nacre('logs', 'web')).stdout).toBe('mine\n');
  });

  it('does not wait for a server that does not answer', async () => {
    const other = await serve({ HOME: server.cwd });
    await start('sleep 60', { name: 'web' });
    process.kill(other.pid, 'SIGSTOP');
    const silent = `The server with pid ${other.pid} does not answer.`;
    try {
      const listed = await nacre('ps');
      expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('web  ') });
      expect(listed.stderr).toContain(silent);
      expect((await nacre('stop', 'web')).stdout).toContain('killed');
      expect(await nacre('logs', 'nothing')).toMatchObject({
        code: 125,
        stderr: expect.stringContaining(silent),
      });
    } finally {
      process.kill(other.pid, 'SIGCONT');
    }
    expect((await nacre('ps')).stderr).toBe('');
    expect(await other.close()).toEqual([]);
  }, 40_000);

  it('pauses everything, and lets it run again', async () => {
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

  it('is told what is wrong', async () => {
    expect(await nacre('logs', 'nothing')).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('nothing'),
    });
    expect(await nacre('logs')).toMatchObject({ code: 125, stderr: expect.stringContaining('one command') });
  });
});

describe('T9: nobody else', () => {
  it('reaches the socket: it and its folder are the owner’s, and a secret is asked for', async () => {
    const [socket] = readdirSync(folder()).filter((name) => name.endsWith('.sock'));
    const path = join(folder(), socket ?? '');
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(`${path}.secret`).mode & 0o777).toBe(0o600);
    const raw = connectSocket(path);
    const answers = collect(raw);
    raw.write('{"method":"list","secret":"wrong"}\nnonsense\n');
    await expect
      .poll(() => answers.text(), { timeout: 10_000 })
      .toMatch(/not that of this server[\s\S]*\n.*error/);
    raw.destroy();
    const inside = await server.call({ command: `ls ${folder()}` });
    expect(inside.structured.exit_code).not.toBe(0);
  });

  it('gets nothing but an error for what is no request, and cannot wear the server out', async () => {
    const [name] = readdirSync(folder()).filter((one) => one.endsWith('.sock'));
    const path = join(folder(), name ?? '');
    const secret = readFileSync(`${path}.secret`, 'utf8');
    const ask = async (line: string) => {
      const raw = connectSocket(path);
      const answers = collect(raw);
      raw.write(`${line}\n`);
      await expect.poll(() => answers.text(), { timeout: 10_000 }).toMatch(/\n$/);
      raw.destroy();
      return JSON.parse(answers.text()) as { error?: { code: string; message: string } };
    };
    const wrong = ['null', '[]', '7', '', '{', '{"secret":{"toString":1}}', '{"method":"list"}', '\0'];
    for (const line of wrong) expect((await ask(line)).error).toMatchObject({ code: 'invalid_request' });
    const strange = { method: 'nonsense', secret };
    expect((await ask(JSON.stringify(strange))).error?.message).toContain('nonsense');
    expect((await ask(JSON.stringify({ method: 'read', secret }))).error?.code).toBe('job_not_found');
    const half = Array.from({ length: 200 }, () => connectSocket(path));
    for (const one of half) one.on('error', () => {}).write('{"method":"li');
    const huge = connectSocket(path).on('error', () => {});
    const closed = new Promise((resolve) => huge.on('close', resolve));
    huge.write('x'.repeat(20 * 1024 * 1024));
    await closed;
    expect((await nacre('ps')).code).toBe(0);
    for (const one of half) one.destroy();
    const { command_id } = await start('sleep 60');
    // Whoever asks and does not wait for the answer.
    const line = `${JSON.stringify({ method: 'list', secret })}\n`;
    for (let count = 0; count < 50; count += 1) {
      const hasty = connectSocket(path).on('error', () => {});
      hasty.write(line.repeat(20), () => hasty.destroy());
      await new Promise((resolve) => hasty.on('close', resolve));
    }
    await expect
      .poll(async () => (await nacre('ps')).stdout, { timeout: 20_000 })
      .toContain(String(command_id));
  }, 60_000);

  it('is misled by a server that was killed: what it left is removed', async () => {
    const killed = await serve({ HOME: server.cwd });
    await killed.use('start_command', { command: 'sleep 60', name: 'orphan' });
    process.kill(killed.pid, 'SIGKILL');
    expect(await killed.close()).toEqual([]);
    expect((await nacre('ps')).stdout).not.toContain('orphan');
    expect(readdirSync(folder()).filter((name) => name.startsWith(`${killed.pid}_`))).toEqual([]);
  });

  it('is left behind by a server that died', async () => {
    mkdirSync(folder(), { recursive: true });
    for (const name of ['1_dead.sock', '1_dead.sock.secret']) writeFileSync(join(folder(), name), 'x');
    await nacre('ps');
    expect(readdirSync(folder())).not.toContain('1_dead.sock');
  });
});

it('T9: without a server there is nothing to list, and a pause holds for those that come', async () => {
  expect(await server.close()).toEqual([]);
  expect((await nacre('ps')).stdout).toMatch(/^ID .*\n$/);
  expect(await nacre('pause')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('0 servers paused'),
  });
  expect(await nacre('run', 'touch ran')).toMatchObject({
    code: 126,
    stderr: expect.stringContaining('paused'),
  });
  await nacre('resume');
  expect(await nacre('run', 'ls')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('ran') });
});
