import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createPlace, runInProcess, sleep, startInProcess, survivors } from '../support/nacre.ts';

let place = createPlace();
const nacre = (...argv: string[]) => runInProcess(argv, place);

afterEach(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  place = createPlace();
});

describe('nacre run', () => {
  it('forwards stdout, stderr and the exit code of the command', async () => {
    expect(await nacre('run', 'echo out; echo err >&2; exit 3')).toEqual({
      code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect((await nacre('run', 'kill -9 $$')).code).toBe(137);
  });

  it('runs several arguments as a program with its arguments, without a shell', async () => {
    const { code, stdout } = await nacre('run', 'printf', '%s|', '$HOME', '*', '--json', '-h');
    expect([code, stdout]).toEqual([0, '$HOME|*|--json|-h|']);
    expect((await nacre('run', '--', 'printf', '%s', '--json')).stdout).toBe('--json');
  });

  it('forwards every byte unchanged', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    writeFileSync(join(place.cwd, 'bytes'), bytes);
    const started = startInProcess(['run', 'cat', 'bytes'], place);
    expect((await started.ended).code).toBe(0);
    expect(started.out.bytes()).toEqual(bytes);
  });

  it('streams output while the command runs', async () => {
    const script = 'echo first; until [ -e go ]; do sleep 0.05; done; echo last';
    const started = startInProcess(['run', script], place);
    await expect.poll(() => started.out.text(), { timeout: 10_000 }).toBe('first\n');
    writeFileSync(join(place.cwd, 'go'), '');
    expect((await started.ended).stdout).toBe('first\nlast\n');
  });

  it('runs in the directory that --cwd names', async () => {
    mkdirSync(join(place.cwd, 'below'));
    expect((await nacre('run', '--cwd', 'below', 'pwd')).stdout).toBe(`${place.cwd}/below\n`);
    expect((await nacre('run', '--cwd=/', 'pwd')).stdout).toBe('/\n');
  });

  it('names on stderr the background processes that it killed', async () => {
    const { code, stdout, stderr } = await nacre('run', 'sleep 65.5 & echo hi');
    expect([code, stdout]).toEqual([0, 'hi\n']);
    expect(stderr).toMatch(/^nacre: killed when the command ended: sleep 65\.5 \(\d+\)\.\n$/);
  });

  it('E5: names withheld variables after a failed command', async () => {
    place = createPlace({ API_TOKEN: 'secret' });
    expect((await nacre('run', 'printenv API_TOKEN')).stderr).toBe(
      'nacre: not passed to the command: API_TOKEN.\n',
    );
    expect((await nacre('run', 'true')).stderr).toBe('');
  });

  it('prints no colours', async () => {
    const everything = await Promise.all([nacre('run', 'no-such-program'), nacre('--help')]);
    for (const { stdout, stderr } of everything) expect(stdout + stderr).not.toContain('\u001b');
  });
});

describe('the exit code of nacre run', () => {
  it('is 124 after --timeout, with the output so far', async () => {
    const start = Date.now();
    const { code, stdout, stderr } = await nacre('run', '--timeout', '300ms', 'echo so far; sleep 66.5');
    expect([code, stdout]).toEqual([124, 'so far\n']);
    expect(stderr).toMatch(/timed out/);
    expect(Date.now() - start).toBeLessThan(2_000);
  });

  it.each<[number, string, string[], RegExp]>([
    [125, 'no command', [], /No command was given/],
    [125, 'an empty command', [''], /command must not be empty/],
    [
      125,
      'a missing directory',
      ['--cwd', 'missing', 'pwd'],
      /Working directory does not exist: cwd is "missing"/,
    ],
    [125, 'an unknown flag', ['--bogus', 'pwd'], /--bogus/],
    [
      125,
      'an invalid flag value',
      ['--timeout', 'never', 'pwd'],
      /--timeout: .*"never"; expected a whole number from 1/,
    ],
    [126, 'a file that is not executable', ['/etc/passwd', 'x'], /Permission denied/],
    [127, 'a missing program', ['no-such-program', 'x'], /no-such-program/],
    [127, 'a program that bash cannot find', ['no-such-program'], /no-such-program/],
  ])('is %d for %s', async (code, _, argv, expected) => {
    const ended = await nacre('run', ...argv);
    expect(ended.code).toBe(code);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toMatch(expected);
  });

  it('P12: is 126 for a program that is not listed; without a list every program runs', async () => {
    expect((await nacre('run', 'pwd')).code).toBe(0);
    place = createPlace({ ALLOWED_COMMANDS: 'ls' });
    for (const argv of [['pwd'], ['pwd', '-P']]) {
      const { code, stderr } = await nacre('run', ...argv);
      expect([code, stderr]).toEqual([126, expect.stringMatching(/pwd.*not allowed/)]);
    }
  });

  it('T8: is 126 for a directory outside the roots, and 125 if a root cannot be resolved', async () => {
    place = createPlace({ ALLOWED_CWD_ROOTS: '/usr' });
    expect((await nacre('run', '--cwd', '/tmp', 'pwd')).code).toBe(126);
    const { code, stderr } = await nacre('run', '--cwd-roots', '/does/not/exist', '--cwd', '/tmp', 'pwd');
    expect(code).toBe(125);
    expect(stderr).toMatch(/warning: ALLOWED_CWD_ROOTS lists \/does\/not\/exist/);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGPIPE', 141],
  ])('is 128 + N after %s', async (signal, code) => {
    const started = startInProcess(['run', 'echo begun; sleep 67.5'], place);
    while (started.out.text() === '') await sleep(10);
    started.interrupt(signal);
    expect(await started.ended).toEqual({ code, stdout: 'begun\n', stderr: '' });
  });

  it('is returned even if stdout is no longer read', async () => {
    const started = startInProcess(['run', 'yes'], place);
    started.stdout.pause();
    await sleep(100);
    started.interrupt('SIGTERM');
    expect((await started.ended).code).toBe(143);
  });
});

describe('nacre run --json', () => {
  it('prints one document', async () => {
    const { code, stdout } = await nacre('run', '--json', 'echo out; echo err >&2; exit 3');
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      exit_code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      status: 'failed',
      cause: 'exit',
      truncated: false,
      cwd: place.cwd,
    });
    expect(JSON.parse(stdout).resources).toMatchObject({ cpuMs: expect.any(Number), processes: null });
    const { stdout: late } = await nacre('run', '--json', '--timeout', '100ms', 'sleep 68.5');
    expect(JSON.parse(late)).toMatchObject({ exit_code: null, cause: 'timeout' });
  });

  it('prints an error document if the command did not run', async () => {
    const { code, stdout, stderr } = await nacre('run', '--json', 'no-such-program', 'x');
    expect([code, stderr]).toEqual([127, '']);
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'program_not_found',
        message: expect.stringContaining('no-such-program'),
        hint: expect.any(String),
      },
    });
  });

  it('truncates output to --max-output-chars', async () => {
    const { stdout } = await nacre('run', '--json', '--max-output-chars', '100', 'seq 1 1000');
    const document = JSON.parse(stdout);
    expect(document.truncated).toBe(true);
    expect(document.stdout.length).toBeLessThan(250);
    expect(document.stdout).toContain('--max-output-chars');
  });
});

describe('nacre run --input', () => {
  it('writes text to stdin; without it, stdin is empty', async () => {
    expect((await nacre('run', '--input', 'héllo', 'cat')).stdout).toBe('héllo');
    expect(await runInProcess(['run', 'cat'], place, 'not for you')).toMatchObject({ code: 0, stdout: '' });
  });

  it('- forwards nacre’s own stdin, including a byte order mark', async () => {
    const { code, stdout } = await runInProcess(['run', '--input', '-', 'od -An -tx1'], place, '\ufeffa\r\n');
    expect([code, stdout]).toEqual([0, ' ef bb bf 61 0d 0a\n']);
  });

  it('- refuses invalid UTF-8 and more than 8 MiB', async () => {
    const broken = await runInProcess(['run', '--input', '-', 'cat'], place, Buffer.from([0x61, 0xff]));
    expect([broken.code, broken.stdout]).toEqual([125, '']);
    expect(broken.stderr).toMatch(/--input: stdin is not valid UTF-8/);
    const huge = await runInProcess(['run', '--input', '-', 'cat'], place, Buffer.alloc(8_388_609, 0x61));
    expect([huge.code, huge.stdout]).toEqual([125, '']);
    expect(huge.stderr).toMatch(/--input: stdin has more than 8388608 bytes/);
  });

  it('- can be interrupted while it reads stdin', async () => {
    const started = startInProcess(['run', '--input', '-', 'cat'], place);
    await sleep(50);
    started.interrupt('SIGINT');
    expect(await started.ended).toMatchObject({ code: 130, stdout: '' });
  });

  it('reports a broken stdin', async () => {
    const started = startInProcess(['run', '--input', '-', 'cat'], place);
    started.stdin.destroy(new Error('disconnected'));
    expect(await started.ended).toMatchObject({ code: 125, stderr: expect.stringContaining('disconnected') });
  });
});
