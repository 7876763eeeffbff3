import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needLevel } from '../../../tests/support/needs.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { soakCount } from '../../../tests/support/soak.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';

let here: TestWorker;
beforeEach(async (context) => {
  here = createTestWorker();
  await needLevel(context, 'namespace');
});
afterEach(async () => {
  await here.close();
  await expect.poll(() => processesWith(`HOME=${here.folder}`)).toEqual([]);
});

describe.each(['workspace', 'strict'] as const)('a persistent shell in the sandbox %s', (sandbox) => {
  test('E5: keeps its state, and is restricted like any command', async () => {
    here = createTestWorker({ highestLevel: 'namespace', supervisionRequire: 'namespace', sandbox });
    const work = join(here.folder, 'work');
    mkdirSync(work);
    const say = (script: string) => here.run(script, { session: 'main', cwd: work, timeoutMs: 20_000 });
    const first = await say('x=1; touch inside; touch ../outside; echo done');
    expect(first.stdout).toBe('done\n');
    expect(first.state.enforcement).toMatchObject({ level: 'namespace', sandbox, network: 'off' });
    expect(existsSync(join(work, 'inside'))).toBe(true);
    expect(existsSync(join(here.folder, 'outside'))).toBe(false);
    const state = (await here.worker.report()).folder;
    expect((await say(`echo $x; ls ${state}; ls ${state}/shells`)).stdout).toMatch(/^1\nshells\n0\n$/);
    expect((await say('exit 3')).state.end?.exitCode).toBe(3);
    expect((await say('echo $x; ls')).stdout).toBe('1\ninside\n');
  });
});

test.each(['off', 'strict'] as const)(
  'E5: in the sandbox %s a link in a session’s folder does not make nacre write to another file',
  async (sandbox) => {
    here = createTestWorker({ highestLevel: 'namespace', supervisionRequire: 'namespace', sandbox });
    const work = join(here.folder, 'work');
    const profile = join(here.folder, 'profile');
    mkdirSync(work);
    writeFileSync(profile, 'kept');
    const say = (script: string) => here.run(script, { session: 'main', cwd: work, timeoutMs: 20_000 });
    const pipes = join((await here.worker.report()).folder, 'shells', '0', 'pipes');
    const links = `for name in restore fifo-5 fifo-6 fifo-7; do ln -sfn ${profile} ${pipes}/$name 2> /dev/null && echo linked; done`;
    expect((await say(`${links}; f() { echo evil; }`)).stdout).toBe('');
    await say('exit 3');
    expect((await say('f')).stdout).toBe('evil\n');
    expect(readFileSync(profile, 'utf8')).toBe('kept');
  },
);

test('two sessions share no variable, directory or pipe, and run concurrently', async () => {
  here = createTestWorker({ highestLevel: 'namespace', supervisionRequire: 'namespace' });
  const say = (session: string, script: string) => here.run(script, { session, timeoutMs: 20_000 });
  await Promise.all([say('a', 'v=a; sleep 0.5'), say('b', 'v=b; cd /')]);
  expect((await say('a', 'echo $v')).stdout).toBe('a\n');
  expect((await say('b', 'echo $v; pwd')).stdout).toBe(`b\n${here.folder}\n`);
  const { folder } = await here.worker.report();
  expect((await say('b', `ls ${folder}/shells`)).stdout).toBe('1\n');
});

test('many concurrent sessions are as many shells', async () => {
  here = createTestWorker({ highestLevel: 'namespace', supervisionRequire: 'namespace' });
  const count = soakCount(50, 20);
  const names = Array.from({ length: count }, (_, index) => `s${index}`);
  const say = (session: string, script: string) => here.run(script, { session, timeoutMs: 20_000 });
  await Promise.all(names.map((name) => say(name, `v=${name}`)));
  const heard = await Promise.all(names.map((name) => say(name, 'echo $v')));
  expect(heard.map(({ stdout }) => stdout)).toEqual(names.map((name) => `${name}\n`));
  expect(await here.worker.listSessions()).toHaveLength(count);
});
