// nacre where the kernel forbids user namespaces, as root and as an ordinary user.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needLandlock, needLevel, needPrograms } from '../support/needs.ts';
import { createHome, type Home, own, runSteps, type StepResult } from '../support/run-steps.ts';
import { users } from '../support/users.ts';
import { withoutNamespaces } from '../support/without-namespaces.ts';

// The test needs a user namespace to forbid further ones.
beforeEach(async (context) => {
  await needLevel(context, 'unshare');
  await needLandlock(context);
  needPrograms(context, 'setpriv', 'unshare');
});

describe.each(users)('E2: without user namespaces, for user %s', (user) => {
  let here: Home;
  let results: readonly StepResult[] = [];
  const native = `@koromix/koffi-${process.platform}-${process.arch}`;

  /** Writes a file of the user. */
  const writeIn = (folder: string, name: string, text: string) => {
    const file = join(folder, name);
    const made = mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    for (let at = dirname(file); made !== undefined && at.length >= made.length; at = dirname(at))
      own(here.identity, at);
    own(here.identity, file);
  };

  /** Runs the built command line of the user; resolves to its stdout. */
  const nacre = (...args: readonly string[]) =>
    new Promise<string>((resolve) => {
      const [program = '', ...words] = [...withoutNamespaces, process.execPath, here.cli, ...args];
      const env = { PATH: process.env.PATH ?? '', HOME: here.home, NACRE_LOGIN_ENV: 'never' };
      const options = { env, cwd: here.project, timeout: 30_000, ...here.identity };
      execFile(program, words, options, (_error, stdout, stderr) => resolve(stdout || stderr));
    });

  beforeAll(async () => {
    here = createHome(user);
    // The copy of an ordinary user finds koffi next to it.
    if (user === 'ordinary')
      for (const name of ['koffi', native])
        cpSync(join('node_modules', name), join(here.home, 'node_modules', name), { recursive: true });
    mkdirSync(join(here.home, '.ssh'));
    writeFileSync(join(here.home, '.ssh', 'id'), 'the key');
    own(here.identity, join(here.home, '.ssh'), join(here.home, '.ssh', 'id'));
    writeIn(here.home, '.npmrc', '_authToken=secret');
    writeIn(here.home, '.bash_history', 'secret');
    writeIn(here.home, '.config/nacre/config.yaml', 'danger: block\n');
    writeIn(here.project, '.git/config', '[core]\n');
    // In a file, because the policy refuses a command that visibly changes nacre's settings.
    writeIn(here.project, 'widen.sh', 'echo "danger: off" >> ~/.config/nacre/config.yaml');
    const script =
      'echo a > here && cat here; echo b > ~/there; cat ~/.ssh/id; echo c > /tmp/nacre-$$ && rm /tmp/nacre-$$';
    results = await runSteps(
      here,
      [
        { settings: { sandbox: 'workspace' }, scripts: [script, script] },
        { settings: { sandbox: 'workspace' } },
        { settings: { sandbox: 'strict' } },
        { settings: { supervisionRequire: 'namespace' } },
        { settings: { exec: 'enforce', allowedCommands: ['cat'] } },
        {
          settings: { sandbox: 'workspace' },
          scripts: ['cat ~/.npmrc ~/.bash_history', 'bash widen.sh', 'echo "[x]" >> .git/config'],
        },
      ],
      withoutNamespaces,
    );
  }, 60_000);
  afterAll(() => rmSync(here.home, { recursive: true, force: true }));

  test('the sandbox workspace is enforced by Landlock', () => {
    for (const { stdout, stderr } of results[0]?.outcomes ?? []) {
      expect(stdout).toBe('a\n');
      expect(stderr).toMatch(/^bash: line 1: .*\/there: Permission denied\ncat: .*id: Permission denied\n$/);
    }
    expect(results[0]?.outcomes).toHaveLength(2);
    expect(existsSync(join(here.home, 'there'))).toBe(false);
    expect(results[1]?.report).toMatchObject({
      supervision: 'group',
      sandbox: 'workspace',
      files: 'landlock',
      workspaceBy: 'landlock',
    });
  });

  test('strict is refused, and the error names the setting of the kernel', () => {
    expect(results[2]?.error).toMatchObject({
      code: 'isolation_unavailable',
      message: expect.stringContaining('user namespaces are forbidden here (user.max_user_namespaces=0)'),
      hint: expect.stringMatching(/sysctl -w user\.max_user_namespaces=\d+\. Or set sandbox to workspace\./),
    });
    expect(results[2]?.error?.hint).not.toContain('install');
  });

  test('a required level is refused with the same reason', () => {
    expect(results[3]?.error).toMatchObject({
      message: expect.stringMatching(/level group here.*user\.max_user_namespaces=0/),
    });
  });

  test('key stores cannot be read', () => {
    const [read] = results[5]?.outcomes ?? [];
    expect(read?.stdout).toBe('');
    expect(read?.stderr).toMatch(/\.npmrc: Permission denied\n.*\.bash_history: Permission denied\n$/);
  });

  test('a script cannot widen the settings of nacre', () => {
    expect(results[5]?.outcomes[1]?.stderr).toContain('config.yaml: Permission denied');
    expect(readFileSync(join(here.home, '.config/nacre/config.yaml'), 'utf8')).toBe('danger: block\n');
  });

  test('a protected file can be changed, which is a gap, and the reply names it', () => {
    expect(results[1]?.report.gaps.join('\n')).toContain('.git');
    expect(results[5]?.outcomes[2]?.warnings.join('\n')).toContain('.git/config');
  });

  test('the kernel restricts programs, too', () => {
    expect(results[4]?.report).toMatchObject({ exec: 'enforced', supervision: 'group' });
  });

  test('doctor reports it as a level of its own, and proposes nothing that does not work', async () => {
    const { workspace_by, findings } = JSON.parse(await nacre('doctor', '--json'));
    expect(workspace_by).toBe('landlock');
    const found = (check: string) => findings.find((one: { check: string }) => one.check === check);
    expect(found('sandbox').found).toContain('workspace is available, enforced by Landlock');
    expect(found('bubblewrap')).toMatchObject({ fix: expect.stringContaining('sysctl -w user.max_user') });
    expect(JSON.stringify(findings)).not.toContain('install bubblewrap');
  });

  test('a command whose changes cannot be tracked is refused with the reason, and doctor reports it', async () => {
    const refused = await nacre('run', '--changes', 'track', 'echo changed > file');
    expect(refused).toContain('Changes cannot be tracked or held here');
    expect(existsSync(join(here.project, 'file'))).toBe(false);
    const { findings } = JSON.parse(await nacre('doctor', '--json', '--changes', 'hold'));
    expect(findings.find((one: { check: string }) => one.check === 'changes')).toMatchObject({
      status: 'problem',
      found: expect.stringContaining('so changes: hold refuses every command'),
    });
  });

  test('init proposes workspace', async () => {
    expect(await nacre('init', '--print')).toContain('"NACRE_SANDBOX": "workspace"');
  });
});
