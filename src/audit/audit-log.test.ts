import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { askedEntry, auditCaller as caller, finishedEntry } from '../../tests/support/audit.ts';
import { runChild } from '../../tests/support/child.ts';
import { openDescriptors } from '../../tests/support/processes.ts';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { NacreError } from '../contract/failure.ts';
import type { Outcome } from '../contract/outcome.ts';
import { listAuditFiles } from './audit-files.ts';
import { type AuditLog, createAuditLog } from './audit-log.ts';
import { createRedact } from './redact.ts';
import { verifyAudit } from './verify.ts';

let folder = '';
let dir = '';
let logs: AuditLog[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  dir = join(folder, 'audit');
  logs = [];
});
afterEach(() => {
  for (const log of logs) log.close();
  rmSync(folder, { recursive: true, force: true });
});

function newLog(fsync: 'interval' | 'always' = 'interval', secrets: string[] = []): AuditLog {
  const log = createAuditLog({ dir, fsync, redact: createRedact(secrets) });
  logs.push(log);
  return log;
}
const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const recordsOf = (path: string): Record<string, unknown>[] => linesOf(path).map((line) => JSON.parse(line));
const namesOf = (path: string) => recordsOf(path).map(({ id, kind }) => `${id} ${kind}`);

/** Checks that every line contains the digest of the line before it. */
function expectChain(path: string): void {
  let previous = '0'.repeat(64);
  for (const [index, line] of linesOf(path).entries()) {
    expect(JSON.parse(line)).toMatchObject({ seq: index, prev: previous });
    previous = createHash('sha256').update(`${line}\n`).digest('hex');
  }
}

describe('S6: the audit log', () => {
  test('refuses further records of a command that lost one, and accepts those of others', () => {
    const log = newLog();
    mkdirSync(log.path, { recursive: true });
    log.recordSoon(askedEntry('first', { id: 'cmd_1' }));
    expect(() => log.record(askedEntry('second', { id: 'cmd_2' }))).toThrow(/cannot be written: EISDIR/);
    rmdirSync(log.path);
    const named = { id: 'cmd_1', caller };
    expect(() => log.record({ kind: 'started', ...named, cwd: '/' })).toThrow(/earlier record/);
    expect(log.tryRecord({ kind: 'failed', ...named, error: new Error('x') })).toEqual([]);
    log.record(askedEntry('third', { id: 'cmd_3' }));
    expectChain(log.path);
  });

  test('publishes each record once: a few milliseconds later, at settle or at close', async () => {
    const log = newLog();
    const told: string[] = [];
    log.subscribe(() => {
      throw new Error('broken listener');
    });
    log.subscribe(({ id }) => told.push(id));
    log.record(askedEntry('first', { id: 'cmd_1' }));
    expect(told).toEqual([]);
    await expect.poll(() => told).toEqual(['cmd_1']);
    log.recordSoon(askedEntry('second', { id: 'cmd_2' }));
    log.settle();
    expect(told).toEqual(['cmd_1', 'cmd_2']);
    log.record(askedEntry('third', { id: 'cmd_3' }));
    log.close();
    expect(told).toEqual(['cmd_1', 'cmd_2', 'cmd_3']);
  });

  test('S10: publishes each record in the async context of its record call, such as the active span', async () => {
    const log = newLog();
    const active = new AsyncLocalStorage<string>();
    const told: unknown[] = [];
    log.subscribe(({ id }) => told.push([id, active.getStore()]));
    active.run('one', () => log.recordSoon(askedEntry('first', { id: 'cmd_1' })));
    active.run('two', () => log.record(askedEntry('second', { id: 'cmd_2' })));
    log.record(askedEntry('third', { id: 'cmd_3' }));
    await expect.poll(() => told).toHaveLength(3);
    expect(told).toEqual([
      ['cmd_1', 'one'],
      ['cmd_2', 'two'],
      ['cmd_3', undefined],
    ]);
  });

  test('keeps the end of a command that cannot be written until it can', () => {
    const log = newLog();
    mkdirSync(log.path, { recursive: true });
    expect(log.tryRecordSoon(finishedEntry('cmd_1'))).toEqual([]);
    for (const id of ['cmd_2', 'cmd_3']) expect(() => log.record(askedEntry('x', { id }))).toThrow(/EISDIR/);
    log.settle();
    rmdirSync(log.path);
    log.record(askedEntry('x', { id: 'cmd_4' }));
    expect(namesOf(log.path)).toEqual(['cmd_1 finished', 'cmd_4 asked']);
    expectChain(log.path);
  });

  test('keeps queued records of other commands when it refuses a command that lost one', () => {
    const log = newLog();
    mkdirSync(log.path, { recursive: true });
    log.recordSoon(askedEntry('first', { id: 'cmd_1' }));
    expect(() => log.record(askedEntry('second', { id: 'cmd_2' }))).toThrow(/EISDIR/);
    rmdirSync(log.path);
    log.recordSoon(askedEntry('third', { id: 'cmd_3' }));
    expect(() => log.recordSoon({ kind: 'started', id: 'cmd_1', caller, cwd: '/' })).toThrow(
      /earlier record/,
    );
    log.record({ kind: 'started', id: 'cmd_3', caller, cwd: '/' });
    expect(namesOf(log.path)).toEqual(['cmd_3 asked', 'cmd_3 started']);
  });

  test('writes the end of a command a few milliseconds later, or immediately with fsync: always', async () => {
    const [soon, now] = [newLog(), newLog('always')];
    for (const log of [soon, now]) expect(log.tryRecordSoon(finishedEntry('cmd_1'))).toEqual([]);
    expect([existsSync(soon.path), existsSync(now.path)]).toEqual([false, true]);
    await expect.poll(() => existsSync(soon.path) && namesOf(soon.path)).toEqual(['cmd_1 finished']);
  });

  test('writes entries that were queued over midnight to the file of their own day', () => {
    let time = '2026-01-31T23:59:59.999Z';
    const log = createAuditLog({
      dir,
      fsync: 'interval',
      redact: createRedact([]),
      now: () => new Date(time),
    });
    logs.push(log);
    log.recordSoon(finishedEntry('cmd_1'));
    log.recordSoon(finishedEntry('cmd_2'));
    time = '2026-02-01T00:00:00.000Z';
    log.recordSoon(finishedEntry('cmd_3'));
    log.settle();
    const files = listAuditFiles(dir).map(({ name, day }) => [day, ...namesOf(join(dir, name))]);
    expect(files).toEqual([
      ['2026-01-31', 'cmd_1 finished', 'cmd_2 finished'],
      ['2026-02-01', 'cmd_3 finished'],
    ]);
    expect(verifyAudit(dir)).toMatchObject({ records: 3, problems: [], notes: [] });
  });

  test('is a private file of lines, each with the digest of the line before', () => {
    const log = newLog();
    expect(existsSync(dir)).toBe(false);
    for (const script of ['one', 'two\nlines', 'half \ud800 a character', 'three'])
      log.record(askedEntry(script));
    expect([statSync(dir).mode & 0o777, statSync(log.path).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(recordsOf(log.path).map(({ command }) => command)).toHaveLength(4);
    expectChain(log.path);
    expect(recordsOf(log.path)[0]).toEqual({
      seq: 0,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      prev: '0'.repeat(64),
      kind: 'asked',
      id: 'cmd_1',
      door: 'mcp',
      client: 'test 1.0',
      command: 'one',
      cwd: null,
      env: {},
    });
  });

  test('records the decision, the outcome and the failure of a command', () => {
    const log = newLog('always');
    const node = { pos: 0, end: 2, text: 'ls' };
    const programs = [
      { name: 'ls', pos: 0, end: 2 },
      { name: 'ls', pos: 4, end: 6 },
      { name: `ghp_${'x'.repeat(20)}`, pos: 8, end: 9 },
    ];
    const decision = {
      verdict: 'deny',
      rule: 'not_listed',
      reason: 'ls is not allowed.',
      programs,
      node,
    } as const;
    log.record({ kind: 'decided', id: 'cmd_1', caller, cwd: '/srv', decision });
    const outcome: Outcome = {
      id: 'cmd_1',
      status: 'failed',
      cause: 'exit',
      exitCode: 3,
      signal: null,
      detail: null,
      cwd: '/srv',
      durationMs: 12,
      stdout: 'never recorded',
      stderr: '',
      stdoutBytes: 14,
      stderrBytes: 0,
      truncated: false,
      leftRunning: [{ pid: 1, command: 'sleep' }],
      survivors: [],
      kept: [],
      deniedHosts: ['PASSWORD=x.example:443'],
      withheldEnv: [],
      resources: { cpuMs: 12, peakMemoryBytes: null, processes: null, readBytes: null, writtenBytes: null },
      enforcement: null,
      warnings: [],
    };
    log.record({ kind: 'finished', id: 'cmd_1', caller, outcome });
    log.record({ kind: 'failed', id: 'cmd_2', caller, error: new NacreError('cancelled', 'PASSWORD=x') });
    log.record({ kind: 'failed', id: 'cmd_3', caller, error: 'thrown text' });
    const [decided, finished, cancelled, thrown] = recordsOf(log.path);
    expect(decided).toMatchObject({
      verdict: 'deny',
      rule: 'not_listed',
      cwd: '/srv',
      programs: ['ls', '[redacted]'],
    });
    expect(finished).toMatchObject({
      status: 'failed',
      exit_code: 3,
      duration_ms: 12,
      stdout_bytes: 14,
      stderr_bytes: 0,
      left_running: 1,
      denied_hosts: ['PASSWORD=[redacted]'],
    });
    expect(cancelled).toMatchObject({ code: 'cancelled', message: 'PASSWORD=[redacted]' });
    expect(thrown).toMatchObject({ code: 'internal', message: 'thrown text' });
    expect(readFileSync(log.path, 'utf8')).not.toContain('never recorded');
    expectChain(log.path);
  });

  test('has no secret in commands, arguments, variables, directories or clients', () => {
    const log = newLog('interval', ['the-withheld-value']);
    const env = {
      DB_PASSWORD: 'two words',
      PLAIN: 'x the-withheld-value',
      GH_PAT: 'a short one',
      MYKEY: 'another',
    };
    log.record(askedEntry('PASSWORD=hunter2 run', { env, cwd: '/tmp/the-withheld-value' }));
    const argv = ['mysql', '--password', 'hunter2 hunter3', 'the-withheld-value'] as const;
    log.record(
      askedEntry('', {
        command: { kind: 'argv', argv },
        caller: { door: 'cli', client: 'the-withheld-value' },
      }),
    );
    const text = readFileSync(log.path, 'utf8');
    for (const secret of ['hunter', 'the-withheld-value', 'two words', 'a short one'])
      expect(text).not.toContain(secret);
    const [first, second] = recordsOf(log.path);
    expect(first?.env).toEqual({
      DB_PASSWORD: '[redacted]',
      PLAIN: 'x [redacted]',
      GH_PAT: '[redacted]',
      MYKEY: '[redacted]',
    });
    expect(second?.command).toEqual(['mysql', '--password', '[redacted]', '[redacted]']);
  });

  test('records the beginning of a long command with its length and digest, and never half a secret', () => {
    const log = newLog();
    const script = `${'x'.repeat(16_370)} ghp_${'y'.repeat(40)} ${'z'.repeat(500_000)}`;
    log.record(askedEntry(script, { env: { LONG: 'v'.repeat(100_000) } }));
    const [record] = recordsOf(log.path);
    const sha256 = createHash('sha256').update(script).digest('hex');
    expect(record?.command).toMatchObject({ length: script.length, sha256 });
    expect(readFileSync(log.path, 'utf8')).not.toContain('ghp_');
    expect(statSync(log.path).size).toBeLessThan(40_000);
  });

  test('is a separate file for every server, even if they start at the same time', () => {
    const pair = [newLog(), newLog()];
    for (const log of [...pair, ...pair]) log.record(askedEntry('x'));
    expect(listAuditFiles(dir)).toHaveLength(2);
    for (const { path } of pair) expectChain(path);
  });

  test('does not change the mode of an existing folder', () => {
    mkdirSync(dir);
    chmodSync(dir, 0o755);
    newLog().record(askedEntry('x'));
    expect(statSync(dir).mode & 0o777).toBe(0o755);
  });

  test('continues in a new file after a deletion, and the gap is visible', () => {
    const before = openDescriptors();
    const log = newLog();
    log.record(askedEntry('one'));
    rmSync(dir, { recursive: true });
    log.record(askedEntry('two'));
    const [record] = recordsOf(log.path);
    expect(record).toMatchObject({ seq: 1, command: 'two' });
    expect(record?.prev).not.toBe('0'.repeat(64));
    log.close();
    log.close();
    expect(openDescriptors()).toBe(before);
  });

  test('throws while it cannot be written, and recovers', () => {
    writeFileSync(dir, 'in the way');
    const log = newLog();
    expect(() => log.record(askedEntry('one'))).toThrow(
      expect.objectContaining({ code: 'audit_unavailable', message: expect.stringContaining(log.path) }),
    );
    expect(log.tryRecord(askedEntry('one'))).toEqual([expect.stringContaining('could not be recorded')]);
    rmSync(dir);
    expect(log.tryRecord(askedEntry('two'))).toEqual([]);
    expectChain(log.path);
  });

  test('records the end of a command as soon as it can be written', () => {
    const log = newLog();
    log.record({ kind: 'started', id: 'cmd_1', caller, cwd: '/' });
    rmSync(dir, { recursive: true });
    writeFileSync(dir, 'in the way');
    expect(log.tryRecord(finishedEntry('cmd_1'))).toEqual([expect.stringContaining('could not be recorded')]);
    rmSync(dir);
    log.record(askedEntry('two', { id: 'cmd_2' }));
    expect(recordsOf(log.path).map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      'finished cmd_1',
      'asked cmd_2',
    ]);
    log.close();
  });

  test('loses no accepted record and leaves no partial line on a full disk', async () => {
    const found = await runChild('full-audit', { ulimits: ['-f 20'] });
    expect(found).toMatchObject({ codes: ['audit_unavailable'], whole: true, chained: true });
    expect((found as { taken: number }).taken).toBeGreaterThan(5);
  });
});
