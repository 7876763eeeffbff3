import { expect, it } from 'vitest';
import { examineChanges, examineIsolation } from './examine-isolation.ts';

const fault = {
  kind: 'forbidden',
  reason: 'user namespaces are forbidden here (user.max_user_namespaces=0)',
  fix: 'sudo sysctl -w user.max_user_namespaces=15000',
} as const;

it.each(['darwin', 'freebsd'])('suggests no package on %s, where none provides namespaces', (platform) => {
  const machine = { home: '/home/me', env: { PATH: '/opt/homebrew/bin' }, platform, isRoot: false };
  const findings = examineIsolation(
    { supervision: 'group', namespaceFault: fault, workspaceBy: null, landlock: 'not available' },
    { settings: [], machine },
  );
  expect(findings.map(({ check }) => check)).toEqual(['bubblewrap', 'namespaces', 'sandbox']);
  for (const { status, found, fix } of findings) {
    expect(status).toBe('warning');
    expect(found).toContain('only on Linux');
    expect(fix).toBe('Run nacre in a Linux container or virtual machine.');
  }
});

const linux = { home: '/home/me', env: {}, platform: 'linux', isRoot: false };
const examine = (report: Partial<Parameters<typeof examineIsolation>[0]>, processes = 'own') =>
  examineIsolation(
    {
      supervision: 'group',
      namespaceFault: fault,
      workspaceBy: null,
      landlock: 'not available: old',
      ...report,
    },
    { settings: [{ key: 'processes', value: processes }] as never, machine: linux },
  );

it('names what forbids namespaces, and never proposes a package then', () => {
  const [bubblewrap, namespaces, sandbox] = examine({});
  expect(bubblewrap).toMatchObject({ status: 'warning', found: fault.reason, fix: fault.fix });
  expect(namespaces?.found).toContain(fault.reason);
  expect(sandbox).toMatchObject({ status: 'warning', fix: fault.fix });
  expect(sandbox?.found).toContain('Landlock is not available: old');
});

it('reports the sandbox of Landlock as a level of its own, with what it lacks', () => {
  const [, , sandbox] = examine({ workspaceBy: 'landlock', landlock: 'available' });
  expect(sandbox).toMatchObject({ status: 'note', fix: expect.stringContaining('isolation.md') });
  expect(sandbox?.found).toMatch(/enforced by Landlock: .*strict and network_allow need namespaces/);
});

it('does not suggest another machine where the settings alone prevent namespaces', () => {
  const [, , sandbox] = examine({ namespaceFault: null }, 'host');
  expect(sandbox).toMatchObject({ fix: 'Set processes to own.', status: 'warning' });
});

const layerFault =
  'Changes cannot be tracked or held here: /w is on an overlay file system. Nothing was run.';
const withChanges = (value: string) => ({ settings: [{ key: 'changes', value, source: 'env' }] }) as never;

it.each([
  ['direct', 'note', 'Changes cannot be tracked or held here: /w is on an overlay file system'],
  [
    'track',
    'problem',
    'Changes cannot be tracked or held here: /w is on an overlay file system, so changes: track refuses every command',
  ],
] as const)('without layers, changes: %s is a %s', (mode, status, found) => {
  expect(examineChanges(layerFault, withChanges(mode))).toMatchObject({ check: 'changes', status, found });
});

it('with layers there is nothing to do', () => {
  expect(examineChanges(null, withChanges('hold'))).toMatchObject({ status: 'ok' });
});
