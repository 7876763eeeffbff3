import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainSandboxPlan } from '../../../tests/support/plain-sandbox-plan.ts';
import type { Isolation } from '../../contract/isolation.ts';
import { toBubblewrapCommand } from './bubblewrap.ts';
import type { SandboxPlan } from './sandbox-plan.ts';

const planFor = (isolation: Partial<Isolation>, more: Partial<SandboxPlan> = {}): SandboxPlan => ({
  ...plainSandboxPlan,
  isolation: { ...plainSandboxPlan.isolation, ...isolation },
  ...more,
});

test('without a sandbox the whole file system is mounted with its devices', () => {
  expect(toBubblewrapCommand(plainSandboxPlan).join(' ')).toBe(
    'bwrap --unshare-pid --die-with-parent --dev-bind / / --proc /proc --',
  );
});

test('mounts keep their order: hidden folders, then the workspace, then extra mounts, then pinned files', () => {
  const plan = planFor(
    { sandbox: 'strict', network: 'off' },
    {
      homes: ['/home/me'],
      writable: ['/home/me/project'],
      extraMounts: [{ kind: 'bind', from: '/a', to: '/b', readOnly: true }],
      pinned: ['/usr/bin/git'],
      sockets: () => ['/var/lib/app.sock'],
    },
  );
  const command = toBubblewrapCommand(plan).join(' ');
  expect(command).toContain(
    '--tmpfs /home/me --bind /home/me/project /home/me/project --ro-bind /dev/null /var/lib/app.sock ' +
      '--ro-bind /a /b --ro-bind /usr/bin/git /usr/bin/git --remount-ro /home/me --remount-ro /dev --proc /proc --unshare-ipc',
  );
  expect(command).toContain('--ro-bind-try /run/systemd/resolve /run/systemd/resolve');
});

test('a command at a terminal leads a session, so bubblewrap does not start another one', () => {
  const plan = planFor({ sandbox: 'strict' });
  expect(toBubblewrapCommand(plan)).toContain('--new-session');
  expect(toBubblewrapCommand(plan, { atTerminal: true })).not.toContain('--new-session');
});

test('the init process holds a descriptor open if one is named', () => {
  expect(toBubblewrapCommand(plainSandboxPlan, { heldFd: 5 }).slice(0, 3)).toEqual([
    'bwrap',
    '--sync-fd',
    '5',
  ]);
});

test('only root in a sandbox needs a user namespace to lose its capabilities', () => {
  const command = (isRoot: boolean) => toBubblewrapCommand(planFor({ sandbox: 'workspace' }, { isRoot }));
  expect(command(true)).toEqual(expect.arrayContaining(['--unshare-user', '--cap-drop', 'ALL']));
  expect(command(false)).not.toContain('--cap-drop');
});

test('no other source file of the worker knows the flags of bubblewrap', () => {
  const folder = join(import.meta.dirname, '..');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && statSync(join(folder, name)).isFile(),
  );
  const flags = /'--(?:ro-bind|dev-bind|bind|tmpfs|unshare-pid|die-with-parent|new-session|sync-fd)\b/;
  const knowing = sources.filter((name) => flags.test(readFileSync(join(folder, name), 'utf8')));
  expect(knowing).toEqual(['sandbox/bubblewrap.ts']);
});
