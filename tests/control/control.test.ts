import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../support/mcp.ts';
import { collect, runInProcess, startInProcess } from '../support/nacre.ts';

type Server = Awaited<ReturnType<typeof connect>>;
let server: Server;
beforeEach(async () => {
  server = await connect({ env: { ALLOWED_COMMANDS: '*' } });
  // The socket is there once the server is warm.
  await expect.poll(() => server.stderr(), { timeout: 10_000 }).toContain('ready:');
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

  it('pauses everything, and lets it run again', async () => {
    await start('sleep 60', { name: 'long' });
    const call = server.call({ command: 'sleep 60', timeout_ms: 50_000 });
    expect((await nacre('pause')).stdout).toMatch(/^1 server paused/);
    expect((await call).structured).toMatchObject({ signal: 'SIGTERM' });
    const refused = await server.call({ command: 'echo hi' });
    expect(refused).toMatchObject({ isError: true, structured: { code: 'policy_denied' } });
    expect(refused.structured.error).toContain('paused');
    expect((await start('echo hi')).error).toContain('paused');
    expect((await nacre('resume')).stdout).toBe('1 server resumed.\n');
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
    await expect.poll(() => answers.text(), { timeout: 10_000 }).toMatch(/secret is wrong[\s\S]*\n.*error/);
    raw.destroy();
    const inside = await server.call({ command: `ls ${folder()}` });
    expect(inside.structured.exit_code).not.toBe(0);
  });

  it('is left behind by a server that died', async () => {
    mkdirSync(folder(), { recursive: true });
    for (const name of ['1_dead.sock', '1_dead.sock.secret']) writeFileSync(join(folder(), name), 'x');
    await nacre('ps');
    expect(readdirSync(folder())).not.toContain('1_dead.sock');
  });
});

it('T9: without a server there is nothing to list and nothing to pause', async () => {
  const place = {
    ...server,
    cwd: join(server.cwd),
    env: { ...server.env, NACRE_STATE_DIR: join(server.cwd, 'other') },
  };
  expect((await runInProcess(['ps'], place)).stdout).toMatch(/^ID .*\n$/);
  expect(await runInProcess(['pause'], place)).toMatchObject({
    code: 125,
    stderr: expect.stringContaining('No server'),
  });
});
