import { describe, expect, test } from 'vitest';
import type { Limits } from '../../contract/limits.ts';
import { type Evidence, judgeEnd } from './judge-end.ts';

const all: Limits = {
  memoryBytes: 256e6,
  treeMemoryBytes: 1e9,
  maxProcesses: 64,
  cpuSeconds: 10,
  fileBytes: 1e6,
};
const judge = (more: Partial<Evidence>) =>
  judgeEnd({
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

describe('judging an end', () => {
  test.each<[string, Partial<Evidence>, string, RegExp]>([
    ['SIGXCPU after that much CPU time', { exit: by('SIGXCPU'), cpuMs: 9_000 }, 'cpu', /9\.0 s.*10 s/],
    ['SIGXCPU where CPU time is not known', { exit: by('SIGXCPU'), cpuMs: null }, 'cpu', /^SIGXCPU/],
    [
      'SIGKILL of a process that used it up',
      { exit: by('SIGKILL'), busiestProcessMs: 11_000 },
      'cpu',
      /SIGKILL/,
    ],
    ['SIGXFSZ', { exit: by('SIGXFSZ') }, 'file_size', /1 MB/],
    ['the code of a shell for SIGXFSZ', { exit: { code: 153, signal: null } }, 'file_size', /SIGXFSZ/],
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
    ['one such fork', { kernel: { memoryKills: 0, refusedForks: 1 } }, 'processes', /once/],
    ['the words of bash', { stderr: 'bash: fork: Resource temporarily unavailable' }, 'processes', /fork/],
  ])('%s is evidence', (_name, evidence, cause, detail) => {
    expect(judge(evidence)).toEqual({ cause, detail: expect.stringMatching(detail) });
  });

  test.each<[string, Partial<Evidence>]>([
    ['a plain failure', {}],
    ['SIGKILL of an idle and small process', { exit: by('SIGKILL') }],
    ['SIGXCPU of a process that used none', { exit: by('SIGXCPU'), cpuMs: 10 }],
    [
      'words about memory from a command that went well',
      { exit: { code: 0, signal: null }, stderr: 'ENOMEM' },
    ],
    ['words about memory where it is not limited', { limits: { cpuSeconds: 1 }, stderr: 'MemoryError' }],
    ['SIGXFSZ where files are not limited', { limits: { memoryBytes: 1e9 }, exit: by('SIGXFSZ') }],
    [
      'words about processes where the kernel refused none',
      { kernel: { memoryKills: 0, refusedForks: 0 }, stderr: 'EAGAIN' },
    ],
  ])('%s is none', (_name, evidence) => {
    expect(judge(evidence)).toBeNull();
  });

  test('a command that was held and came to a good end has only a word about it', () => {
    const held = judge({ exit: { code: 0, signal: null }, kernel: { memoryKills: 0, refusedForks: 2 } });
    expect(held).toEqual({ cause: 'exit', detail: expect.stringContaining('2 times') });
  });
});
