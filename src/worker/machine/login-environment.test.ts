import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createStopwatch } from '../../support/stopwatch.ts';
import { isBare, takeLoginEnvironment } from './login-environment.ts';

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

/** A login shell of our own making, which gets the flags and the script as $1 and $2. */
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
const ask = (body: string) => takeLoginEnvironment(server({ SHELL: shell(body) }), 'always');

describe('E9: the login shell is asked', () => {
  test('never, always, or only where the PATH is bare', async () => {
    const SHELL = shell('export ASKED=yes; eval "$2"');
    const modes = async (env: Record<string, string>) =>
      Promise.all(
        (['never', 'auto', 'always'] as const).map(
          async (mode) => (await takeLoginEnvironment(server({ SHELL, ...env }), mode)).env.ASKED,
        ),
      );
    expect(await modes({})).toEqual([undefined, 'yes', 'yes']);
    expect(await modes({ SHLVL: '1' })).toEqual([undefined, undefined, 'yes']);
    expect(await modes({ PATH: '/opt/tools:/usr/bin' })).toEqual([undefined, undefined, 'yes']);
  });

  test('and a bare PATH is one of system directories without a shell above', () => {
    expect(isBare({ PATH: '/usr/bin:/bin:/usr/sbin:/sbin' })).toBe(true);
    expect(isBare({})).toBe(true);
    expect(isBare({ PATH: '/usr/bin', SHLVL: '0' })).toBe(false);
    expect(isBare({ PATH: '/usr/bin:/home/me/bin' })).toBe(false);
  });
});

describe('E9: what the login shell tells', () => {
  test('adds to what the server has, and replaces only its PATH', async () => {
    const { env, note } = await ask('export PATH=/opt/x/bin:/usr/bin:/bin HOME=/other TOOL=yes; eval "$2"');
    expect(env).toMatchObject({ PATH: '/opt/x/bin:/usr/bin:/bin', HOME: folder, TOOL: 'yes' });
    for (const name of ['PWD', 'OLDPWD', 'SHLVL', '_']) expect(env).not.toHaveProperty(name);
    expect(note).toContain('taken from');
  });

  test('is found among noise, with line ends, equals signs and empty values intact', async () => {
    const { env } = await ask(
      'echo "A=wrong"; printf "no newline"; echo to stderr >&2; export V=$\'a=b\\nc\' E=; eval "$2"; echo B=wrong',
    );
    expect(env).toMatchObject({ V: 'a=b\nc', E: '' });
    expect(env).not.toHaveProperty('A');
    expect(env).not.toHaveProperty('B');
  });

  test('counts when only a non-interactive login shell tells it', async () => {
    const { env } = await ask('[ "$1" = -lc ] || exit 3; export PLAIN=1; eval "$2"');
    expect(env.PLAIN).toBe('1');
  });

  test('counts at once, although the shell does not go away or leaves something running', async () => {
    const elapsed = createStopwatch();
    const { env } = await ask('export X=1; sleep 50 & eval "$2"; sleep 51');
    expect(env.X).toBe('1');
    expect(elapsed()).toBeLessThan(2_000);
  });

  test('is not taken when it is torn', async () => {
    const { env, note } = await ask('export X=1; eval "$(printf %s "$2" | cut -d";" -f1,2)"');
    expect(env).not.toHaveProperty('X');
    expect(note).toContain('did not tell');
  });
});

describe('E9: without an answer the server’s own environment is used', () => {
  test.each([
    ['fails', 'exit 1'],
    ['says nothing', 'exit 0'],
    ['prints without end', 'yes'],
    ['prints too much', 'head -c 3000000 /dev/zero; eval "$2"'],
    ['is no program', '\0'],
  ])('when the shell %s', async (_, body) => {
    const { env, note } = await ask(body);
    expect(env).toEqual(server({ SHELL: join(folder, 'shell') }));
    expect(note).toContain('did not tell');
  });

  test('when the shell does not exist or cannot be a program', async () => {
    for (const SHELL of ['/nowhere/shell', folder, 'a\0b']) {
      const { env, note } = await takeLoginEnvironment(server({ SHELL }), 'always');
      expect(env).toEqual(server({ SHELL }));
      expect(note).toContain('did not tell');
    }
  });

  test('when the shell hangs, within a bound, and it is ended with what it started', async () => {
    const elapsed = createStopwatch();
    const { note } = await ask('trap "" TERM HUP INT; sleep 60 & sleep 61; wait');
    expect(elapsed()).toBeLessThan(5_500);
    expect(note).toContain('did not tell');
  });
});
