import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needLandlock } from '../support/needs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;
const users = [
  ['the user of the tests', undefined],
  ...(isRoot ? [['an ordinary user', nobody] as const] : []),
] as const;

const python = '/usr/bin/python3';

// A copy that every user can read, even if the sources are in a private folder.
let installed = '';
beforeAll(() => {
  installed = temporaryFolder();
  chmodSync(installed, 0o755);
  cpSync('dist', join(installed, 'dist'), { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{"type":"module"}');
  for (const name of ['koffi', '@koromix'])
    cpSync(join('node_modules', name), join(installed, 'node_modules', name), { recursive: true });
});

beforeEach((context) => needLandlock(context));

describe.each(users)('as %s', (_user, uid) => {
  const nacre = (args: readonly string[], env: Record<string, string> = {}) => {
    const home = temporaryFolder();
    mkdirSync(join(home, 'project'));
    writeFileSync(
      join(home, 'project', 'escape.py'),
      "import os\nprint('read', flush=True)\nos.execv('/usr/bin/id', ['id'])\n",
    );
    if (uid !== undefined) for (const path of [home, join(home, 'project')]) chownSync(path, uid, uid);
    return spawnSync(process.execPath, [join(installed, 'dist/cli.js'), ...args], {
      cwd: join(home, 'project'),
      env: { PATH: '/usr/bin:/bin', HOME: home, NACRE_LOGIN_ENV: 'never', ...env },
      encoding: 'utf8',
      uid,
      gid: uid,
    });
  };

  test('with exec: enforce a listed interpreter cannot start an unlisted program', () => {
    const { stdout, stderr, status } = nacre(['run', `${python} escape.py`], {
      ALLOWED_COMMANDS: python,
      NACRE_EXEC: 'enforce',
    });
    expect(stdout).toBe('read\n');
    expect(stderr).toContain('Permission denied');
    expect(status).toBe(1);
  });

  test('without exec: enforce, or with every program allowed, it can', () => {
    for (const env of [{ ALLOWED_COMMANDS: python }, { ALLOWED_COMMANDS: '*', NACRE_EXEC: 'enforce' }])
      expect(nacre(['run', `${python} escape.py`], env).stdout).toContain('uid=');
  });

  test('doctor shows that Landlock is available and that the list is enforced', () => {
    const { stdout } = nacre(['doctor'], { ALLOWED_COMMANDS: 'ls', NACRE_EXEC: 'enforce' });
    expect(stdout).toMatch(/^Landlock +available$/m);
    expect(stdout).toMatch(/^listed programs +enforced by the kernel$/m);
  });
});
