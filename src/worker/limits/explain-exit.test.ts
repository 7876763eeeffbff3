import { describe, expect, test } from 'vitest';
import type { Limits } from '../../contract/limits.ts';
import { type Evidence, explainExit } from './explain-exit.ts';

const all: Limits = {
  memoryBytes: 256e6,
  treeMemoryBytes: 1e9,
  maxProcesses: 64,
  cpuSeconds: 10,
  fileBytes: 1e6,
};
const explain = (more: Partial<Evidence>) =>
  explainExit({
    exit: { code: 1, signal: null },
    limits: all,
    cpuMs: 5,
    largestProcessBytes: 0,
    busiestProcessMs: 0,
    kernel: null,
    stderr: '',
    ...more,
  });
const by = (signal: NodeJS.Signals) => ({ code: null, signal });

describe('explaining an exit', () => {
  test.each<[string, Partial<Evidence>, string, RegExp]>([
    ['SIGXCPU after that much CPU time', { exit: by('SIGXCPU'), cpuMs: 9_000 }, 'cpu', /9\.0 s.*10 s/],
    ['SIGXCPU if CPU time is not known', { exit: by('SIGXCPU'), cpuMs: null }, 'cpu', /^SIGXCPU/],
    [
      'SIGKILL of a process that used its CPU time up',
      { exit: by('SIGKILL'), busiestProcessMs: 11_000 },
      'cpu',
      /SIGKILL/,
    ],
    ['SIGXFSZ', { exit: by('SIGXFSZ') }, 'file_size', /1 MB/],
    ['the exit code of a shell for SIGXFSZ', { exit: { code: 153, signal: null } }, 'file_size', /SIGXFSZ/],
    ['EFBIG', { stderr: 'OSError: [Errno 27] File too large' }, 'file_size', /"File too large"/],
    ['a MemoryError', { stderr: 'Traceback\nMemoryError\n' }, 'oom', /"MemoryError".*256 MB/],
    ['bad_alloc', { exit: by('SIGABRT'), stderr: 'what():  std::bad_alloc' }, 'oom', /bad_alloc/],
    [
      'a heap at the limit',
      { exit: by('SIGABRT'), largestProcessBytes: 250e6 },
      'oom',
      /had 250 MB.*SIGABRT/,
    ],
    [
      'forks that the kernel refused',
      { kernel: { memoryKills: 0, refusedForks: 3 } },
      'processes',
      /3 times.*64/,
    ],
    ['one refused fork', { kernel: { memoryKills: 0, refusedForks: 1 } }, 'processes', /once/],
    ['the message of bash', { stderr: 'bash: fork: Resource temporarily unavailable' }, 'processes', /fork/],
  ])('%s is evidence', (_name, evidence, cause, detail) => {
    expect(explain(evidence)).toEqual({ cause, detail: expect.stringMatching(detail) });
  });

  test.each<[string, Partial<Evidence>]>([
    ['a plain failure', {}],
    ['SIGKILL of an idle and small process', { exit: by('SIGKILL') }],
    ['SIGXCPU of a process that used no CPU time', { exit: by('SIGXCPU'), cpuMs: 10 }],
    [
      'a message about memory from a command that succeeded',
      { exit: { code: 0, signal: null }, stderr: 'ENOMEM' },
    ],
    ['a message about memory without such a limit', { limits: { cpuSeconds: 1 }, stderr: 'MemoryError' }],
    ['SIGXFSZ without a limit on files', { limits: { memoryBytes: 1e9 }, exit: by('SIGXFSZ') }],
    [
      'a message about processes although the kernel refused none',
      { kernel: { memoryKills: 0, refusedForks: 0 }, stderr: 'EAGAIN' },
    ],
  ])('%s is not evidence', (_name, evidence) => {
    expect(explain(evidence)).toBeNull();
  });

  test('a command that was limited but succeeded has only a detail about it', () => {
    const limited = explain({ exit: { code: 0, signal: null }, kernel: { memoryKills: 0, refusedForks: 2 } });
    expect(limited).toEqual({ cause: 'exit', detail: expect.stringContaining('2 times') });
  });
});
