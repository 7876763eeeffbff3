import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createStopwatch } from '../../support/timing.ts';
import { isBare, type LoginShellLimits, readLoginEnvironment } from './login-environment.ts';

let folder = '';
let mark = '';
beforeEach(() => {
  folder = temporaryFolder();
  mark = `mark${Math.random()}`;
});
afterEach(async () => {
  await expect.poll(() => processesWith(mark)).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a fake login shell, which gets the flags and the script as $1 and $2. */
function shell(body: string): string {
  const path = join(folder, 'shell');
  writeFileSync(path, `#!/bin/bash\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}
const server = (more: Record<string, string> = {}) => ({
  PATH: '/usr/bin:/bin',
  HOME: folder,
  TEST_MARK: mark,
  ...more,
});
const read = (body: string, limits?: LoginShellLimits) =>
  readLoginEnvironment(server({ SHELL: shell(body) }), 'always', limits);

describe('E9: the login shell is run', () => {
  test('never, always, or only if the PATH is bare', async () => {
    const SHELL = shell('export RUN=yes; eval "$2"');
    const modes = async (env: Record<string, string>) =>
      Promise.all(
        (['never', 'auto', 'always'] as const).map(
          async (mode) => (await readLoginEnvironment(server({ SHELL, ...env }), mode)).env.RUN,
        ),
      );
    expect(await modes({})).toEqual([undefined, 'yes', 'yes']);
    expect(await modes({ SHLVL: '1' })).toEqual([undefined, undefined, 'yes']);
    expect(await modes({ PATH: '/opt/tools:/usr/bin' })).toEqual([undefined, undefined, 'yes']);
  });

  test('and a PATH is bare if it has only system directories and there is no SHLVL', () => {
    expect(isBare({ PATH: '/usr/bin:/bin:/usr/sbin:/sbin' })).toBe(true);
    expect(isBare({})).toBe(true);
    expect(isBare({ PATH: '/usr/bin', SHLVL: '0' })).toBe(false);
    expect(isBare({ PATH: '/usr/bin:/home/me/bin' })).toBe(false);
  });
});

describe('E9: the login environment', () => {
  test('adds variables to those of the server, and replaces only PATH', async () => {
    const { env, note } = await read('export PATH=/opt/x/bin:/usr/bin:/bin HOME=/other TOOL=yes; eval "$2"');
    expect(env).toMatchObject({ PATH: '/opt/x/bin:/usr/bin:/bin', HOME: folder, TOOL: 'yes' });
    for (const name of ['PWD', 'OLDPWD', 'SHLVL', '_']) expect(env).not.toHaveProperty(name);
    expect(note).toContain('read from');
  });

  test('is found among noise, with line ends, equals signs and empty values intact', async () => {
    const { env } = await read(
      'echo "A=wrong"; printf "no newline"; echo to stderr >&2; export V=$\'a=b\\nc\' E=; eval "$2"; echo B=wrong',
    );
    expect(env).toMatchObject({ V: 'a=b\nc', E: '' });
    expect(env).not.toHaveProperty('A');
    expect(env).not.toHaveProperty('B');
  });

  test('is read from a non-interactive login shell if the interactive one fails', async () => {
    const { env } = await read('[ "$1" = -lc ] || exit 3; export PLAIN=1; eval "$2"');
    expect(env.PLAIN).toBe('1');
  });

  test('is used immediately, even if the shell keeps running or leaves a background process', async () => {
    const elapsed = createStopwatch();
    const { env } = await read('export X=1; sleep 50 & eval "$2"; sleep 51');
    expect(env.X).toBe('1');
    expect(elapsed()).toBeLessThan(2_000);
  });

  test('is not used if it is incomplete', async () => {
    const { env, note } = await read('export X=1; eval "$(printf %s "$2" | cut -d";" -f1,2)"');
    expect(env).not.toHaveProperty('X');
    expect(note).toContain('did not print');
  });
});

describe('E9: only the server’s own environment is used', () => {
  test.each([
    ['fails', 'exit 1'],
    ['prints nothing', 'exit 0'],
    ['prints without end', 'yes'],
    ['prints too much', 'head -c 3000000 /dev/zero; eval "$2"'],
    ['is not a program', '\0'],
  ])('if the shell %s', async (_, body) => {
    const { env, note } = await read(body);
    expect(env).toEqual(server({ SHELL: join(folder, 'shell') }));
    expect(note).toContain('did not print');
  });

  test('if the shell does not exist or cannot be executed', async () => {
    for (const SHELL of ['/nowhere/shell', folder, 'a\0b']) {
      const { env, note } = await readLoginEnvironment(server({ SHELL }), 'always');
      expect(env).toEqual(server({ SHELL }));
      expect(note).toContain('did not print');
    }
  });

  test('if the shell hangs; then it is killed at the time limit, with its children', async () => {
    const elapsed = createStopwatch();
    const limits = { interactiveMs: 300, plainMs: 200 };
    const { note } = await read('trap "" TERM HUP INT; sleep 60 & sleep 61; wait', limits);
    expect(elapsed()).toBeLessThan(3_000);
    expect(note).toContain('did not print its environment within 0.5 s');
  });
});
