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
  it('passes on stdout, stderr and the exit code of the command', async () => {
    expect(await nacre('run', 'echo out; echo err >&2; exit 3')).toEqual({
      code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect((await nacre('run', 'kill -9 $$')).code).toBe(137);
  });

  it('takes several words as a program and its arguments, with no shell in between', async () => {
    const { code, stdout } = await nacre('run', 'printf', '%s|', '$HOME', '*', '--json', '-h');
    expect([code, stdout]).toEqual([0, '$HOME|*|--json|-h|']);
    expect((await nacre('run', '--', 'printf', '%s', '--json')).stdout).toBe('--json');
  });

  it('passes on every byte as it is', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    writeFileSync(join(place.cwd, 'bytes'), bytes);
    const started = startInProcess(['run', 'cat', 'bytes'], place);
    expect((await started.ended).code).toBe(0);
    expect(started.out.bytes()).toEqual(bytes);
  });

  it('shows output while the command runs', async () => {
    const script = 'echo first; until [ -e go ]; do sleep 0.05; done; echo last';
    const started = startInProcess(['run', script], place);
    await expect.poll(() => started.out.text(), { timeout: 10_000 }).toBe('first\n');
    writeFileSync(join(place.cwd, 'go'), '');
    expect((await started.ended).stdout).toBe('first\nlast\n');
  });

  it('takes the directory from --cwd', async () => {
    mkdirSync(join(place.cwd, 'below'));
    expect((await nacre('run', '--cwd', 'below', 'pwd')).stdout).toBe(`${place.cwd}/below\n`);
    expect((await nacre('run', '--cwd=/', 'pwd')).stdout).toBe('/\n');
  });

  it('tells on stderr what it ended together with the command', async () => {
    const { code, stdout, stderr } = await nacre('run', 'sleep 65.5 & echo hi');
    expect([code, stdout]).toEqual([0, 'hi\n']);
    expect(stderr).toMatch(/^nacre: ended with the command: sleep 65\.5 \(\d+\)\.\n$/);
  });

  it('E5: names what was withheld from a command that failed', async () => {
    place = createPlace({ API_TOKEN: 'secret' });
    expect((await nacre('run', 'printenv API_TOKEN')).stderr).toBe(
      'nacre: not passed on to the command: API_TOKEN.\n',
    );
    expect((await nacre('run', 'true')).stderr).toBe('');
  });

  it('prints no colours', async () => {
    const everything = await Promise.all([
      nacre('run', 'nonsense-that-is-none'),
      nacre('--help'),
      nacre('doctor'),
    ]);
    for (const { stdout, stderr } of everything) expect(stdout + stderr).not.toContain('\u001b');
  });
});

describe('the exit code of nacre run', () => {
  it('is 124 after --timeout, and the output so far is there', async () => {
    const start = Date.now();
    const { code, stdout, stderr } = await nacre('run', '--timeout', '300ms', 'echo so far; sleep 66.5');
    expect([code, stdout]).toEqual([124, 'so far\n']);
    expect(stderr).toMatch(/timed out/);
    expect(Date.now() - start).toBeLessThan(2_000);
  });

  it.each<[number, string, string[], RegExp]>([
    [125, 'no command', [], /no command to run/],
    [125, 'an empty command', [''], /command must not be empty/],
    [125, 'a missing directory', ['--cwd', 'missing', 'pwd'], /cwd "missing" does not exist/],
    [125, 'an unknown flag', ['--bogus', 'pwd'], /--bogus/],
    [
      125,
      'a wrong flag',
      ['--timeout', 'never', 'pwd'],
      /--timeout: .*"never"; expected a whole number from 1/,
    ],
    [126, 'a file that may not be executed', ['/etc/passwd', 'x'], /Permission denied/],
    [127, 'a program that is not there', ['no-such-program', 'x'], /no-such-program/],
    [127, 'a program that bash does not find', ['no-such-program'], /no-such-program/],
  ])('is %d for %s', async (code, _, argv, expected) => {
    const ended = await nacre('run', ...argv);
    expect(ended.code).toBe(code);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toMatch(expected);
  });

  it('P12: is 126 for a program that the list leaves out, while no list leaves none out', async () => {
    expect((await nacre('run', 'pwd')).code).toBe(0);
    place = createPlace({ ALLOWED_COMMANDS: 'ls' });
    for (const argv of [['pwd'], ['pwd', '-P']]) {
      const { code, stderr } = await nacre('run', ...argv);
      expect([code, stderr]).toEqual([126, expect.stringMatching(/pwd.*not allowed/)]);
    }
  });

  it('T8: is 126 for a directory outside the roots, and 125 when one cannot be resolved', async () => {
    place = createPlace({ ALLOWED_CWD_ROOTS: '/usr' });
    expect((await nacre('run', '--cwd', '/tmp', 'pwd')).code).toBe(126);
    const { code, stderr } = await nacre('run', '--cwd-roots', '/does/not/exist', '--cwd', '/tmp', 'pwd');
    expect(code).toBe(125);
    expect(stderr).toMatch(/warning: ALLOWED_CWD_ROOTS names \/does\/not\/exist/);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGPIPE', 141],
  ])('is that of the signal when %s interrupts it', async (signal, code) => {
    const started = startInProcess(['run', 'echo begun; sleep 67.5'], place);
    while (started.out.text() === '') await sleep(10);
    started.interrupt(signal);
    expect(await started.ended).toEqual({ code, stdout: 'begun\n', stderr: '' });
  });

  it('comes also when nobody reads the output any more', async () => {
    const started = startInProcess(['run', 'yes'], place);
    started.stdout.pause();
    await sleep(300);
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

  it('prints what kept the command from running, too', async () => {
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

  it('cuts output to --max-output-chars', async () => {
    const { stdout } = await nacre('run', '--json', '--max-output-chars', '100', 'seq 1 1000');
    const document = JSON.parse(stdout);
    expect(document.truncated).toBe(true);
    expect(document.stdout.length).toBeLessThan(250);
    expect(document.stdout).toContain('--max-output-chars');
  });
});

describe('nacre run --input', () => {
  it('gives a text to stdin, and without it stdin is empty', async () => {
    expect((await nacre('run', '--input', 'héllo', 'cat')).stdout).toBe('héllo');
    expect(await runInProcess(['run', 'cat'], place, 'not for you')).toMatchObject({ code: 0, stdout: '' });
  });

  it('- passes on the own stdin, a byte order mark included', async () => {
    const { code, stdout } = await runInProcess(['run', '--input', '-', 'od -An -tx1'], place, '\ufeffa\r\n');
    expect([code, stdout]).toEqual([0, ' ef bb bf 61 0d 0a\n']);
  });

  it('- refuses what would not arrive as it is', async () => {
    const broken = await runInProcess(['run', '--input', '-', 'cat'], place, Buffer.from([0x61, 0xff]));
    expect([broken.code, broken.stdout]).toEqual([125, '']);
    expect(broken.stderr).toMatch(/--input: stdin is not valid UTF-8/);
    const huge = await runInProcess(['run', '--input', '-', 'cat'], place, Buffer.alloc(8_388_609, 0x61));
    expect([huge.code, huge.stdout]).toEqual([125, '']);
    expect(huge.stderr).toMatch(/--input: stdin holds more than 8388608 bytes/);
  });

  it('- does not hold up an interruption while it waits', async () => {
    const started = startInProcess(['run', '--input', '-', 'cat'], place);
    await sleep(50);
    started.interrupt('SIGINT');
    expect(await started.ended).toMatchObject({ code: 130, stdout: '' });
  });

  it('tells a stdin that breaks', async () => {
    const started = startInProcess(['run', '--input', '-', 'cat'], place);
    started.stdin.destroy(new Error('unplugged'));
    expect(await started.ended).toMatchObject({ code: 125, stderr: expect.stringContaining('unplugged') });
  });
});
