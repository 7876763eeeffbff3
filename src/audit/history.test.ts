import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { soakCount } from '../../tests/support/soak.ts';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { readHistory } from './history.ts';

let dir = '';
beforeEach(() => {
  dir = join(temporaryFolder(), 'audit');
  mkdirSync(dir);
});
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }));

const writeDay = (day: string, commands: number) => {
  const lines = Array.from({ length: commands }, (_, index) => {
    const head = { time: `${day}T10:00:00.000Z`, id: `cmd_${day}_${index}`, door: 'mcp', client: 'test' };
    return [
      { ...head, kind: 'asked', command: `make target-${index}` },
      { ...head, kind: 'decided', cwd: '/srv', verdict: 'allow', rule: 'listed', programs: ['make'] },
      {
        ...head,
        kind: 'finished',
        status: index % 2 ? 'failed' : 'completed',
        exit_code: index % 2,
        duration_ms: 5,
      },
    ].map((record) => `${JSON.stringify(record)}\n`);
  });
  writeFileSync(join(dir, `${day}_1_ab.jsonl`), lines.flat().join(''));
};

describe('S6: the history of commands', () => {
  test('is the same with an index, without one, and with a broken one', () => {
    writeDay('2026-01-01', 300);
    const first = readHistory(dir);
    expect(first).toHaveLength(300);
    expect(first[1]).toMatchObject({
      command: 'make target-1',
      outcome: 'failed',
      exit_code: 1,
      cwd: '/srv',
    });
    expect(existsSync(join(dir, 'history.index'))).toBe(true);
    expect(readHistory(dir)).toEqual(first);
    for (const broken of [
      '',
      'nonsense\n',
      '{"version":9}\n',
      '{"version":1,"positions":{},"commands":3}\n{}\n',
      readFileSync(join(dir, 'history.index'), 'utf8').replace('make target-7', 'true'),
      readFileSync(join(dir, 'history.index'), 'utf8').replace(/\n.*\n$/, '\n'),
    ]) {
      writeFileSync(join(dir, 'history.index'), broken);
      expect(readHistory(dir)).toEqual(first);
    }
  });

  test('contains only commands that are still in the log', () => {
    writeDay('2026-01-01', 300);
    writeDay('2026-01-02', 300);
    expect(readHistory(dir)).toHaveLength(600);
    rmSync(join(dir, '2026-01-01_1_ab.jsonl'));
    expect(readHistory(dir).map(({ time }) => time.slice(0, 10))).toEqual(Array(300).fill('2026-01-02'));
    writeDay('2026-01-02', 3);
    expect(readHistory(dir)).toHaveLength(3);
  });

  test('keeps the order of requests, even within one millisecond', () => {
    writeDay('2026-01-01', 40);
    expect(readHistory(dir).map(({ command }) => command)).toEqual(
      Array.from({ length: 40 }, (_, index) => `make target-${index}`),
    );
  });

  test('adds records written after the index, including the end of a command that was running', () => {
    writeDay('2026-01-01', 300);
    const open = { time: '2026-01-01T11:00:00.000Z', id: 'cmd_late', door: 'cli', client: 'x' };
    writeFileSync(
      join(dir, '2026-01-01_2_cd.jsonl'),
      `${JSON.stringify({ ...open, kind: 'asked', command: 'late' })}\n`,
    );
    expect(readHistory(dir).at(-1)).toMatchObject({ command: 'late', outcome: 'running' });
    const end = { ...open, kind: 'finished', status: 'completed', exit_code: 0, duration_ms: 1 };
    writeFileSync(join(dir, '2026-01-02_2_cd.jsonl'), `${JSON.stringify(end)}\n`);
    expect(readHistory(dir).at(-1)).toMatchObject({ command: 'late', outcome: 'completed' });
    expect(readHistory(dir)).toHaveLength(301);
  });

  test('is fast over a year of records', () => {
    const perMonth = soakCount(3_000, 300);
    for (let month = 1; month <= 12; month += 1)
      writeDay(`2026-${String(month).padStart(2, '0')}-15`, perMonth);
    expect(readHistory(dir)).toHaveLength(12 * perMonth);
    expect(cpuMsOf(() => readHistory(dir))).toBeLessThan(soakCount(3_000, 600));
  });

  test('skips lines that are not records, and throws for a file that cannot be read', () => {
    writeDay('2026-01-01', 1);
    const file = join(dir, '2026-01-01_1_ab.jsonl');
    const broken = [
      'null',
      '[]',
      '5',
      '{"kind":"asked","time":"x","id":5}',
      '{"kind":"asked","time":"x","id":"y"}',
    ];
    writeFileSync(file, `${readFileSync(file, 'utf8')}${broken.join('\n')}\n\u0000\n{"cut`);
    expect(readHistory(dir)).toHaveLength(1);
    mkdirSync(join(dir, '2026-01-02_1_ab.jsonl'));
    expect(() => readHistory(dir)).toThrow(expect.objectContaining({ code: 'audit_unavailable' }));
  });

  test('throws an error that names the folder if that is a file', () => {
    const file = join(dir, 'file');
    writeFileSync(file, '');
    expect(() => readHistory(file)).toThrow(
      expect.objectContaining({
        code: 'audit_unavailable',
        message: expect.stringContaining(`The audit log in ${file} cannot be read: ENOTDIR`),
      }),
    );
  });
});
