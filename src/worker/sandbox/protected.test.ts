import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needLandlock, needLevel, needPrograms } from '../../../tests/support/needs.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import { describeProtected } from '../../support/describe-protected.ts';
import type { WorkerOptions } from '../worker-options.ts';
import { WorkspaceProtection } from './protected-paths.ts';

// Not below /tmp, which a sandbox replaces.
const folder = mkdtempSync('/var/tmp/nacre-protected-');
const home = join(folder, 'home');
mkdirSync(home);
const open: TestWorker[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((worker) => worker.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

let made = 0;
const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
const git = (cwd: string, ...words: string[]) =>
  execFileSync('git', [...identity, ...words], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
    env: { ...process.env, HOME: home },
  });

/** A repository with settings of editors and agents, and a repository in it. */
function createProject(): string {
  made += 1;
  const project = join(folder, `project-${made}`);
  for (const name of ['.vscode', '.claude', '.cursor', 'src', 'lib/inner'])
    mkdirSync(join(project, name), { recursive: true });
  for (const name of ['.vscode/tasks.json', '.claude/settings.json', '.envrc', '.mcp.json', 'src/code'])
    writeFileSync(join(project, name), 'before\n');
  for (const place of [project, join(project, 'lib', 'inner')]) {
    git(place, 'init', '-q', '-b', 'main');
    git(place, 'commit', '-q', '--allow-empty', '-m', 'first');
  }
  git(project, 'branch', 'other');
  return project;
}

function openWorker(project: string, options: Partial<WorkerOptions> = {}): TestWorker {
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8' };
  const here = createTestWorker({
    ...{ highestLevel: 'namespace', sandbox: 'workspace', home, cwd: project, environment },
    ...options,
  });
  open.push(here);
  return here;
}

const commit = 'git -c user.name=a -c user.email=a@b commit -q --allow-empty -m more';

describe('in a sandbox of namespaces', () => {
  beforeEach(async (context) => {
    await needLevel(context, 'namespace');
    needPrograms(context, 'git');
  });

  test.each([
    ['a hook', 'echo x > .git/hooks/pre-commit', '.git/hooks'],
    ['the configuration of git', 'git config core.fsmonitor x', '.git/config'],
    ['that of an inner repository', 'echo x >> lib/inner/.git/config', 'lib/inner/.git/config'],
    ['another folder in the place of .git', 'mv .git x && mkdir -p .git/hooks', '.git'],
    ['settings of an editor', 'echo x > .vscode/tasks.json', '.vscode'],
    ['a new file in them', 'echo x > .vscode/launch.json', '.vscode'],
    ['another folder in their place', 'mv .vscode x', '.vscode'],
    ['a deletion', 'rm -rf .claude', '.claude'],
    ['a variable file of a shell', 'echo x >> .envrc', '.envrc'],
    ['a link in its place', 'ln -sf src/code .envrc', '.envrc'],
    ['servers of an agent', 'mv src/code .mcp.json', '.mcp.json'],
    ['settings of an agent', 'touch .cursor/mcp.json', '.cursor'],
  ])('%s cannot be written, and the reply says why', async (_what, script, path) => {
    const project = createProject();
    const before = readFileSync(join(project, '.git', 'config'), 'utf8');
    const { state } = await openWorker(project).run(script, { cwd: project });
    expect(state.end?.exitCode).not.toBe(0);
    expect(state.end?.protectedUse?.refused).toContain(join(project, path));
    const [note] = describeProtected(state.end?.protectedUse, project);
    expect(note).toMatch(/^Read-only in this sandbox.* unprotected \(NACRE_UNPROTECTED=/);
    expect(note).toContain(path.replace(/^lib\/inner\//, ''));
    expect(readFileSync(join(project, '.git', 'config'), 'utf8')).toBe(before);
    expect(existsSync(join(project, '.git', 'hooks', 'pre-commit'))).toBe(false);
    for (const name of ['.vscode/tasks.json', '.envrc', '.mcp.json', '.claude/settings.json'])
      expect(readFileSync(join(project, name), 'utf8')).toBe('before\n');
  });

  test('the folders above a repository in the workspace cannot be renamed', async () => {
    const project = createProject();
    const here = openWorker(project);
    for (const name of ['lib', 'lib/inner']) {
      const { stderr, state } = await here.run(`mv ${name} ${name}-moved`, { cwd: project });
      expect(state.end?.exitCode).toBe(1);
      expect(stderr).toMatch(/busy/i);
    }
    const { stdout } = await here.run(
      'echo a > lib/b && mv lib/b lib/c && mv lib/c d && cat d && git -C lib/inner status -s',
      { cwd: project },
    );
    expect(stdout).toBe('a\n');
  });

  test('a repository that is deep in the workspace is protected', async () => {
    const project = createProject();
    const deep = join(project, 'a/b/c/d/e');
    mkdirSync(deep, { recursive: true });
    git(deep, 'init', '-q', '-b', 'main');
    const here = openWorker(project);
    const { stderr } = await here.run('echo x > a/b/c/d/e/.git/config; mv a/b/c x', { cwd: project });
    expect(stderr).toMatch(/read-only file system[\s\S]*busy/i);
  });

  test('a `commondir` that a command creates in a repository further down is reported', async () => {
    const project = createProject();
    const here = openWorker(project);
    const { state } = await here.run('echo /tmp/x > lib/inner/.git/commondir', { cwd: project });
    expect(state.end?.protectedUse?.changed).toEqual([join(project, 'lib/inner/.git/commondir')]);
  });

  test('git works without changing its configuration', async () => {
    const project = createProject();
    const { stdout, stderr } = await openWorker(project).run(
      `${commit} && git checkout -q other && git switch -q main && git stash list && echo y > src/code && git add src && ${commit} && git tag v1 && git log --format=%s | head -1 && git rebase -q other && git gc -q && git worktree add -q ../wt 2> /dev/null; git diff --stat`,
      { cwd: project },
    );
    expect([stdout, stderr]).toEqual(['more\n', '']);
  });

  test('a worktree, a submodule and the folder that hooksPath names are protected', async () => {
    const project = createProject();
    const inner = join(folder, 'inner-source');
    mkdirSync(inner, { recursive: true });
    git(inner, 'init', '-q');
    git(inner, 'commit', '-q', '--allow-empty', '-m', 'first');
    git(project, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner, 'libs/part');
    git(project, 'worktree', 'add', '-q', 'trees/one');
    mkdirSync(join(project, 'ci', 'hooks'), { recursive: true });
    git(project, 'config', 'core.hooksPath', 'ci/hooks');
    const scripts = [
      'echo x >> .git/modules/libs/part/config',
      'mv .git/modules/libs/part x',
      'echo x > libs/part/.git',
      'echo x > trees/one/.git',
      'echo x > .git/worktrees/one/commondir',
      'echo x > ci/hooks/pre-commit',
    ];
    const tries = scripts.map((script) => `(${script}) 2> /dev/null && echo '${script}'`);
    const { stdout } = await openWorker(project).run(tries.join('; '), { cwd: project });
    expect(stdout).toBe('');
  });

  test('paths that appear while a command runs are reported once', async () => {
    const project = createProject();
    const here = openWorker(project);
    const run = async (script: string) => (await here.run(script, { cwd: project })).state.end?.protectedUse;
    expect(await run('mkdir .idea && echo /elsewhere > .git/commondir; touch other')).toEqual({
      refused: [],
      changed: [join(project, '.idea'), join(project, '.git', 'commondir')],
    });
    rmSync(join(project, '.git', 'commondir'));
    expect(await run('touch another')).toBeUndefined();
  });

  test('a repository that a command creates can be configured', async () => {
    const project = join(folder, 'fresh');
    mkdirSync(project);
    const here = openWorker(project);
    const { state } = await here.run(`git init -q && git config user.name a && ${commit}`, { cwd: project });
    expect(state.end).toMatchObject({ exitCode: 0, protectedUse: { changed: [join(project, '.git')] } });
  });

  test('a file that the user replaces outside of the sandbox stays protected', async () => {
    const project = createProject();
    const here = openWorker(project);
    await here.run('true', { cwd: project });
    git(project, 'config', 'user.name', 'me');
    const { state } = await here.run('git config core.fsmonitor x', { cwd: project });
    expect(state.end?.exitCode).not.toBe(0);
  });

  test('a persistent shell gets the same', async () => {
    const project = createProject();
    const here = openWorker(project);
    const session = { session: 'one', cwd: project };
    const { state } = await here.run('cd .git && echo x > hooks/pre-commit', session);
    expect(state.end?.protectedUse?.refused).toEqual([join(project, '.git', 'hooks')]);
  });

  test.each([
    [
      ['.vscode', '.git/config'],
      'echo x > .vscode/tasks.json && git config user.name b && ! echo x > .envrc',
    ],
    [['.git'], 'git config user.name b && echo x > .git/hooks/post-commit && ! echo x > .envrc'],
    [['*'], 'echo x > .envrc && mv .git renamed && mv renamed .git'],
  ])('the setting unprotected: %j makes them writable', async (unprotected, script) => {
    const project = createProject();
    const { state, stderr } = await openWorker(project, { unprotected }).run(script, { cwd: project });
    expect([state.end?.exitCode, stderr.replaceAll(/.*Read-only.*\n/g, '')]).toEqual([0, '']);
  });

  test('such a folder is not a workspace, but a worktree in it is', async () => {
    const project = createProject();
    const here = openWorker(project);
    for (const name of ['.git', '.git/hooks', '.vscode', '.claude'])
      await expect(here.start('true', { cwd: join(project, name) })).rejects.toMatchObject({
        code: 'isolation_unavailable',
      });
    const tree = join(project, '.claude', 'worktrees', 'one');
    mkdirSync(tree, { recursive: true });
    expect((await here.run('echo x > y && cat y', { cwd: tree })).stdout).toBe('x\n');
  });
});

test('with Landlock, which cannot protect them, changes are reported, and it is a gap', async (context) => {
  await needLandlock(context);
  const project = createProject();
  const here = openWorker(project, { highestLevel: 'group' });
  const run = async (script: string) => (await here.run(script, { cwd: project })).state;
  const { end, enforcement } = await run(
    'echo "[core]" >> .git/config; echo x > .vscode/tasks.json; mkdir .idea; cat src/code',
  );
  expect([...(end?.protectedUse?.changed ?? [])].sort()).toEqual(
    ['.git/config', '.idea', '.vscode'].map((name) => join(project, name)),
  );
  expect(enforcement?.gaps.join()).toContain('.git/hooks');
  expect((await run('true')).end?.protectedUse).toBeUndefined();
});

test('a large workspace is searched only in part', () => {
  const project = join(folder, 'large');
  for (let index = 0; index < 1_200; index += 1)
    mkdirSync(join(project, `a${index}`, 'b'), { recursive: true });
  const started = performance.now();
  new WorkspaceProtection([], '/').find([project]);
  expect(performance.now() - started).toBeLessThan(2_000);
});
