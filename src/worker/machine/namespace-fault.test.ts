import { expect, test } from 'vitest';
import { explainFault, findNamespaceFault, type NamespaceFacts } from './namespace-fault.ts';

const system = { platform: 'linux', osRelease: 'ID=fedora\n', isRoot: false };
const denied: NamespaceFacts = {
  system,
  bubblewrapError: 'bwrap: No permissions to create new namespace',
  canUnshare: false,
  sysctls: {},
  container: undefined,
  hasSeccomp: false,
};

test('a missing bubblewrap is to be installed with the command of the distribution', () => {
  expect(explainFault({ ...denied, bubblewrapError: null, canUnshare: true })).toEqual({
    kind: 'missing',
    reason: 'bubblewrap is not installed',
    fix: 'sudo dnf install bubblewrap',
  });
});

test('a missing bubblewrap is not proposed where namespaces are forbidden', () => {
  const fault = explainFault({
    ...denied,
    bubblewrapError: null,
    sysctls: { 'user.max_user_namespaces': '0' },
  });
  expect(fault).toEqual({
    kind: 'forbidden',
    reason: 'user namespaces are forbidden here (user.max_user_namespaces=0)',
    fix: 'sudo sysctl -w user.max_user_namespaces=15000',
  });
});

test.each([
  ['kernel.unprivileged_userns_clone', '0', '=1'],
  ['kernel.apparmor_restrict_unprivileged_userns', '1', '=0'],
])('%s=%s is named for users, but does not concern root', (name, value, fix) => {
  const sysctls = { [name]: value };
  expect(explainFault({ ...denied, sysctls })).toMatchObject({ reason: expect.stringContaining(name) });
  expect(explainFault({ ...denied, sysctls }).fix).toContain(fix);
  const root = explainFault({ ...denied, sysctls, system: { ...system, isRoot: true } });
  expect(root.reason).not.toContain(name);
});

test.each(['Docker', 'Podman', 'Kubernetes'] as const)(
  'the profile of a container is named in %s',
  (container) => {
    const { reason, fix } = explainFault({ ...denied, container, hasSeccomp: true });
    expect(reason).toBe(`the seccomp profile of this container (${container}) forbids namespaces`);
    expect(fix).toMatch(/[uU]nconfined/);
  },
);

test('root in a container is advised to be an ordinary user, because bubblewrap needs CAP_SYS_ADMIN as root', () => {
  const root = { ...denied, container: 'Docker', system: { ...system, isRoot: true } } as const;
  expect(explainFault(root).reason).toContain('does not permit namespaces (bwrap: No permissions');
  expect(explainFault(root).fix).toContain('Run nacre as an ordinary user in it.');
});

test('a filter outside of a container points to the unit of systemd', () => {
  expect(explainFault({ ...denied, hasSeccomp: true }).fix).toContain('RestrictNamespaces');
});

test('otherwise the error of bubblewrap is quoted, with a command to see it', () => {
  const { reason, fix } = explainFault(denied);
  expect(reason).toContain('No permissions to create new namespace');
  expect(fix).toMatch(/^Run bwrap /);
});

test('on another system a virtual machine is proposed', () => {
  const { reason, fix } = explainFault({ ...denied, system: { ...system, platform: 'darwin' } });
  expect(reason).toBe('namespaces exist only on Linux');
  expect(fix).toContain('virtual machine');
});

test('without any program on the PATH, bubblewrap is missing', async () => {
  expect(await findNamespaceFault('/nowhere')).toMatchObject({ kind: 'missing' });
});
