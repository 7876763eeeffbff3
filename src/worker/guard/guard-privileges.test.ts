import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { guards } from '../../../tests/support/guards.ts';
import { needLandlock, needPrograms } from '../../../tests/support/needs.ts';
import { createGuard } from './create-guard.ts';
import { findGuardPrograms } from './guard-program.ts';
import type { GuardRules } from './guard-rules.ts';

const python = '/usr/bin/python3';
const files = { hidden: [], shown: [], writable: [], openable: [], sockets: false, signals: false };

describe.each(guards)('in the file sandbox of the guard in $guard', ({ path }) => {
  let outsider: ChildProcess;
  beforeAll(() => {
    outsider = spawn('sleep', ['1000']);
  });
  afterAll(() => {
    outsider.kill('SIGKILL');
  });
  beforeEach(async (context) => {
    await needLandlock(context);
    needPrograms(context, python, 'setpriv');
  });
  const run = (rules: GuardRules, words: readonly string[], before: readonly string[] = []) => {
    const [program] = findGuardPrograms(path());
    expect(program).toBeDefined();
    const { argv, env } = program
      ? createGuard(program, rules).wrap(words, {}, [0, 1, 2])
      : { argv: [], env: {} };
    const [first = '', ...rest] = [...before, ...argv];
    const { stdout, stderr } = spawnSync(first, rest, {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin', ...env },
    });
    return `${stdout}${stderr}`;
  };
  const attempt = (code: string) => run({ files }, [python, '-c', code, String(outsider.pid)]);

  test('the limits of other processes cannot be changed, and those of the own one can', () => {
    const change = (pid: string) =>
      attempt(`import resource, sys; print(resource.prlimit(${pid}, resource.RLIMIT_CORE, (0, 0))[0] >= 0)`);
    expect(change('int(sys.argv[1])')).toContain('PermissionError');
    expect(change('0')).toBe('True\n');
  });

  test('the keyrings of the kernel cannot be used', () => {
    const numbers = process.arch === 'arm64' ? '219, 217, 218' : '250, 248, 249';
    const code = `import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print([(libc.syscall(n, -1, 0, 0, 0, 0), ctypes.get_errno()) for n in (${numbers})])`;
    expect(attempt(code)).toBe('[(-1, 38), (-1, 38), (-1, 38)]\n');
  });

  test.runIf(process.getuid?.() === 0)('root has no capabilities, even if it inherited some', () => {
    const list = (rules: GuardRules, ...before: readonly string[]) =>
      run(rules, ['/bin/grep', '-E', 'Cap(Inh|Prm|Eff)', '/proc/self/status'], before);
    const inherited = ['setpriv', '--inh-caps', '+sys_ptrace,+sys_admin'];
    const withoutSetpcap = ['setpriv', '--bounding-set', '-setpcap'];
    const none = 'CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n';
    expect(list({ files }, ...inherited)).toBe(none);
    expect(list({ files }, ...withoutSetpcap)).toBe(none);
    const [, permitted = ''] = /CapPrm:\t(\w+)/.exec(list({ execute: ['/'] }, ...inherited)) ?? [];
    const sysAdmin = 1n << 21n;
    expect(BigInt(`0x${permitted}`) & sysAdmin).toBe(0n);
    expect(BigInt(`0x${permitted}`)).not.toBe(0n);
  });
});
