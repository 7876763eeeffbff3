import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlace, runInProcess, startInProcess, survivors } from '../support/nacre.ts';

const place = createPlace({ NACRE_RECORD: 'true' });
const nacre = (...words: string[]) => runInProcess(words, place);
const idOf = async (text: string) =>
  JSON.parse((await nacre('history', '--json', '--grep', text)).stdout.split('\n')[0] ?? '').id as string;

beforeAll(async () => {
  mkdirSync(join(place.cwd, 'below'));
  await nacre('run', 'echo one');
  await nacre('run', '--cwd', join(place.cwd, 'below'), 'echo two; exit 3');
  await nacre('run', '--allow', 'ls', 'echo three');
  await nacre('run', 'printf "a\\nb"; sleep 0.3; echo " ü" >&2; exit 4');
});
afterAll(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true });
});

describe('S6: nacre history', () => {
  it('shows past commands, filtered by text, failure, directory, time and number', async () => {
    const shown = async (...flags: string[]) =>
      (await nacre('history', ...flags)).stdout.split('\n').slice(0, -1);
    expect(await shown()).toEqual([
      expect.stringMatching(/completed .*: echo one$/),
      expect.stringMatching(/failed 3 .*: echo two; exit 3$/),
      expect.stringMatching(/refused .*: echo three$/),
      expect.stringMatching(/failed 4 .*printf/),
    ]);
    expect(await shown('--grep', 'TWO|three')).toHaveLength(2);
    expect(await shown('--failed')).toHaveLength(3);
    expect(await shown('--cwd', join(place.cwd, 'below'))).toHaveLength(1);
    expect(await shown('--cwd', place.cwd)).toHaveLength(4);
    symlinkSync(join(place.cwd, 'below'), join(place.cwd, 'link'));
    expect(await shown('--cwd', join(place.cwd, 'link'))).toHaveLength(1);
    expect(await shown('--since', '2999-01-01')).toEqual([]);
    expect(await shown('--limit', '1')).toEqual([expect.stringContaining('printf')]);
    expect(await nacre('history', '--grep', '(')).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('--grep'),
    });
  });
});

it('S6: control characters in a past command are escaped', async () => {
  const other = createPlace();
  await runInProcess(['run', "echo '\u001b]0;title\u0007\r\u009b2J\u202e' > /dev/null"], other);
  for (const words of [['history'], ['audit', 'show']]) {
    const { stdout } = await runInProcess(words, other);
    expect(stdout).toContain('\\u{1b}]0;title');
    expect(stdout).toMatch(/^[^\p{Cc}\u202e]*\n$/u);
  }
  rmSync(other.cwd, { recursive: true });
});

describe('nacre replay', () => {
  it('plays recorded output with its timing or faster', async () => {
    const id = await idOf('printf');
    const start = Date.now();
    expect(await nacre('replay', id)).toMatchObject({ code: 0, stdout: 'a\r\nb ü\r\n' });
    expect(Date.now() - start).toBeGreaterThanOrEqual(250);
    expect(await nacre('replay', '--speed', '100', id)).toMatchObject({ stdout: 'a\r\nb ü\r\n' });
    expect(await nacre('replay', '--max-pause', '1ms', id)).toMatchObject({ stdout: 'a\r\nb ü\r\n' });
    const stopped = startInProcess(['replay', id], place);
    stopped.interrupt('SIGINT');
    expect(await stopped.ended).toMatchObject({ code: 130 });
  });

  it('exports asciicast v2 and v3', async () => {
    const id = await idOf('printf');
    const lines = async (version: string) =>
      (await nacre('replay', '--export', version, id)).stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    const [head, ...events] = await lines('v3');
    expect(head).toMatchObject({
      version: 3,
      term: { cols: 80, rows: 24 },
      timestamp: expect.any(Number),
      title: id,
    });
    expect(events.pop()?.slice(1)).toEqual(['x', '4']);
    // On a busy machine the output of one write may arrive in several chunks.
    const isOutput = ([, code]: [number, string]) => code === 'o';
    expect(events.every(isOutput)).toBe(true);
    expect(events.map(([, , text]) => text).join('')).toBe('a\r\nb ü\r\n');
    expect(events.at(-1)?.[0]).toBeGreaterThan(0.05);
    const [old, ...older] = await lines('v2');
    expect(old).toMatchObject({ version: 2, width: 80, height: 24 });
    expect(older.length).toBeGreaterThan(1);
    expect(older.every(isOutput)).toBe(true);
    expect(older.at(-1)?.[0]).toBeGreaterThan(older[0]?.[0]);
  });

  it('reports a missing recording and an invalid id', async () => {
    expect((await nacre('replay')).stderr).toContain('expects one command id');
    expect((await nacre('replay', 'cmd_000000000000')).stderr).toContain(
      'There is no recording of cmd_000000000000',
    );
    expect((await nacre('replay', '../x')).stderr).toContain('is not a command id');
  });
});
