import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bestLevel } from '../../../tests/support/needs.ts';
import { openDescriptors } from '../../../tests/support/processes.ts';
import { createTestSession, type TestSession } from '../../../tests/support/session.ts';
import type { SupervisionLevel } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { WorkerOptions } from '../worker-options.ts';

let here: TestSession;
let level: SupervisionLevel;
const open = (options: Partial<WorkerOptions> = {}) =>
  createTestSession({ highestLevel: level, supervisionRequire: level, ...options });
beforeAll(async () => {
  level = await bestLevel();
});
beforeEach(() => {
  here = open();
});
afterEach(() => here.closeCompletely());
const say = (script: string, spec?: Partial<JobSpec>) => here.say(script, spec);

describe('a persistent shell', () => {
  test('B5: keeps stdout and stderr apart, and counts lines from the start of each command', async () => {
    await say(':\n:\n:');
    const first = await say('echo out; echo err >&2; (exit 3)');
    expect(first).toMatchObject({ stdout: 'out\n', stderr: 'err\n', code: 3, status: 'failed' });
    expect((await say('nosuch-program-x')).stderr).toBe(
      'bash: line 1: nosuch-program-x: command not found\n',
    );
    const long = `# ${'ä'.repeat(200)}\nprintf '%s ' "$LINENO" 'it'"'"'s ä€😀 \\303' "\u0001"\nnosuch-program-y`;
    expect(await say(long)).toMatchObject({
      stdout: "2 it's ä€😀 \\303 \u0001 ",
      stderr: 'bash: line 3: nosuch-program-y: command not found\n',
    });
    expect((await say('echo a; echo b > /dev/stdout; echo c | tee /dev/stderr')).stdout).toBe('a\nb\nc\n');
  });

  test('B4: `cd -` goes to the previous directory after every restart', async () => {
    await say('mkdir one two; cd one; cd ../two');
    await say('exit 3');
    expect((await say('cd -')).stdout).toBe(`${here.folder}/one\n`);
    await say('unset OLDPWD');
    await say('exit 3');
    expect((await say('cd -')).stderr).toContain('OLDPWD not set');
  });

  test('P13: the facts for policy are rebuilt when the state has changed, and only then', async () => {
    const facts = async () =>
      (await here.worker.inspect({ cwd: undefined, roots: [], programs: [], session: 'main' })).session;
    await say('x=1');
    const first = await facts();
    await say(': $RANDOM');
    expect(await facts()).toBe(first);
    await say('unset RANDOM; RANDOM=one');
    expect((await facts())?.variables?.RANDOM).toBe('one');
    await say('RANDOM=two');
    expect((await facts())?.variables?.RANDOM).toBe('two');
    await say('f() { :; }');
    expect(Object.keys((await facts())?.functions ?? {})).toEqual(['f']);
  });

  test('late output of an earlier background process goes to its own command', async () => {
    const cwd = await here.directory();
    const id = await here.start('(sleep 0.4; echo late) & echo now', { session: 'main', cwd });
    await here.worker.wait(id, 10_000);
    expect((await here.output(id)).stdout).toBe('now\n');
    expect((await say('sleep 0.8; echo second')).stdout).toBe('second\n');
    await expect.poll(async () => (await here.output(id)).stdout).toBe('now\nlate\n');
  });

  test('accepts commands of any size, binary output and output without a final newline', async () => {
    const long = `echo ${'x'.repeat(300_000)} | wc -c`;
    expect((await say(long)).stdout).toBe('300001\n');
    expect((await say('printf "no end"')).stdout).toBe('no end');
    expect((await say('head -c 1000 /dev/zero | tr "\\0" "\\377"')).end?.exitCode).toBe(0);
    expect((await say('echo next')).stdout).toBe('next\n');
  });

  test('changes to the requested directory, and to the nearest parent when its own was deleted', async () => {
    mkdirSync(join(here.folder, 'x y/z'), { recursive: true });
    expect((await say('pwd', { cwd: join(here.folder, 'x y/z') })).stdout).toBe(`${here.folder}/x y/z\n`);
    rmSync(join(here.folder, 'x y'), { recursive: true });
    expect((await say('pwd')).stdout).toBe(`${here.folder}\n`);
  });

  test('B4: if the directory’s path is too long or a file replaced it, only the directory is lost', async () => {
    await say(`x=kept; d=$(printf 'd%.0s' {1..200}); for i in {1..25}; do mkdir $d; cd $d; done`);
    expect((await say('echo $x')).stdout).toBe('kept\n');
    expect((await say('rm -r ~/ddd*; cd ~/; mkdir sub; cd sub; rmdir ../sub; touch ../sub; y=1')).code).toBe(
      0,
    );
    expect((await say('pwd; echo $y')).stdout).toBe(`${here.folder}\n1\n`);
    await say('mkdir two; cd two');
    await say('exit 3');
    rmSync(join(here.folder, 'two'), { recursive: true });
    writeFileSync(join(here.folder, 'two'), '');
    expect((await say('pwd')).stdout).toBe(`${here.folder}\n`);
  });

  test('B4: changes to a directory that replaced its own', async () => {
    await say('mkdir build; cd build');
    await say(':');
    rmSync(join(here.folder, 'build'), { recursive: true });
    mkdirSync(join(here.folder, 'build'));
    expect((await say('touch made; ls; pwd')).stdout).toBe(`made\n${here.folder}/build\n`);
  });

  test('passes its state to a command outside the session, and is not changed by it', async () => {
    await say('mkdir -p d; cd d; v="it\'s"; f() { echo "f $v"; v=changed; }; alias al=f; export E=1');
    const outside = await here.run('pwd; al; printenv E; nosuch-x; cd /', {
      beginsAs: 'main',
      cwd: await here.directory(),
    });
    expect(outside.stdout).toBe(`${here.folder}/d\nf it's\n1\n`);
    expect(outside.stderr).toContain('line 1: nosuch-x');
    expect((await say('pwd; echo $v')).stdout).toBe(`${here.folder}/d\nit's\n`);
  });

  test('opens no more descriptors for many commands than for one', async () => {
    await say(':');
    const before = openDescriptors();
    for (let round = 0; round < 100; round += 1) await say('echo x; true');
    expect(openDescriptors()).toBeLessThanOrEqual(before + 2);
  });

  test('B4: variables of several megabytes are restored', async () => {
    await say('y=$(head -c 4000000 /dev/zero | tr "\\0" y); z=$(head -c 400000 /dev/zero | tr "\\0" "\\$")');
    expect((await say('printf %s "$y" | wc -c; printf %s "$z" | wc -c')).stdout).toBe('4000000\n400000\n');
    await say('exit');
    expect((await say('printf %s "$y" | wc -c; printf %s "$z" | wc -c')).stdout).toBe('4000000\n400000\n');
  });
});
