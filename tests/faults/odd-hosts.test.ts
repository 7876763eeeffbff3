import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { builtCli } from '../support/build.ts';
import { needPrograms, needRoot } from '../support/needs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);
const nacre = [process.execPath, builtCli, 'run'];

/** Runs bash code with `nacre run` as its positional parameters. */
async function bash(script: string, env: Readonly<Record<string, string>> = {}) {
  const options = { env: { PATH: process.env.PATH ?? '', ...env }, cwd: '/', timeout: 60_000 };
  try {
    return { ...(await run('bash', ['-c', script, 'bash', ...nacre], options)), code: 0 };
  } catch (error) {
    const { stdout = '', stderr = '', code } = error as { stdout?: string; stderr?: string; code?: number };
    return { stdout, stderr, code };
  }
}

test.concurrent.each(['', '--processes host'])(
  'works under umask 777, which commands get %s',
  async (flags) => {
    const folder = temporaryFolder();
    const asUser = process.getuid?.() === 0 ? 'setpriv --reuid 4242 --regid 4242 --clear-groups' : '';
    mkdirSync(`${folder}/any`);
    const script = `chmod 777 ${folder} ${folder}/any; umask 777; exec ${asUser} "$@" ${flags} -- bash -c 'umask; echo works'`;
    const found = await bash(script, { NACRE_STATE_DIR: `${folder}/any/state`, HOME: '/nonexistent' });
    expect(found).toMatchObject({ stdout: '0777\nworks\n', stderr: '', code: 0 });
  },
);

test.for([
  ['a user id without an account and without HOME', 4243, ''],
  ['an account without HOME whose home folder does not exist', 65_534, ''],
  ['an account whose HOME does not exist', 65_534, 'HOME=/nonexistent'],
] as const)('works for %s', async ([, uid, home], context) => {
  needRoot(context);
  const folder = temporaryFolder();
  const found = await bash(
    `chmod 1777 ${folder}; exec setpriv --reuid ${uid} --regid ${uid} --clear-groups env ${home} "$@" -- echo works`,
    { TMPDIR: folder },
  );
  expect(found).toMatchObject({ stdout: 'works\n', code: 0 });
  expect(existsSync(`${folder}/nacre-${uid}/audit`)).toBe(true);
  rmSync(folder, { recursive: true });
});

test.concurrent.each([20, 30])('says which limit is too low with ulimit -n %i', async (limit) => {
  const found = await bash(`ulimit -n ${limit}; exec "$@" -- true`, { HOME: '/nonexistent' });
  expect(found).toMatchObject({ code: 125, stdout: '' });
  expect(found.stderr).toMatch(
    /^nacre: .*EMFILE.* Raise the limit of open files \(ulimit -n\) to 256 or more\.\n$/,
  );
});

test('names /proc if it is not mounted', async (test) => {
  needRoot(test);
  needPrograms(test, 'unshare');
  const folder = temporaryFolder();
  const found = await bash(
    'exec unshare --mount bash -c \'mount -t tmpfs none /proc; exec "$@"\' bash "$@" -- true',
    {
      NACRE_STATE_DIR: folder,
    },
  );
  expect(found).toMatchObject({ code: 125, stdout: '' });
  expect(found.stderr).toContain('nacre needs /proc, which is not mounted here.');
});

test('works with a folder on the PATH that the user cannot enter', async (test) => {
  needRoot(test);
  const folder = temporaryFolder();
  mkdirSync(`${folder}/closed/bin`, { recursive: true });
  mkdirSync(`${folder}/own`, { mode: 0o777 });
  const found = await bash(
    `chmod 755 ${folder}; chmod 700 ${folder}/closed; chmod 777 ${folder}/own; exec setpriv --reuid 4244 --regid 4244 --clear-groups "$@" -- echo works`,
    { PATH: `${folder}/closed/bin:/usr/local/bin:/usr/bin:/bin`, HOME: `${folder}/own` },
  );
  expect(found).toMatchObject({ stdout: 'works\n', code: 0 });
});
