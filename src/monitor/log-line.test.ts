import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '../audit/read-records.ts';
import { toLogLine } from './log-line.ts';

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
