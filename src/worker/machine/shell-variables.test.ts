import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bestLevel } from '../../../tests/support/needs.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createTestWorker } from '../../../tests/support/worker.ts';
import { withoutShellVariables } from './shell-variables.ts';

test('variables that configure bash are removed from an environment, and no others', () => {
  const env = {
    PATH: '/bin',
    BASH_ENV: '/x',
    'BASH_FUNC_ls%%': '() { :; }',
    SHELLOPTS: 'xtrace',
    BASHER: '1',
  };
  expect(withoutShellVariables(env)).toEqual({ PATH: '/bin', BASHER: '1' });
});

const levels = [...new Set(['group' as const, await bestLevel()])];

test.each(levels)(
  'at level %s, nothing of the server’s bash configuration reaches a command',
  async (highestLevel) => {
    const startUpFile = join(temporaryFolder(), 'start-up');
    writeFileSync(startUpFile, 'echo start-up file; set -x; exit 9\n');
    const here = createTestWorker({
      highestLevel,
      environment: {
        PATH: '/usr/bin:/bin',
        SHLVL: '1',
        BASH_ENV: startUpFile,
        ENV: startUpFile,
        SHELLOPTS: 'braceexpand:hashall:interactive-comments:xtrace:verbose',
        BASHOPTS: 'failglob:execfail',
        TMOUT: '1',
        CDPATH: '/',
        'BASH_FUNC_ls%%': '() { echo function; }',
      },
    });
    const script = 'ls -d /usr; cd usr 2>/dev/null || echo here; bash -c "ls -d /usr"; echo $- | tr -d hBcs';
    const { stdout, state } = await here.run(script, { cwd: '/tmp' });
    expect(state).toMatchObject({ status: 'completed', end: { exitCode: 0 } });
    expect(stdout).toBe('/usr\nhere\n/usr\n\n');
    await here.close();
  },
);

test('the login shell neither receives the variables nor passes its own on', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, '.bash_profile'), 'export SEEN="$BASH_ENV" BASH_ENV=/nonexistent TOOL=yes\n');
  const here = createTestWorker({
    loginEnv: 'always',
    environment: { PATH: '/usr/bin:/bin', HOME: folder, SHELL: '/bin/bash', BASH_ENV: '/dev/null' },
  });
  expect((await here.run('echo "$TOOL:$SEEN:$BASH_ENV"')).stdout).toBe('yes::\n');
  await here.close();
});
