import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { createPlace, runInProcess } from '../support/nacre.ts';
import { needLevel } from '../support/needs.ts';
import { createHome, own } from '../support/run-steps.ts';
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
  return { nacre, read, lastId, cwd };
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
    const [entry] = JSON.parse(await nacre('changes', '--json')).changes;
    expect(await nacre('undo', entry.id)).toContain('now held');
    expect(readFileSync(file, 'utf8')).toBe('a\n');
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
