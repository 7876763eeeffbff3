import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '../audit/read-records.ts';
import { createLogLines, toLogLine } from './log-line.ts';

const record = (kind: string, more: object = {}): AuditRecord => ({
  seq: 3,
  prev: 'x',
  time: '2026-03-01T10:11:12.345Z',
  kind,
  id: 'cmd_1',
  door: 'mcp',
  client: 'tester',
  ...more,
});
const kindsAt = (logLevel: 'off' | 'error' | 'warn' | 'info' | 'debug') =>
  [
    record('asked', { command: 'ls' }),
    record('decided', { verdict: 'allow', rule: 'listed' }),
    record('started'),
    record('finished', { status: 'failed', exit_code: 2, duration_ms: 5 }),
    record('refused', { code: 'policy_denied', message: 'rm is not allowed.' }),
    record('failed', { code: 'internal', message: 'oh' }),
    record('failed', { code: 'cancelled', message: 'stopped' }),
    record('skipped', { reason: 'why' }),
  ].flatMap((one) => toLogLine(one, { logLevel, logFormat: 'pretty' }) ?? []);

describe('S10: log lines', () => {
  it('are readable text, filtered by level', () => {
    expect(kindsAt('off')).toEqual([]);
    expect(kindsAt('error')).toEqual(['nacre: 10:11:12.345 error cmd_1 failed: tester, "oh"\n']);
    expect(kindsAt('warn')).toHaveLength(2);
    expect(kindsAt('info')).toContain(
      'nacre: 10:11:12.345 info  cmd_1 finished: tester, failed with exit code 2 after 5 ms\n',
    );
    expect(kindsAt('info')).toHaveLength(5);
    expect(kindsAt('debug').slice(0, 3)).toEqual([
      'nacre: 10:11:12.345 debug cmd_1 asked: tester asks for "ls"\n',
      'nacre: 10:11:12.345 debug cmd_1 decided: tester, allow by listed\n',
      'nacre: 10:11:12.345 debug cmd_1 started: tester\n',
    ]);
  });

  it('contain the command in the line about its end', () => {
    const toLine = createLogLines({ logLevel: 'info', logFormat: 'pretty' });
    expect(toLine(record('asked', { command: 'ls -l' }))).toBeNull();
    expect(toLine(record('started'))).toBeNull();
    const finished = record('finished', { status: 'completed', exit_code: 0, duration_ms: 5 });
    expect(toLine(finished)).toBe(
      'nacre: 10:11:12.345 info  cmd_1 finished: tester, "ls -l", completed with exit code 0 after 5 ms\n',
    );
    expect(toLine(record('asked', { command: ['rm', 'x'] }))).toBeNull();
    const refused = record('refused', { code: 'policy_denied', message: 'rm is not allowed.' });
    expect(toLine(refused)).toBe(
      'nacre: 10:11:12.345 warn  cmd_1 refused: tester, ["rm","x"], "rm is not allowed."\n',
    );
    const json = createLogLines({ logLevel: 'info', logFormat: 'json' });
    json(record('asked', { command: 'ls' }));
    expect(JSON.parse(json(finished) ?? '')).toMatchObject({ event: 'finished', command: 'ls' });
  });

  it('cannot be forged by a client or a command', () => {
    const forged = record('failed', {
      client: 'x\nnacre: 10:11:13.000 info  cmd_2 finished: y\u001b[2K',
      code: 'internal',
      message: 'a\u009b\u202e',
    });
    const line = toLogLine(forged, { logLevel: 'info', logFormat: 'pretty' }) ?? '';
    expect(line).toMatch(/^nacre: [^\n\u001b\u009b\u202e]*\n$/);
  });

  it('are JSON documents with log_format: json', () => {
    const line = toLogLine(record('finished', { status: 'completed' }), {
      logLevel: 'info',
      logFormat: 'json',
    });
    expect(JSON.parse(line ?? '')).toEqual({
      time: '2026-03-01T10:11:12.345Z',
      level: 'info',
      event: 'finished',
      id: 'cmd_1',
      door: 'mcp',
      client: 'tester',
      status: 'completed',
    });
  });
});
