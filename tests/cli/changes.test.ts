import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { findOverlayAttributes } from '../support/layered.ts';
import { createPlace, runInProcess } from '../support/nacre.ts';
import { needLevel } from '../support/needs.ts';
import { createHome, own } from '../support/run-steps.ts';
import { openTerminal } from '../support/terminal.ts';
import { users } from '../support/users.ts';

beforeEach((context) => needLevel(context, 'namespace'));

function createProject() {
  const { cwd: home, env } = createPlace();
  const cwd = join(home, 'project');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'a'), 'a\n');
  const nacre = (...words: string[]) => runInProcess(words, { cwd, env });
  const read = (name: string) => readFileSync(join(cwd, name), 'utf8');
  const lastId = async () => {
    const { changes } = JSON.parse((await nacre('changes', '--json')).stdout);
    return String(changes.at(-1)?.id);
  };
  return { nacre, read, lastId, cwd, env };
}

describe('nacre changes', () => {
  it('holds, shows and discards what a command did', async () => {
    const { nacre, read, lastId } = createProject();
    expect((await nacre('run', '--hold', 'echo b >> a')).code).toBe(0);
    const id = await lastId();
    expect((await nacre('changes', id)).stdout).toContain('+b');
    expect(await nacre('discard', id)).toMatchObject({
      code: 0,
      stdout: `${id}: 1 changed path, now gone\n`,
    });
    expect((await nacre('changes')).stdout).toBe('no changes are kept\n');
    expect(read('a')).toBe('a\n');
    const again = await nacre('discard', id);
    expect([again.code === 0, again.stderr]).toEqual([false, expect.stringContaining('No changes are kept')]);
  });

  it('discards one path of several, and applies the rest', async () => {
    const { nacre, read, lastId, cwd } = createProject();
    await nacre('run', '--hold', 'echo b >> a; echo c > c');
    const id = await lastId();
    expect((await nacre('discard', id, 'c')).code).toBe(0);
    expect((await nacre('apply', id)).code).toBe(0);
    expect([read('a'), existsSync(join(cwd, 'c'))]).toEqual(['a\nb\n', false]);
  });

  it('undoes tracked changes', async () => {
    const { nacre, read, lastId } = createProject();
    await nacre('run', '--changes', 'track', 'echo b >> a');
    expect(read('a')).toBe('a\nb\n');
    expect((await nacre('undo', await lastId())).code).toBe(0);
    expect(read('a')).toBe('a\n');
  });

  it('undoes everything since a command or a time, the newest first', async () => {
    const { nacre, read, lastId } = createProject();
    const track = (script: string) => nacre('run', '--changes', 'track', script);
    await track('echo b >> a');
    const first = await lastId();
    await track('echo c >> a');
    await track('sed -i s/a/x/ a');
    expect(read('a')).toBe('x\nb\nc\n');
    const undone = await nacre('undo', '--to', first);
    expect([undone.code, undone.stdout.match(/now held\n/g)?.length, undone.stdout]).toEqual([
      0,
      3,
      expect.not.stringContaining('not replaced'),
    ]);
    expect(read('a')).toBe('a\n');
    await track('echo d >> a');
    expect((await nacre('undo', '--to', '1h')).stdout).toContain('1 changed path, now held');
    expect(read('a')).toBe('a\n');
    expect((await nacre('undo', '--to', '1h')).stdout).toBe('nothing to undo\n');
  });
});

describe('nacre apply and undo', () => {
  it('fail if a file was changed since, name it, and replace it with --force', async () => {
    const { nacre, read, lastId, cwd } = createProject();
    await nacre('run', '--hold', 'echo b >> a');
    const id = await lastId();
    writeFileSync(join(cwd, 'a'), 'yours\n');
    expect(await nacre('apply', id)).toMatchObject({
      code: 1,
      stdout: `${id}: 1 changed path, now held\n  not replaced, because it was changed since: a\n  repeat the command with --force to replace these files too\n`,
    });
    expect((await nacre('apply', id, '--json')).code).toBe(1);
    expect(read('a')).toBe('yours\n');
    expect((await nacre('apply', id, '--force')).code).toBe(0);
    expect(read('a')).toBe('a\nb\n');
    writeFileSync(join(cwd, 'a'), 'newer\n');
    expect((await nacre('undo', '--to', id)).code).toBe(1);
    expect(read('a')).toBe('newer\n');
    expect((await nacre('undo', id, '--force')).code).toBe(0);
    expect(read('a')).toBe('yours\n');
    writeFileSync(join(cwd, 'a'), 'newest\n');
    expect(await nacre('discard', id)).toMatchObject({
      code: 0,
      stdout: `${id}: 1 changed path, now gone\n`,
    });
  });
});

describe('nacre try', () => {
  it('says that it ran on top of the changes of an earlier one, and how to forget them', async () => {
    const { nacre, lastId } = createProject();
    await nacre('try', 'echo b >> a');
    const first = await lastId();
    const second = await nacre('try', 'cat a');
    expect([second.stdout, second.stderr]).toEqual([
      'a\nb\n',
      expect.stringContaining(`the held changes of ${first},`),
    ]);
    expect(second.stderr).toContain(`nacre discard ${first}`);
    await nacre('discard', first);
    expect((await nacre('try', 'cat a')).stderr).not.toContain('on top of');
  });

  it.each([
    ['y', 'the changes are applied', 'a\nb\n'],
    ['n', 'the changes are discarded', 'a\n'],
    ['l', 'apply them with nacre apply', 'a\n'],
    ['\u0003', 'apply them with nacre apply', 'a\n'],
  ])('shows a coloured diff at a terminal and asks (answer %j)', async (key, reply, content) => {
    const { cwd, env, read } = createProject();
    const coloured = { ...env, TERM: 'xterm-256color' };
    const terminal = openTerminal(['try', 'echo b >> a'], { cwd, env: coloured });
    await terminal.shows(/Apply these changes\? \[y\]es, \[n\]o, \[l\]ater: /);
    expect(terminal.text()).toMatch(/\u001b\[32m\+b\u001b\[/);
    expect(read('a')).toBe('a\n');
    terminal.type(key === '\u0003' ? key : `${key}\r`);
    await terminal.shows(reply);
    expect([await terminal.ended, read('a')]).toEqual([0, content]);
  });
});

test.each(users)('user %s can track and undo changes', async (user) => {
  const { home, project, cli, identity } = createHome(user);
  try {
    const file = join(project, 'a');
    writeFileSync(file, 'a\n');
    own(identity, file);
    const nacre = (...words: readonly string[]) =>
      new Promise<string>((resolve) => {
        const env = { PATH: process.env.PATH ?? '', HOME: home, NACRE_LOGIN_ENV: 'never' };
        const options = { env, cwd: project, timeout: 60_000, ...identity };
        execFile(process.execPath, [cli, ...words], options, (_, stdout, stderr) => resolve(stdout + stderr));
      });
    expect(await nacre('run', '--changes', 'track', 'echo b >> a; cat a')).toContain('a\nb\n');
    expect(readFileSync(file, 'utf8')).toBe('a\nb\n');
    expect(findOverlayAttributes(project)).toEqual([]);
    const [entry] = JSON.parse(await nacre('changes', '--json')).changes;
    expect(await nacre('undo', entry.id)).toContain('now held');
    expect(readFileSync(file, 'utf8')).toBe('a\n');
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test.each(users)(
  'user %s can apply and undo changes in folders without permission to read or write',
  async (user) => {
    const { home, project, cli, identity } = createHome(user);
    const shell = (script: string) =>
      execFileSync('bash', ['-c', script], { cwd: project, encoding: 'utf8', ...identity });
    const look =
      'cp -a . ../copy; cd ../copy; chmod -R u+rwX .; find . -type f -exec grep -H "" {} + | sort; cd ..; rm -r copy';
    const modes = 'stat -c "%n %a" * | sort';
    try {
      shell(
        `mkdir fixed closed other; echo 1 > fixed/a; echo 1 > closed/a; echo 1 > other/a; chmod 555 fixed`,
      );
      const before = [shell(modes), shell(look)];
      const nacre = (...words: readonly string[]) =>
        new Promise<string>((resolve) => {
          const env = { PATH: process.env.PATH ?? '', HOME: home, NACRE_LOGIN_ENV: 'never' };
          const options = { env, cwd: project, timeout: 60_000, ...identity };
          execFile(process.execPath, [cli, ...words], options, (_, stdout, stderr) =>
            resolve(stdout + stderr),
          );
        });
      const script = `chmod 755 fixed; echo 2 > fixed/b; rm fixed/a; chmod 555 fixed
      rm -r closed; mkdir closed; echo 2 > closed/b; chmod 300 closed; rm -r other; mkdir other; chmod 0 other`;
      await nacre('run', '--hold', script);
      const [entry] = JSON.parse(await nacre('changes', '--json')).changes;
      expect(await nacre('apply', entry.id)).toContain('now applied');
      expect(shell(modes)).toBe('closed 300\nfixed 555\nother 0\n');
      shell('chmod 700 closed other');
      expect(shell('cat closed/b fixed/b; ls closed fixed other')).toBe(
        '2\n2\nclosed:\nb\n\nfixed:\nb\n\nother:\n',
      );
      shell('chmod 300 closed; chmod 0 other');
      expect(await nacre('undo', entry.id, '--force')).toContain('now held');
      expect([shell(modes), shell(look)]).toEqual(before);
      expect(await nacre('discard', entry.id)).toContain('now gone');
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
);
