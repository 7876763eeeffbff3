import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needLandlock } from '../support/needs.ts';
import { cliFor, type User, users } from '../support/users.ts';

const stores =
  `.npmrc .pypirc .ssh/id .bash_history .vault-token .my.cnf .claude/x .cargo/credentials.toml .terraform.d/x`.split(
    ' ',
  );
const ids = (user: User) =>
  user === 'ordinary' ? [65_534, 65_534] : [process.getuid?.(), process.getgid?.()];

describe.each(users)('as %s, key stores are hidden in the sandbox workspace', (user) => {
  // Not below /tmp, which is another folder in a sandbox.
  let base: string;
  let cli: string;
  let identity: { uid?: number; gid?: number };
  beforeAll(() => {
    base = mkdtempSync('/var/tmp/nacre-test-');
    chmodSync(base, 0o755);
    const [uid = 0, gid = 0] = ids(user);
    const make = (folder: string) => {
      mkdirSync(folder, { recursive: true });
      chownSync(folder, uid, gid);
    };
    for (const name of ['my home', 'real', 'work', 'tool']) make(join(base, name));
    for (const home of ['my home', 'real'])
      for (const store of stores) {
        const path = join(base, home, store);
        make(dirname(path));
        writeFileSync(path, 'SECRET\n');
        chownSync(path, uid, gid);
      }
    symlinkSync(join(base, 'real'), join(base, 'link'));
    writeFileSync(join(base, 'plain'), 'VISIBLE\n');
    ({ cli, identity } = cliFor(user, join(base, 'tool')));
  });
  afterAll(() => rmSync(base, { recursive: true, force: true }));
  beforeEach((context) => needLandlock(context));

  const read = (home: string, processes: string) => {
    const files = [...stores.map((store) => join(home, store)), join(base, 'plain')];
    const script = `cat ${files.map((file) => `'${file}'`).join(' ')} 2>/dev/null; echo end`;
    return spawnSync(process.execPath, [cli, 'run', '--sandbox', 'workspace', script], {
      ...identity,
      cwd: join(base, 'work'),
      encoding: 'utf8',
      env: {
        PATH: '/usr/bin:/bin',
        HOME: home,
        NACRE_STATE_DIR: join(base, 'tool', 'state'),
        NACRE_PROCESSES: processes,
      },
    }).stdout;
  };

  test.each([
    ['with a blank', 'my home'],
    ['that is a link', 'link'],
    ['with a usual name', 'real'],
  ])(
    'in a home %s, by namespaces and by Landlock',
    async (_title, name) => {
      expect(read(join(base, name), 'host')).toBe('VISIBLE\nend\n');
      expect(read(join(base, name), 'own')).toBe('VISIBLE\nend\n');
    },
    120_000,
  );
});
