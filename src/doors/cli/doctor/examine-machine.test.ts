import { describe, expect, it } from 'vitest';
import type { MachineReport } from '../../../contract/report.ts';
import type { SettingsAccess, UserRules } from '../../door.ts';
import { findOnPath } from '../../find-program.ts';
import { examineReport } from './examine-machine.ts';
import { examinePolicy } from './examine-policy.ts';

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
  files: 'namespace',
  workspaceBy: 'namespace',
  namespaceFault: null,
  gaps: [],
};

const missing = {
  kind: 'missing',
  reason: 'bubblewrap is not installed',
  fix: 'sudo apt-get install bubblewrap',
} as const;

const examine = (
  report: Partial<MachineReport>,
  PATH?: string,
  processes = 'own',
  script = '/srv/nacre/dist/cli.js',
  isRoot = false,
) => {
  const settings = [{ key: 'processes', value: processes }] as unknown as SettingsAccess['settings'];
  const deps = {
    settings,
    program: { node: 'node', script },
    machine: { home: '/', platform: 'linux', env: { PATH }, isRoot },
  };
  const findings = examineReport({ ...best, ...report }, deps);
  return (check: string) => findings.find((one) => one.check === check);
};

describe('examineReport', () => {
  it('finds nothing to fix on a complete machine', () => {
    const of = examine({});
    for (const check of [
      'bash',
      'bubblewrap',
      'namespaces',
      'sandbox',
      'landlock',
      'terminal',
      'enforcement',
    ])
      expect(of(check)).toMatchObject({ status: 'ok' });
  });

  it('suggests a fix for everything that is missing', () => {
    const report = {
      supervision: 'group',
      namespaceFault: missing,
      landlock: 'too old',
      pty: false,
      gaps: ['it can survive'],
    } as const;
    const of = examine(report);
    for (const check of ['bubblewrap', 'namespaces', 'landlock', 'terminal', 'enforcement'])
      expect(of(check)).toMatchObject({ status: 'warning', fix: expect.stringMatching(/\S/) });
    expect(of('bubblewrap')?.fix).toBe('sudo apt-get install bubblewrap');
    expect(of('enforcement')?.found).toContain('gaps: it can survive');
    expect(examine({ gaps: ['x'], sandbox: 'off' }, '', 'own', '/x', true)('enforcement')?.fix).toBe(
      'Run nacre as an ordinary user.',
    );
    expect(examine({ supervision: 'unshare', namespaceFault: missing })('bubblewrap')?.found).toContain(
      'is not installed',
    );
  });

  it.each([
    ['/usr/lib/node_modules/nacre/dist/cli.js', 'npm install --global koffi'],
    ['/home/me/a b/node_modules/nacre/dist/cli.js', "npm install --prefix '/home/me/a b' koffi"],
    ['/srv/nacre/dist/cli.js', 'npm install --prefix /srv/nacre koffi'],
  ])('suggests the command that installs a package where %s finds it', (script, fix) => {
    const missing = { landlock: 'not available' };
    expect(examine(missing, undefined, 'own', script)('landlock')?.fix).toBe(fix);
  });

  it('reports checks that were not tried as notes', () => {
    expect(examine({ supervision: 'group', namespaceFault: missing })('namespaces')?.found).toContain(
      'bubblewrap is not installed',
    );
    const chosen = examine({ supervision: 'group' }, '/usr/bin', 'host');
    for (const check of ['bubblewrap', 'namespaces'])
      expect(chosen(check)).toMatchObject({ status: 'note', found: expect.stringContaining('not tried') });
  });

  it('searches only absolute folders of the PATH', () => {
    expect(findOnPath('relative::/nowhere:/bin:/usr/bin', 'bash')).toMatch(/^\/(usr\/)?bin\/bash$/);
    expect(findOnPath('relative', 'bash')).toBeUndefined();
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

  it('shows the list, the preset and the policy rules', () => {
    expect(policy({ allow: { kind: 'all' } })).toBe('every program may run (default)');
    expect(policy({ allow: { kind: 'names', names: ['git', 'ls'] }, preset: 'git', policy: [{}] })).toBe(
      'the preset git (2 programs) may run (default); 1 policy rules with passing examples',
    );
  });
});
