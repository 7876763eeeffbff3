import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needLevel } from '../../../tests/support/needs.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import type { WorkerOptions } from '../worker-options.ts';
import { findHomes } from './homes.ts';
import { findShown } from './shown-in-home.ts';

// Not below /tmp, which a sandbox replaces.
const folder = mkdtempSync('/var/tmp/nacre-home-');
const home = join(folder, 'home');
const project = join(home, 'code', 'project');

const secret = [
  ...[
    '.npmrc',
    '.pypirc',
    '.cargo/credentials.toml',
    '.claude/.credentials.json',
    '.claude.json',
    '.vault-token',
  ],
  ...[
    '.my.cnf',
    '.terraform.d/credentials.tfrc.json',
    '.bash_history',
    '.zsh_history',
    '.psql_history',
    '.bashrc',
  ],
  ...[
    '.config/gh/hosts.yml',
    '.config/op/config',
    '.gem/credentials',
    '.m2/settings.xml',
    '.gradle/gradle.properties',
  ],
  ...[
    '.foundry/keystores/key',
    '.cache/huggingface/token',
    '.fly/config.yml',
    'code/other/.env',
    'Documents/notes',
  ],
  ...[
    '.local/share/keyrings/login.keyring',
    '.mozilla/firefox/cookies.sqlite',
    '.ssh/id_rsa',
    '.netrc',
    '.cargo/config.toml',
  ],
];
const harmless = [
  ...['.cache/pip/x', '.cache/go-build/x', '.nvm/versions/node/v20/lib/x', '.pyenv/versions/x', '.rustup/x'],
  ...[
    '.cargo/bin/x',
    '.cargo/registry/x',
    '.cargo/git/x',
    '.local/bin/x',
    '.local/lib/x',
    '.local/share/pnpm/x',
  ],
  ...['.bun/x', '.deno/x', 'go/bin/x', 'go/pkg/mod/x', '.sdkman/x', '.gradle/caches/x', '.m2/repository/x'],
  ...['.npm/_cacache/x', '.yarn/x', '.config/git/ignore', '.fly/bin/x', '.volta/tools/x', '.gitignore'],
];

beforeAll(() => {
  for (const name of [...secret, ...harmless]) write(name, name);
  write(
    '.gitconfig',
    '[user]\n\tname = A\n\temail = a@b\n[url "ssh://git@host/"]\n\tinsteadOf = https://host/\n',
  );
  write('code/project/file', 'mine');
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(home, name)), { recursive: true });
  writeFileSync(join(home, name), text, { mode });
}

const path = [
  join(home, '.fly', 'bin'),
  join(home, '.local', 'bin'),
  join(home, 'bin'),
  '/usr/bin',
  '/bin',
].join(':');
const openWorker = (options: Partial<WorkerOptions> = {}) =>
  createTestWorker({
    ...{
      highestLevel: 'namespace',
      supervisionRequire: 'namespace',
      sandbox: 'workspace',
      home,
      cwd: project,
    },
    environment: { PATH: path, HOME: home, LANG: 'C.UTF-8' },
    ...options,
  });

describe('in the sandbox workspace', () => {
  let here: TestWorker;
  const run = (script: string) => here.run(script, { cwd: project });
  beforeAll(() => {
    write('apps/tool/bin/tool', '#!/bin/sh\ncat "$(dirname "$(realpath "$0")")/../lib/text"\n', 0o755);
    write('apps/tool/lib/text', 'the tool works\n');
    write('apps/tool/settings', 'private');
    mkdirSync(join(home, 'bin'), { recursive: true });
    symlinkSync('../apps/tool/bin/tool', join(home, 'bin', 'tool'));
    here = openWorker();
  });
  beforeEach((context) => needLevel(context, 'namespace'));
  afterAll(() => here.close());

  test('files of the home directory that are not known to be harmless are hidden', async () => {
    expect((await run(`cd ~ && cat ${secret.join(' ')}`)).stdout).toBe('');
    const { stdout } = await run('cd ~ && find . -type f');
    for (const name of secret) expect(stdout).not.toContain(name);
  });

  test('known tools and caches can be read, and nothing there can be written', async () => {
    const { stdout } = await run(`cd ~ && for f in ${harmless.join(' ')}; do cat $f; echo; done`);
    expect(stdout.trim().split('\n')).toEqual(harmless);
    const places = ['.', '.local', '.local/bin', 'code', '.config', '.cargo'];
    const { stderr } = await run(`cd ~ && for f in ${places.join(' ')}; do echo lost > $f/new; done`);
    expect(stderr.match(/Read-only file system/g)).toHaveLength(places.length);
  });

  test('git knows the user', async () => {
    expect(
      (await run('git config user.email; git config --get-all url.ssh://git@host/.insteadOf')).stdout,
    ).toBe('a@b\nhttps://host/\n');
  });

  test('a program on the PATH works, even a symlink to another folder, whose settings stay hidden', async () => {
    const { stdout, stderr } = await run('tool; cat ~/apps/tool/settings');
    expect(stdout).toBe('the tool works\n');
    expect(stderr).toContain('No such file');
  });

  test('writes to folders that are not kept fail', async () => {
    const { stdout, stderr } = await run(
      'for f in ~/x ~/code/x /run/x /dev/x /var/tmp/x; do echo x > $f && echo "wrote $f"; done; echo a > /dev/null; echo b > /dev/shm/x; echo c > /tmp/x; echo d > y',
    );
    expect(stdout).toBe('');
    expect(stderr.match(/Read-only file system|Permission denied/g)).toHaveLength(5);
    expect((await run('cat /dev/shm/x /tmp/x y')).stdout).toBe('b\nc\nd\n');
  });
});

describe('the sandbox workspace', () => {
  beforeEach((context) => needLevel(context, 'namespace'));

  test('shows what home_show names, even a key store, but no key store in a folder that it names', async () => {
    const here = openWorker({ homeShow: ['.npmrc', '~/.config', '.ssh', join(home, 'Documents')] });
    const { stdout, stderr } = await here.run(
      'cat ~/.npmrc ~/.ssh/id_rsa ~/Documents/notes ~/.config/op/config; cat ~/.config/gh/hosts.yml',
      { cwd: project },
    );
    expect(stdout).toBe('.npmrc.ssh/id_rsaDocuments/notes.config/op/config');
    expect(stderr).toContain('.config/gh/hosts.yml: No such file');
    await here.close();
  });

  test.each([
    ['the root directory', '/'],
    ['a folder of the system', '/usr'],
    ['a folder that does not exist', '/nowhere/at/all'],
    ['a symlink', join(folder, 'link')],
  ])('works if HOME is %s', async (_what, named) => {
    if (!existsSync(join(folder, 'link'))) symlinkSync(home, join(folder, 'link'));
    const here = openWorker({ home: named, environment: { PATH: '/usr/bin:/bin', HOME: named } });
    const { stdout } = await here.run(
      'git --version > /dev/null && echo ran; cat ~/.npmrc ~/Documents/notes',
      {
        cwd: project,
      },
    );
    expect(stdout).toBe('ran\n');
    await here.close();
  });

  test('also hides the home of the account if HOME is another folder, and does not accept it as a workspace', async () => {
    const account = userInfo().homedir;
    const here = openWorker();
    const { stdout } = await here.run(`ls -A ${account}/.bashrc ${account}/.ssh; ls -A /home`, {
      cwd: project,
    });
    expect(stdout).toBe('');
    await expect(here.start('true', { cwd: account })).rejects.toThrow('too wide for a workspace');
    await here.close();
  });

  test('uses no folder that has replaced a workspace that was moved', async () => {
    const here = openWorker();
    const moved = `${project}-moved`;
    await here.run('true', { cwd: project });
    renameSync(project, moved);
    mkdirSync(project);
    await here.run('echo precious > note', { cwd: project });
    expect([existsSync(join(project, 'note')), existsSync(join(moved, 'note'))]).toEqual([true, false]);
    rmSync(project, { recursive: true });
    renameSync(moved, project);
    await here.close();
  });
});

test('folders with keys of every account are no workspace', async () => {
  const other = join(folder, 'other');
  mkdirSync(join(other, '.ssh'), { recursive: true });
  const homes = findHomes(home, [other]);
  expect(homes.all).toEqual(expect.arrayContaining([home, other]));
  expect(homes.hidden).toEqual(expect.arrayContaining([home, other]));
});

test('settings of git with a password or token are hidden', () => {
  const homes = findHomes(home, []);
  const isShown = () => findShown({ homes, path: '', added: [] }).paths.includes(join(home, '.gitconfig'));
  expect(isShown()).toBe(true);
  for (const line of [
    'extraheader = Authorization: basic eDp5',
    '[url "https://ghp_x@github.com/"]',
    'proxy = http://a:b@proxy/',
  ]) {
    spawnSync('cp', ['-p', join(home, '.gitconfig'), join(home, 'saved')]);
    writeFileSync(join(home, '.gitconfig'), `[http]\n\t${line}\n`);
    expect(isShown()).toBe(false);
    spawnSync('mv', [join(home, 'saved'), join(home, '.gitconfig')]);
  }
});

test('the home directory on the PATH does not make it visible', () => {
  const homes = findHomes(home, []);
  const { paths } = findShown({ homes, path: `${home}:${dirname(home)}:relative:`, added: [] });
  expect(paths.filter((one) => !one.startsWith(`${home}/`))).not.toContain(home);
});
