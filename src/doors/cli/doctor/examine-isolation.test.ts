import { expect, it } from 'vitest';
import { examineIsolation } from './examine-isolation.ts';

it.each(['darwin', 'freebsd'])('suggests no package on %s, where none provides namespaces', (platform) => {
  const machine = { home: '/home/me', env: { PATH: '/opt/homebrew/bin' }, platform, isRoot: false };
  const findings = examineIsolation(
    { supervision: 'group', trials: { bubblewrap: '', unshare: '' } },
    { settings: [], machine },
  );
  expect(findings.map(({ check }) => check)).toEqual(['bubblewrap', 'namespaces']);
  for (const { status, found, fix } of findings) {
    expect(status).toBe('warning');
    expect(found).toContain('only on Linux');
    expect(fix).toBe('Run nacre in a Linux container or virtual machine.');
  }
});
