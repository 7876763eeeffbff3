import { describe, expect, it } from 'vitest';
import type { MachineReport } from '../../../contract/report.ts';
import type { SettingsAccess, UserRules } from '../../door.ts';
import { examineReport } from './examine-machine.ts';
import { examinePolicy } from './examine-policy.ts';
import { findOn } from './find-program.ts';

const best: MachineReport = {
  bash: { path: '/bin/bash', version: '5.2' },
  path: '/bin',
  loginEnvironment: '',
  withheldEnv: [],
  folder: '/state',
  processTable: '/proc',
  supervision: 'namespace',
  sandbox: 'workspace',
  network: 'off',
  exec: 'enforced',
  landlock: 'available',
  pty: true,
  hidesOwnFiles: true,
  gaps: [],
};

const examine = (
  report: Partial<MachineReport>,
  PATH?: string,
  processes = 'own',
  script = '/srv/nacre/dist/cli.js',
) => {
  const settings = [{ key: 'processes', value: processes }] as unknown as SettingsAccess['settings'];
  const deps = {
    settings,
    program: { node: 'node', script },
    machine: { home: '/', platform: 'linux', env: { PATH } },
  };
  const findings = examineReport({ ...best, ...report }, deps);
  return (check: string) => findings.find((one) => one.check === check);
};

describe('examineReport', () => {
  it('finds nothing to mend where all is there', () => {
    const of = examine({});
    for (const check of ['bash', 'bubblewrap', 'namespaces', 'landlock', 'terminal', 'enforcement'])
      expect(of(check)).toMatchObject({ status: 'ok' });
  });

  it('names what mends everything that is missing', () => {
    const report = {
      supervision: 'group',
      landlock: 'too old',
      pty: false,
      gaps: ['it can survive'],
    } as const;
    const of = examine(report);
    for (const check of ['bubblewrap', 'namespaces', 'landlock', 'terminal', 'enforcement'])
      expect(of(check)).toMatchObject({ status: 'warning', fix: expect.stringMatching(/\S/) });
    expect(of('bubblewrap')?.fix).toBe('Install bubblewrap');
    expect(of('enforcement')?.found).toContain('gaps: it can survive');
    expect(examine({ gaps: ['As root anything.'] })('enforcement')?.fix).toBe(
      'Run nacre as an ordinary user.',
    );
    expect(examine({ supervision: 'unshare' })('bubblewrap')?.found).toContain('is not on the PATH');
  });

  it.each([
    ['/usr/lib/node_modules/nacre/dist/cli.js', 'npm install --global koffi'],
    ['/home/me/a b/node_modules/nacre/dist/cli.js', "npm install --prefix '/home/me/a b' koffi"],
    ['/srv/nacre/dist/cli.js', 'npm install --prefix /srv/nacre koffi'],
  ])('names the command that puts a package where %s finds it', (script, fix) => {
    const missing = { landlock: 'not available: the optional package koffi could not be loaded' };
    expect(examine(missing, undefined, 'own', script)('landlock')?.fix).toBe(fix);
  });

  it('says nothing of what was not tried', () => {
    const missing = examine({ supervision: 'group' }, '/nowhere');
    expect(missing('namespaces')?.found).toMatch(/not permitted|neither bwrap nor unshare/);
    const chosen = examine({ supervision: 'group' }, '/usr/bin', 'host');
    for (const check of ['bubblewrap', 'namespaces'])
      expect(chosen(check)).toMatchObject({ status: 'note', found: expect.stringContaining('not tried') });
  });

  it('finds programs only where a PATH has whole folders', () => {
    expect(findOn('relative::/nowhere:/bin:/usr/bin', 'bash')).toMatch(/^\/(usr\/)?bin\/bash$/);
    expect(findOn('relative', 'bash')).toBeUndefined();
  });
});

describe('examinePolicy', () => {
  const policy = (rules: object) =>
    examinePolicy(
      {
        settings: [],
        toolWarnings: [],
        settingsFault: undefined,
        ownRules: { rules, cwdRoots: [] } as unknown as UserRules['ownRules'],
      },
      false,
    ).found;

  it('tells the list, the preset and the written rules', () => {
    expect(policy({ allow: { kind: 'all' } })).toBe('every program may run (default)');
    expect(policy({ allow: { kind: 'names', names: ['git', 'ls'] }, preset: 'git', policy: [{}] })).toBe(
      'the preset git (2 programs) may run (default), 1 written rules whose examples hold',
    );
  });
});
