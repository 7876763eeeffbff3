import { describe, expect, it } from 'vitest';
import { NacreError } from '../../contract/failure.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { CommandRequest } from '../../contract/request.ts';
import type { AllowedCommands, AllowedRun } from '../common/tool.ts';
import { executeCommand } from './execute-command.ts';

const plain: Outcome = {
  id: 'cmd_1',
  status: 'completed',
  cause: 'exit',
  exitCode: 0,
  signal: null,
  detail: null,
  cwd: '/',
  durationMs: 1,
  stdout: 'out\n',
  stderr: '',
  stdoutBytes: 4,
  stderrBytes: 0,
  truncated: false,
  leftRunning: [],
  survivors: [],
  kept: [],
  deniedHosts: [],
  withheldEnv: ['A_TOKEN'],
  resources: null,
  enforcement: null,
  warnings: [],
};
const context = { caller: { door: 'functions', client: 'a test' }, owner: 'a test' } as const;
const notCalled = async () => {
  throw new Error('on_timeout is kill, so no method of commands may be called.');
};
const commands: AllowedCommands = {
  start: notCalled,
  runOrDetach: notCalled,
  read: notCalled,
  checkReading: notCalled,
  write: notCalled,
  stop: notCalled,
  list: notCalled,
  listSessions: notCalled,
  closeSession: notCalled,
};

const callWith = (run: AllowedRun, input: object) =>
  executeCommand({ run, commands }, { maxOutputChars: 30_000, defaultMs: 55_000, maxMs: 600_000 }).call(
    { command: 'x', ...input },
    context,
  );
const replyTo = (outcome: Partial<Outcome>) => callWith(async () => ({ ...plain, ...outcome }), {});

describe('execute_command', () => {
  it('T1: passes the input to the engine, with defaults filled in', async () => {
    const requests: CommandRequest[] = [];
    const run: AllowedRun = async (request) => {
      requests.push(request);
      return plain;
    };
    await callWith(run, {});
    await callWith(run, { input: 'i', cwd: 'c', env: { A: 'b' }, timeout_ms: 5, max_output_chars: 7 });
    await callWith(run, { sandbox: 'strict', limits: { memory_bytes: 2 ** 30, cpu_seconds: 2 } });
    const command = { kind: 'shell', script: 'x' };
    expect(requests).toEqual([
      {
        command,
        input: undefined,
        cwd: undefined,
        env: undefined,
        timeoutMs: 55_000,
        maxOutputChars: 30_000,
      },
      { command, input: 'i', cwd: 'c', env: { A: 'b' }, timeoutMs: 5, maxOutputChars: 7 },
      {
        command,
        timeoutMs: 55_000,
        maxOutputChars: 30_000,
        sandbox: 'strict',
        limits: { memoryBytes: 2 ** 30, cpuSeconds: 2 },
      },
    ]);
  });

  it('T2: has only the three first keys if there is nothing else to report', async () => {
    expect(await replyTo({})).toEqual({
      text: 'exit_code: 0\nstdout: |\n  out\nstderr: ""\n',
      structured: { exit_code: 0, stdout: 'out\n', stderr: '' },
      isError: false,
    });
  });

  it('T2: reports everything else under further keys', async () => {
    const { structured, isError } = await replyTo({
      exitCode: 143,
      signal: 'SIGTERM',
      truncated: true,
      leftRunning: [{ pid: 7, command: 'sleep 1' }],
      survivors: [{ pid: 8, command: 'stuck' }],
      deniedHosts: ['denied.example:443'],
      warnings: ['The outcome could not be recorded.'],
    });
    expect(isError).toBe(false);
    expect(structured).toEqual({
      exit_code: 143,
      stdout: 'out\n',
      stderr: '',
      signal: 'SIGTERM',
      truncated: true,
      command_id: 'cmd_1',
      left_running: ['sleep 1 (pid 7)'],
      still_running: ['stuck (pid 8)'],
      denied_hosts: ['denied.example:443'],
      withheld_env: ['A_TOKEN'],
      warnings: ['The outcome could not be recorded.'],
      hint: expect.stringContaining('start_command'),
    });
  });

  it('T4: a timeout has no exit code and a hint with the next step', async () => {
    const { structured, isError } = await replyTo({ cause: 'timeout', exitCode: 143, signal: 'SIGTERM' });
    expect(isError).toBe(true);
    expect(structured).toMatchObject({ exit_code: null, stdout: 'out\n', signal: 'SIGTERM' });
    expect(structured.hint).toMatch(/waiting for input.*start_command/);
  });

  it.each([
    [
      'output_limit',
      'It wrote too much.',
      /failed: output exhausted\. It wrote too much\./,
      /head, tail or grep/,
    ],
    ['spool_failed', null, /failed: output exhausted\.$/, /head, tail or grep/],
    ['oom', 'It had 300 MB.', /failed: memory exhausted\. It had 300 MB\./, /memory_bytes/],
    ['cpu', 'It used 2 s.', /failed: CPU time exhausted\. It used 2 s\./, /cpu_seconds/],
    ['processes', null, /failed: processes exhausted\.$/, /max_processes/],
    ['file_size', null, /failed: disk exhausted\.$/, /file_bytes/],
    ['stopped', null, /stopped before it finished/, undefined],
  ] as const)(
    'a command that was killed (%s) is an error with its cause',
    async (cause, detail, error, hint) => {
      const { structured, isError } = await replyTo({ cause, detail, exitCode: 137, signal: 'SIGKILL' });
      expect(isError).toBe(true);
      expect(structured).toMatchObject({ exit_code: 137, error: expect.stringMatching(error) });
      expect(structured.hint).toEqual(hint === undefined ? undefined : expect.stringMatching(hint));
    },
  );

  it('S7: enforcement and resources are in _meta, not in the reply', async () => {
    const resources = {
      cpuMs: 12,
      peakMemoryBytes: 3_000_000,
      processes: 2,
      readBytes: 5,
      writtenBytes: null,
    };
    const gaps: string[] = [];
    const levels = {
      level: 'group',
      sandbox: 'off',
      files: 'off',
      network: 'on',
      processes: 'host',
      exec: 'off',
    } as const;
    const { structured, meta } = await replyTo({ resources, enforcement: { ...levels, setuid: true, gaps } });
    expect(meta).toMatchObject({
      'nacre/id': expect.any(String),
      'nacre/resources': resources,
      'nacre/enforcement': levels,
    });
    expect(structured).not.toHaveProperty('resources');
  });

  it('an error that kept it from running has the same first keys', async () => {
    const refuse = (error: unknown) => callWith(() => Promise.reject(error), {});
    expect(
      (await refuse(new NacreError('policy_denied', 'rm is not allowed.', { hint: 'Use ls.' }))).structured,
    ).toEqual({
      exit_code: null,
      stdout: '',
      stderr: '',
      error: 'rm is not allowed.',
      code: 'policy_denied',
      hint: 'Use ls.',
    });
    expect((await refuse(new TypeError('surprise'))).structured).toMatchObject({
      exit_code: null,
      code: 'internal',
      error: expect.stringContaining('surprise'),
    });
  });
});
