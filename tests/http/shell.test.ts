import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve, type TestServer } from '../support/http.ts';
import { processesWith } from '../support/processes.ts';

const specified = 'git,ls,cat,head,tail,grep,find,wc,diff,docker,npm,npx,make,cargo,go,python,pip'.split(',');
let here: TestServer;

beforeAll(async () => {
  here = await serve({
    env: {
      SHELL_ALLOWLIST: [
        ...specified,
        'printf',
        'sleep',
        'env',
        'sh',
        'kill',
        'nowhere-to-be-found',
        './data',
        './no-interpreter',
        './text',
        './greet',
        './folder',
        '/tmp',
      ].join(','),
      EXEC_MAX_BUFFER_BYTES: '100000',
      EXEC_TIMEOUT_MS: '1000',
      NACRE_KILL_GRACE_MS: '300',
    },
  });
  writeFileSync(join(here.cwd, 'data'), 'some text\n');
  writeFileSync(join(here.cwd, 'lines'), 'one\ntwo\nthree\n');
  writeFileSync(join(here.cwd, 'stubborn.sh'), "trap '' TERM; echo begun; sleep 100; sleep 100\n");
});
afterAll(async () => expect(await here.close()).toEqual([]));

describe('H1: POST /api/shell', () => {
  test('runs a program with its arguments and replies with the keys of the specification', async () => {
    const { status, body } = await here.shell('git', ['--version']);
    expect(status).toBe(200);
    expect(body).toEqual({
      stdout: expect.stringMatching(/^git version /),
      stderr: '',
      code: 0,
      id: expect.stringMatching(/^cmd_/),
      duration_ms: expect.any(Number),
    });
  });

  test('runs in the given directory, and in the server’s own by default', async () => {
    mkdirSync(join(here.cwd, 'repo'));
    expect((await here.shell('git', ['init', '-q'], { cwd: join(here.cwd, 'repo') })).body.code).toBe(0);
    writeFileSync(join(here.cwd, 'repo', 'new.txt'), 'x');
    const repo = { cwd: join(here.cwd, 'repo') };
    expect((await here.shell('git', ['status', '--porcelain=v2'], repo)).body.stdout).toBe('? new.txt\n');
    expect((await here.shell('git', ['diff'], repo)).body).toMatchObject({ stdout: '', code: 0 });
    expect((await here.shell('git', ['log'], repo)).body).toMatchObject({ code: 128 });
    expect((await here.shell('ls')).body.stdout).toContain('repo\n');
  });

  test('passes stdin and variables, and ends the command after timeout_ms', async () => {
    expect((await here.shell('cat', [], { stdin: 'typed' })).body).toMatchObject({
      stdout: 'typed',
      code: 0,
    });
    expect((await here.shell('env', [], { env: { GREETING: 'hi' } })).body.stdout).toMatch(/^GREETING=hi$/m);
    const { status, body } = await here.shell('sleep', ['100'], { timeout_ms: 50 });
    expect(status).toBe(408);
    expect(body.error).toContain('timed out after 50 ms');
    const tooLong = await here.shell('ls', [], { timeout_ms: 1_001 });
    expect(tooLong.status).toBe(400);
    expect(tooLong.body.error).toContain('timeout_ms must be at most 1000, the value of EXEC_TIMEOUT_MS');
  });

  test('runs file operations: ls, cat, grep', async () => {
    expect((await here.shell('ls', ['-1', here.cwd])).body.stdout).toContain('lines\n');
    expect((await here.shell('cat', ['lines'])).body.stdout).toBe('one\ntwo\nthree\n');
    expect((await here.shell('grep', ['-c', 'o', 'lines'])).body.stdout).toBe('2\n');
  });

  test.each([
    ['a relative cwd', { cwd: 'repo' }, /cwd must be an absolute path/],
    [
      'a cwd that does not exist',
      { cwd: '/nowhere/at/all' },
      /^Working directory does not exist: cwd is "\/nowhere\/at\/all"/,
    ],
    ['a cwd with a NUL byte', { cwd: '/tmp\0' }, /cwd must not contain NUL bytes/],
  ])('400 for %s', async (_, more, words) => {
    const { status, body } = await here.shell('ls', [], more);
    expect(status).toBe(400);
    expect(body.error).toMatch(words);
  });

  test('400 for a cwd that is a file', async () => {
    const { status, body } = await here.shell('ls', [], { cwd: join(here.cwd, 'data') });
    expect(status).toBe(400);
    expect(body.error).toMatch(/is not a directory/);
  });
});

describe('H1, E6: an invalid request is 400, and the error names the field', () => {
  test.each([
    ['no command', {}, /command is required/],
    ['an empty command', { command: '' }, /command must not be empty/],
    ['a command that is not a string', { command: 7 }, /command must be a string/],
    ['args that are not a list', { command: 'ls', args: '-l' }, /args must be a list/],
    ['an argument that is not a string', { command: 'ls', args: [1] }, /args\.0 must be a string/],
    ['an argument with a NUL byte', { command: 'ls', args: ['a\0b'] }, /NUL/],
    [
      'too many arguments',
      { command: 'ls', args: Array(10_001).fill('') },
      /args must have at most 10000 entries/,
    ],
    ['an unknown field', { command: 'ls', arguments: [] }, /no field "arguments"/],
    ['a synonym of a field', { cmd: 'ls' }, /no field "cmd" \(Did you mean command\?\)/],
    ['a list', [], /must be an object/],
    ['broken JSON', '{"command":', /not valid JSON/],
  ])('%s', async (_, body, words) => {
    const reply = await here.post('/api/shell', body);
    expect(reply.status).toBe(400);
    expect(reply.body.error).toMatch(words);
  });

  test('invalid UTF-8', async () => {
    const body = Buffer.concat([
      Buffer.from('{"command":"ls","args":["'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"]}'),
    ]);
    const headers = { ...here.bearer, 'Content-Type': 'application/json' };
    expect((await here.send('/api/shell', { method: 'POST', headers, body })).status).toBe(400);
  });
});

describe('H2: the status of a command', () => {
  test('is 200 for every exit code', async () => {
    const { status, body } = await here.shell('git', ['status'], { cwd: here.cwd });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      stdout: '',
      stderr: expect.stringMatching(/not a git repository/),
      code: 128,
    });
  });

  test('is 200 with code 128 + N and the signal if a signal ended it', async () => {
    const { status, body } = await here.shell('sh', ['-c', 'kill -9 $$']);
    expect(status).toBe(200);
    expect(body).toMatchObject({ code: 137, signal: 'SIGKILL' });
  });

  test('is 500 if there is no such program', async () => {
    const { status, body } = await here.shell('nowhere-to-be-found');
    expect(status).toBe(500);
    expect(body.error).toMatch(/nowhere-to-be-found: command not found \(spawn nowhere-to-be-found ENOENT\)/);
  });

  test.each([
    ['a script whose interpreter is missing', './no-interpreter', '#!/no/such/sh\necho ran\n', 'ENOENT'],
    ['a text without #!, which no shell runs', './text', 'echo ran\n', 'ENOEXEC'],
  ])('is 500 with the error of spawn for %s', async (_, command, text, code) => {
    writeFileSync(join(here.cwd, command), text, { mode: 0o755 });
    const { status, body } = await here.shell(command);
    expect(status).toBe(500);
    expect(body).toEqual({
      error: expect.stringContaining(`(spawn ${command} ${code})`),
      reason: expect.any(String),
      hint: expect.any(String),
    });
  });

  test('runs a script with an interpreter', async () => {
    writeFileSync(join(here.cwd, 'greet'), '#! /bin/sh -e\necho "ran $1"\n', { mode: 0o755 });
    expect((await here.shell('./greet', ['x'])).body).toMatchObject({ stdout: 'ran x\n', code: 0 });
  });

  test('is 500 with E2BIG for an argument that the kernel does not accept', async () => {
    expect((await here.shell('printf', ['%.3s', 'x'.repeat(131_071)])).body).toMatchObject({ stdout: 'xxx' });
    const { status, body } = await here.shell('printf', ['%.3s', 'x'.repeat(140_000)]);
    expect(status).toBe(500);
    expect(body.error).toContain('(spawn printf E2BIG)');
  });

  test('is 200 with code 126 and the reason if the file is not executable', async () => {
    chmodSync(join(here.cwd, 'data'), 0o644);
    const { status, body } = await here.shell('./data');
    expect(status).toBe(200);
    expect(body).toMatchObject({ code: 126, stderr: expect.stringMatching(/data: Permission denied/) });
  });

  test.each(['./folder', '/tmp'])('is 200 with code 126 and one line if %s is a folder', async (path) => {
    mkdirSync(join(here.cwd, 'folder'), { recursive: true });
    const { status, body } = await here.shell(path);
    expect(status).toBe(200);
    expect(body).toMatchObject({ code: 126, stdout: '', stderr: `${path}: Is a directory\n` });
  });
});

describe.concurrent('H4: limits', () => {
  test('408 with the output so far, and the process tree is gone', async () => {
    const { status, body } = await here.shell('sh', ['stubborn.sh']);
    expect(status).toBe(408);
    expect(body).toMatchObject({
      stdout: 'begun\n',
      stderr: '',
      error: expect.stringMatching(/timed out after 1000 ms/),
    });
    expect(body).not.toHaveProperty('code');
    expect(processesWith('stubborn.sh')).toEqual([]);
  });

  test('500 with the beginning of output over the limit', async () => {
    const { status, body } = await here.shell('find', ['/usr/share', '/usr/lib', '-printf', '%p\\n']);
    expect(status).toBe(500);
    expect(body).toMatchObject({
      truncated: true,
      error: expect.stringMatching(/more than 97\.7 KiB to stdout|more than 100/),
    });
    expect(String(body.stdout).length).toBeGreaterThan(90_000);
    expect(Buffer.byteLength(String(body.stdout))).toBeLessThanOrEqual(100_000);
  });

  test('the limit applies to each stream', async () => {
    const script = 'head -c 90000 /dev/zero | tr "\\0" a; head -c 90000 /dev/zero | tr "\\0" b >&2';
    const wide = await serve({ env: { SHELL_ALLOWLIST: '*', EXEC_MAX_BUFFER_BYTES: '100000' } });
    const { status, body } = await wide.shell('sh', ['-c', script]);
    expect(await wide.close()).toEqual([]);
    expect(status).toBe(200);
    expect(body).toMatchObject({ stdout: 'a'.repeat(90_000), stderr: 'b'.repeat(90_000) });
  });

  test('output below the limit is complete', async () => {
    writeFileSync(join(here.cwd, 'long'), `${'0123456789'.repeat(9_900)}\n`);
    const { status, body } = await here.shell('cat', ['long']);
    expect(status).toBe(200);
    expect(body.stdout).toBe(`${'0123456789'.repeat(9_900)}\n`);
  });
});

describe('H3: output is clean text', () => {
  test.each([
    ['colours', '\\033[31mred\\033[0m\\n', 'red\n'],
    ['titles and links', '\\033]0;title\\007text\\n', 'text\n'],
    ['CRLF', 'a\\r\\nb\\r\\n', 'a\nb\n'],
    ['progress bars', '10%%\\r20%%\\r100%%\\n', '100%\n'],
    ['a shorter rewrite of a line', 'hello\\rab\\n', 'abllo\n'],
    ['invalid bytes', 'a\\377b\\n', 'a\uFFFDb\n'],
    ['a character of four bytes', '\\360\\237\\230\\200\\n', '😀\n'],
    ['NUL separators', 'one\\0two\\0', 'one\0two\0'],
  ])('%s', async (_, given, expected) => {
    expect((await here.shell('printf', [given])).body.stdout).toBe(expected);
  });

  test('sequences and characters that are split between chunks', async () => {
    const script =
      "printf 'a\\033['; sleep 0.1; printf '31mred\\303'; sleep 0.1; printf '\\251\\r'; sleep 0.1; printf '\\n'";
    writeFileSync(join(here.cwd, 'split.sh'), script);
    expect((await here.shell('sh', ['split.sh'])).body.stdout).toBe('aredé\n');
  });
});

describe('H5: the allow list', () => {
  test('has the seventeen names of the specification by default', async () => {
    const plain = await serve();
    const { status, body } = await plain.shell('chmod', ['777', 'x']);
    expect(status).toBe(403);
    expect(body.hint).toContain(specified.join(', '));
    expect(await plain.close()).toEqual([]);
  });

  test.each(['rm', 'chmod', 'curl', 'bash', '/tmp/git'])(
    'refuses %s with 403, and nothing runs',
    async (command) => {
      const { status, body } = await here.shell(command, ['made']);
      expect(status).toBe(403);
      expect(body.error).toMatch(/not allowed/);
      expect(existsSync(join(here.cwd, 'made'))).toBe(false);
    },
  );

  test.each([
    ['git', ['status', ';', 'touch', 'made']],
    ['ls', ['$(touch made)', '`touch made`', '| touch made', '&& touch made', '> made']],
    ['cat', ['*', '$HOME', '~']],
  ])('treats the arguments of %s as data: %j', async (command, args) => {
    const { status, body } = await here.shell(command, args);
    expect(status).toBe(200);
    expect(body.code).not.toBe(0);
    expect(existsSync(join(here.cwd, 'made'))).toBe(false);
  });

  test.each([
    ['find', ['.', '-exec', 'touch', 'made', ';']],
    ['git', ['-c', 'alias.x=!touch made', 'x']],
    ['env', ['touch', 'made']],
  ])('applies to programs in the arguments of %s: %j', async (command, args) => {
    const { status, body } = await here.shell(command, args);
    expect(status).toBe(403);
    expect(body.error).toMatch(/touch/);
    expect(existsSync(join(here.cwd, 'made'))).toBe(false);
  });
});

describe('H6: sensitive directories', () => {
  test.each(['/proc', '/proc/self', '/sys', '/dev', '/etc', '/etc/../etc', '/tmp/../etc'])(
    '%s is 403',
    async (cwd) => {
      const { status, body } = await here.shell('ls', [], { cwd });
      expect(status).toBe(403);
      expect(body.error).toMatch(/sensitive directory/);
    },
  );

  test.each(['.ssh', '.gnupg', '.aws', '.kube', '.docker', '.azure'])(
    '~/%s is 403, also through a symlink',
    async (name) => {
      const folder = join(here.cwd, name);
      mkdirSync(join(folder, 'below'), { recursive: true });
      symlinkSync(folder, join(here.cwd, `to${name}`));
      for (const cwd of [folder, join(folder, 'below'), join(here.cwd, `to${name}`)])
        expect((await here.shell('ls', [], { cwd })).status).toBe(403);
    },
  );

  test('the target of a ~/.ssh symlink is 403', async () => {
    const other = await serve();
    mkdirSync(join(other.cwd, 'keys'));
    symlinkSync(join(other.cwd, 'keys'), join(other.cwd, '.ssh'));
    expect((await other.shell('ls', [], { cwd: join(other.cwd, 'keys') })).status).toBe(403);
    expect(await other.close()).toEqual([]);
  });

  test('a directory with a similar name is allowed', async () => {
    mkdirSync(join(here.cwd, '.sshx'));
    expect((await here.shell('ls', [], { cwd: join(here.cwd, '.sshx') })).status).toBe(200);
  });
});
