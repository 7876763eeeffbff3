import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { serve, type TestServer } from '../support/http.ts';
import { sleep } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';
import { openSocket, refusalOf } from '../support/socket.ts';

type Socket = Awaited<ReturnType<typeof openSocket>>;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
let here: TestServer;
let sockets: Socket[] = [];

beforeAll(async () => {
  here = await serve({
    env: { SHELL_ALLOWLIST: '*' },
    userFile: `tokens:\n  - { name: other, sha256: ${sha256('the-token-of-another')} }\n`,
  });
});
afterEach(async () => {
  for (const socket of sockets) await socket.close();
  sockets = [];
});
afterAll(async () => expect(await here.close()).toEqual([]));

async function connect(headers: Record<string, string> = here.bearer): Promise<Socket> {
  const socket = await openSocket(here.address, headers);
  sockets.push(socket);
  return socket;
}

const sh = (id: string, script: string, more: object = {}) => ({
  type: 'shell.run',
  id,
  command: 'bash',
  args: ['-c', script],
  ...more,
});

describe('H7: the stream', () => {
  test('sends start, output as it arrives, and exit, all with the id', async () => {
    const socket = await connect();
    socket.send(sh('one', 'echo out; echo err >&2; read -r line; echo "got $line"; exit 3'));
    await socket.until(({ data }) => data === 'out\n');
    await socket.until(({ data }) => data === 'err\n');
    socket.send({ type: 'shell.stdin', id: 'one', data: 'typed\n' });
    expect(await socket.exit('one')).toMatchObject({ code: 3, signal: null, cause: 'exit', cursor: 8 + 10 });
    expect(socket.messages[0]).toMatchObject({
      type: 'shell.start',
      id: 'one',
      command_id: expect.stringMatching(/^cmd_/),
    });
    expect(socket.text('one')).toBe('out\ngot typed\n');
    expect(socket.text('one', 'stderr')).toBe('err\n');
  });

  test('H3: is sanitised text, with prompts and without lost output on a resume, unless raw is set', async () => {
    const socket = await connect();
    const script =
      "printf '\\033[31mred\\033[0m\\r\\n10%%\\r20%%\\n'; printf 'name: '; read -r x; echo \"$x\"";
    socket.send(sh('clean', script));
    const prompt = await socket.until(({ id, data }) => id === 'clean' && data === 'name: ');
    const second = await connect();
    second.send({ type: 'shell.resume', id: 'clean', cursor: prompt.cursor });
    second.send({ type: 'shell.stdin', id: 'clean', data: 'me\n' });
    await second.exit('clean');
    expect(socket.text('clean') + second.text('clean')).toBe('red\n20%\nname: me\n');
    socket.send(sh('raw', script, { raw: true, stdin: 'empty' }));
    await socket.exit('raw');
    expect(socket.text('raw')).toBe('\u001b[31mred\u001b[0m\r\n10%\r20%\nname: \n');
  });

  test('carries many commands at the same time', async () => {
    const socket = await connect();
    const ids = Array.from({ length: 20 }, (_, index) => `many-${index}`);
    for (const id of ids) socket.send(sh(id, `sleep 0.1; echo ${id}`));
    for (const id of ids) expect(await socket.exit(id)).toMatchObject({ code: 0 });
    for (const id of ids) expect(socket.text(id)).toBe(`${id}\n`);
  });

  test('writes input sent right after the start, in order', async () => {
    const socket = await connect();
    socket.send({ type: 'shell.run', id: 'early', command: 'cat' });
    const lines = Array.from({ length: 50 }, (_, index) => `line ${index}\n`);
    for (const data of lines) socket.send({ type: 'shell.stdin', id: 'early', data });
    socket.send({ type: 'shell.stdin', id: 'early', eof: true });
    expect(await socket.exit('early')).toMatchObject({ code: 0 });
    expect(socket.text('early')).toBe(lines.join(''));
  });

  test('reports that a command waits for input', async () => {
    const socket = await connect();
    socket.send(sh('asks', 'printf "Name: "; read -r name; echo "Hello $name"'));
    await socket.until(({ type }) => type === 'shell.awaiting_input');
    expect(socket.text('asks')).toBe('Name: ');
    socket.send({ type: 'shell.stdin', id: 'asks', data: 'you\n', eof: true });
    await socket.exit('asks');
    expect(socket.text('asks')).toBe('Name: Hello you\n');
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGKILL', 137],
  ])('%s ends a command', async (signal, code) => {
    const socket = await connect();
    socket.send({ type: 'shell.run', id: signal, command: 'sleep', args: ['100'] });
    await socket.until(({ type }) => type === 'shell.start');
    socket.send({ type: 'shell.signal', id: signal, signal });
    expect(await socket.exit(signal)).toMatchObject({ code });
  });

  test('H4: has a timeout only if the request sets one', async () => {
    const socket = await connect();
    socket.send(sh('slow', 'echo begun; sleep 100', { timeout_ms: 300 }));
    expect(await socket.exit('slow')).toMatchObject({ cause: 'timeout' });
    expect(socket.text('slow')).toBe('begun\n');
  });

  test('does not split characters, and sends bytes as base64 on request', async () => {
    const socket = await connect();
    const split =
      "printf '\\303'; sleep 0.2; printf '\\251\\360\\237'; echo x >&2; sleep 0.2; printf '\\230\\200\\377'; printf '\\303'";
    socket.send(sh('text', split));
    socket.send(sh('bytes', "printf '\\377\\0\\303'", { encoding: 'base64' }));
    await socket.exit('text');
    expect(socket.text('text')).toBe('é😀\uFFFD\uFFFD');
    await socket.exit('bytes');
    const parts = socket.of('bytes', 'shell.stdout').map(({ data }) => Buffer.from(String(data), 'base64'));
    expect(Buffer.concat(parts)).toEqual(Buffer.from([0xff, 0, 0xc3]));
  });

  test('H9: pty runs the command in a terminal that can be resized', async () => {
    const socket = await connect();
    const pty = { cols: 80, rows: 24 };
    socket.send({
      type: 'shell.run',
      id: 'tty',
      command: 'bash',
      args: ['-c', 'tty; stty size; read -r x; stty size'],
      pty,
    });
    await socket.until(({ data }) => String(data).includes('24 80'));
    socket.send({ type: 'shell.resize', id: 'tty', cols: 100, rows: 30 });
    socket.send({ type: 'shell.stdin', id: 'tty', data: 'go\r' });
    expect(await socket.exit('tty')).toMatchObject({ code: 0 });
    expect(socket.text('tty')).toMatch(/^\/dev\/pts\/\d+\r\n24 80\r\n/);
    expect(socket.text('tty')).toContain('30 100');
  });
});

describe('H7: an invalid message', () => {
  test.each([
    ['text that is not JSON', 'hello', null, /JSON object/],
    ['a list', '[]', null, /JSON object/],
    ['an unknown type', { type: 'shell.jump', id: 'x' }, 'x', /type "shell\.jump"/],
    ['no command', { type: 'shell.run', id: 'x' }, 'x', /command is required/],
    ['a malformed id', { type: 'shell.run', id: 'a b', command: 'ls' }, 'a b', /id/],
    [
      'input for an unknown command',
      { type: 'shell.stdin', id: 'never', data: 'x' },
      'never',
      /no command never/,
    ],
    [
      'an unknown command to resume',
      { type: 'shell.resume', id: 'never', cursor: 0 },
      'never',
      /no command never/,
    ],
    [
      'a missing directory',
      { type: 'shell.run', id: 'x', command: 'ls', cwd: '/nowhere' },
      'x',
      /does not exist/,
    ],
    ['a missing program', { type: 'shell.run', id: 'x', command: 'nowhere-to-be-found' }, 'x', /not found/],
    [
      'a dangerous command',
      { type: 'shell.run', id: 'x', command: 'mkfs.ext4', args: ['/dev/sda'] },
      'x',
      /./,
    ],
    ['an unknown signal', { type: 'shell.signal', id: 'x', signal: 'SIGSTOP' }, 'x', /signal must be/],
  ])('%s gets an error', async (_, message, id, words) => {
    const socket = await connect();
    socket.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    expect(await socket.error()).toMatchObject({ id, error: expect.stringMatching(words) });
    socket.send(sh('after', 'echo still here'));
    await socket.exit('after');
  });

  test('a binary frame gets an error, and one that is too large closes the socket', async () => {
    const socket = await connect();
    socket.socket.send(Buffer.from('{}'));
    expect((await socket.error()).error).toMatch(/text frame, not a binary/);
    const closed = new Promise((resolve) => socket.socket.once('close', resolve));
    socket.socket.send('x'.repeat(1_100_000));
    expect(await closed).toBe(1009);
  });

  test('an id is taken while its command runs, and free afterwards', async () => {
    const socket = await connect();
    socket.send(sh('twice', 'read -r x'));
    await socket.until(({ type }) => type === 'shell.start');
    socket.send(sh('twice', 'echo second'));
    expect((await socket.error()).error).toMatch(/already running/);
    socket.send({ type: 'shell.stdin', id: 'twice', eof: true });
    await socket.exit('twice');
    socket.send(sh('twice', 'echo third'));
    await socket.until(({ data }) => data === 'third\n');
  });
});

describe('H10: a socket', () => {
  test('is refused with 401 without a token, 403 for a foreign Origin or Host', async () => {
    expect(await refusalOf(here.address, {})).toBe(401);
    expect(await refusalOf(here.address, { Authorization: 'Bearer wrong' })).toBe(401);
    expect(await refusalOf(here.address, { ...here.bearer, Origin: 'http://evil.example' })).toBe(403);
    expect(await refusalOf(here.address, { ...here.bearer, Host: 'evil.example' })).toBe(403);
    expect(await refusalOf(`${here.address}/elsewhere`, here.bearer)).toBe(404);
  });

  test('cannot resume a command of another owner', async () => {
    const [mine, other] = [await connect(), await connect({ Authorization: 'Bearer the-token-of-another' })];
    mine.send(sh('secret', 'echo mine; read -r x'));
    await mine.until(({ data }) => data === 'mine\n');
    other.send({ type: 'shell.resume', id: 'secret', cursor: 0 });
    expect((await other.error()).error).toMatch(/no command secret/);
    other.send({ type: 'shell.stdin', id: 'secret', eof: true });
    await sleep(100);
    expect(mine.of('secret', 'shell.exit')).toEqual([]);
  });
});

describe('H7: a lost connection', () => {
  test('is resumed at a cursor, and every byte arrives once', async () => {
    const first = await connect();
    const script = 'for i in $(seq 1 150); do echo "line $i é"; echo "err $i" >&2; sleep 0.002; done';
    first.send(sh('long', script));
    await first.until(({ data }) => String(data).includes('line 50 '));
    first.socket.terminate();
    const received = { stdout: first.text('long'), stderr: first.text('long', 'stderr') };
    const cursor = first.messages.at(-1)?.cursor;
    const second = await connect();
    second.send({ type: 'shell.resume', id: 'long', cursor });
    expect(await second.exit('long')).toMatchObject({ code: 0 });
    const lines = (word: string, end: string) =>
      Array.from({ length: 150 }, (_, i) => `${word} ${i + 1}${end}\n`).join('');
    expect(received.stdout + second.text('long')).toBe(lines('line', ' é'));
    expect(received.stderr + second.text('long', 'stderr')).toBe(lines('err', ''));
    second.send({ type: 'shell.resume', id: 'long', cursor: 10_000_000 });
    expect((await second.error()).error).toMatch(/has not written/);
  });

  test('can be resumed while the old socket still seems open, and after the command’s end', async () => {
    const [first, second] = [await connect(), await connect()];
    first.send(sh('moved', 'echo begun; read -r x; echo done'));
    await first.until(({ data }) => data === 'begun\n');
    second.send({ type: 'shell.resume', id: 'moved', cursor: 0 });
    await second.until(({ data }) => data === 'begun\n');
    second.send({ type: 'shell.stdin', id: 'moved', eof: true });
    await second.exit('moved');
    expect(first.of('moved', 'shell.exit')).toEqual([]);
    first.send({ type: 'shell.resume', id: 'moved', cursor: 6 });
    expect(await first.exit('moved')).toMatchObject({ code: 0 });
  });

  test('leaves the command running', async () => {
    const socket = await connect();
    socket.send(sh('kept', 'sleep 0.5; echo > stayed'));
    await socket.until(({ type }) => type === 'shell.start');
    await socket.close();
    for (let tries = 0; tries < 500 && !existsSync(join(here.cwd, 'stayed')); tries += 1) await sleep(10);
    expect(existsSync(join(here.cwd, 'stayed'))).toBe(true);
  });
});

describe('H7: a client that does not read', () => {
  test('does not make the server’s memory grow, and gets everything once it reads', async () => {
    const socket = await connect();
    writeFileSync(join(here.cwd, 'block'), Buffer.alloc(1_048_576, 'a'));
    const before = process.memoryUsage.rss();
    socket.socket.pause();
    socket.send(sh('much', 'for i in $(seq 1 64); do cat block; done; echo > written'));
    for (let tries = 0; tries < 1_500 && !existsSync(join(here.cwd, 'written')); tries += 1) await sleep(10);
    expect(existsSync(join(here.cwd, 'written'))).toBe(true);
    expect(process.memoryUsage.rss() - before).toBeLessThan(48 * 1_048_576);
    socket.socket.resume();
    expect(await socket.exit('much')).toMatchObject({ code: 0, cursor: 64 * 1_048_576 });
    expect(socket.of('much', 'shell.stdout').reduce((sum, { data }) => sum + String(data).length, 0)).toBe(
      64 * 1_048_576,
    );
  });
});

test('H7: input that a command does not read blocks no other command, and the socket recovers when the command ends', async () => {
  const [socket, other] = [await connect(), await connect()];
  socket.send({ type: 'shell.run', id: 'deaf', command: 'sleep', args: ['100'] });
  await socket.until(({ type }) => type === 'shell.start');
  const data = 'x'.repeat(900_000);
  for (let count = 0; count < 5; count += 1) socket.send({ type: 'shell.stdin', id: 'deaf', data });
  other.send({ type: 'shell.signal', id: 'deaf', signal: 'SIGKILL' });
  expect(await socket.exit('deaf')).toMatchObject({ code: 137 });
  socket.send(sh('after', 'echo still here'));
  await socket.exit('after');
});

test('H7: a command that is resumed on its own socket sends every byte again, and none twice', async () => {
  const socket = await connect();
  socket.send(sh('again', 'for i in $(seq 1 3000); do echo "line $i"; done; read -r x'));
  await socket.until(({ data }) => String(data).includes('line 10\n'));
  socket.send({ type: 'shell.resume', id: 'again', cursor: 0 });
  await socket.until(() => socket.of('again', 'shell.start').length === 2);
  socket.send({ type: 'shell.stdin', id: 'again', eof: true });
  await socket.exit('again');
  const second = socket.messages.findLastIndex(({ type }) => type === 'shell.start');
  const sent = socket.messages.slice(second).filter(({ type }) => type === 'shell.stdout');
  const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index + 1}\n`).join('');
  expect(sent.map(({ data }) => data).join('')).toBe(lines);
});

test.concurrent('H7: a shutdown lets a command finish, and sends the end of the others', async () => {
  const other = await serve({ env: { SHELL_ALLOWLIST: '*', NACRE_SHUTDOWN_MS: '5000' } });
  const socket = await openSocket(other.address, other.bearer);
  // It must still run when the shutdown begins, and end before the shutdown does.
  const file = join(other.cwd, 'begun');
  socket.send(sh('short', `until [ -e ${file} ]; do sleep 0.01; done; echo finished`));
  socket.send(sh('long', 'sleep 100'));
  await socket.until(({ id, type }) => id === 'short' && type === 'shell.start');
  await socket.until(({ id, type }) => id === 'long' && type === 'shell.start');
  setTimeout(() => writeFileSync(file, ''), 500);
  expect(await other.close()).toEqual([]);
  expect(await socket.exit('short')).toMatchObject({ code: 0 });
  expect(socket.text('short')).toBe('finished\n');
  expect(await socket.exit('long')).toMatchObject({ cause: 'stopped' });
  expect(other.stderr()).toContain('ended: 1 of 2 open calls were finished.');
});

test.concurrent('H7: a shutdown does not wait for terminals, nor for clients that do not reply', async () => {
  const other = await serve({ env: { SHELL_ALLOWLIST: '*', NACRE_SHUTDOWN_MS: '60000' } });
  const socket = await openSocket(other.address, other.bearer);
  socket.send({ type: 'shell.run', id: 'tty', command: 'cat', pty: { cols: 80, rows: 24 } });
  await socket.until(({ type }) => type === 'shell.start');
  socket.socket.pause();
  expect(await other.close()).toEqual([]);
  expect(other.stderr()).toContain('ended: 0 of 0 open calls were finished.');
  socket.socket.terminate();
});

test.concurrent('H7: a shutdown closes sockets and ends their commands', async () => {
  const other = await serve({ env: { SHELL_ALLOWLIST: '*', NACRE_SHUTDOWN_MS: '100' } });
  const socket = await openSocket(other.address, other.bearer);
  socket.send(sh('stays', `sleep 100; echo mark-${other.cwd}`));
  await socket.until(({ type }) => type === 'shell.start');
  const closed = new Promise((resolve) => socket.socket.once('close', resolve));
  expect(await other.close()).toEqual([]);
  expect(await closed).toBe(1001);
  expect(processesWith(`mark-${other.cwd}`)).toEqual([]);
});
