import { expect, test } from 'vitest';
import { decideSensitive, sensitiveDirectories } from './decide-sensitive.ts';

const places = sensitiveDirectories(['/home/me']).map((asked) =>
  asked.endsWith('.aws')
    ? ({ asked, path: '/data/keys' } as const)
    : asked.endsWith('.kube')
      ? ({ asked, problem: 'missing' } as const)
      : ({ asked, path: asked } as const),
);

test.each([
  '/etc',
  '/etc/ssl',
  '/proc/1',
  '/home/me/.ssh',
  '/data/keys/x',
  '/home/me/.aws',
  '/home/me/.kube/x',
  '/home/me/.config/gh',
])('H6: %s is sensitive', (cwd) => {
  expect(() => decideSensitive(cwd, places)).toThrow(/sensitive directory/);
});

test.each(['/', '/home/me', '/home/me/.sshx', '/home/me/.config', '/etcetera', '/data', '/srv/etc'])(
  'H6: %s is not sensitive',
  (cwd) => {
    expect(() => decideSensitive(cwd, places)).not.toThrow();
  },
);
