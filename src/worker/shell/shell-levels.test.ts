import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needLevel } from '../../../tests/support/needs.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { replaceFiles } from '../../../tests/support/replace-files.ts';
import { createTestSession, type TestSession } from '../../../tests/support/session.ts';
import { supervisionLevels } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { WorkerOptions } from '../worker-options.ts';

// Behaviour that depends on how processes are found, killed and kept apart.
describe.each(supervisionLevels)('a persistent shell at level %s', (level) => {
  let here: TestSession;
  const open = (options: Partial<WorkerOptions> = {}) =>
    createTestSession({ highestLevel: level, supervisionRequire: level, ...options });
  const restart = async (options: Partial<WorkerOptions>) => {
    await here.closeCompletely();
    here = open(options);
  };
  beforeEach(async (context) => {
    here = open();
    await needLevel(context, level);
  });
  afterEach(() => here.closeCompletely());
  const say = (script: string, spec?: Partial<JobSpec>) => here.say(script, spec);

  test('B3: directory, variables, functions, options and aliases survive from call to call', async () => {
    await say(
      'mkdir -p "a b"; cd "a b"; plain=1; export loud=2; f() { echo "f:$1"; }; shopt -s nullglob; set -u; alias hi="echo alias"',
    );
    const { stdout, stderr } = await say('pwd; echo $plain $loud; f x; hi there; echo *.none; printenv loud');
    expect(stderr).toBe('');
    expect(stdout).toBe(`${here.folder}/a b\n1 2\nf:x\nalias there\n\n2\n`);
  });

  test.each([
    ['exit 3', 3],
    ['kill -9 $$', 137],
  ])('B4: after `%s` the next call finds a working shell in the same state', async (script, code) => {
    await say('mkdir -p sub; cd sub; export KEPT="two words"; g() { echo g; }; alias gg=g');
    expect((await say(script)).code).toBe(code);
    const next = await say('pwd; printenv KEPT; gg');
    expect(next.stdout).toBe(`${here.folder}/sub\ntwo words\ng\n`);
    expect(next.end?.session?.restored).toMatchObject({ reason: 'ended', functions: 1, aliases: 1 });
  });

  test.each(['suspend -f', 'kill -STOP 0', 'kill -STOP $PPID; exit'])(
    'B4: a timeout ends `%s`',
    async (script) => {
      await say('x=kept');
      expect((await say(script, { timeoutMs: 300 })).status).toBe('timeout');
      expect((await say('echo $x')).stdout).toBe('kept\n');
    },
  );

  test('B4: a command whose outputs were replaced is not run, and the next one gets new outputs', async () => {
    await say('x=kept; cd /');
    replaceFiles(join((await here.worker.report()).folder, 'shells/0/pipes'));
    const lost = await say(`touch ${here.folder}/never`);
    expect(lost).toMatchObject({ code: 126, end: { session: { ran: false, shellEnded: false } } });
    const next = await say(`echo $x; pwd; ls ${here.folder}/never`);
    expect(next).toMatchObject({ stdout: 'kept\n/\n', end: { session: { ran: true } } });
  });

  test('E2: a timeout ends the command with all it started, and earlier background processes survive', async () => {
    // Random, since another run of this test may use `sleep` as well.
    const base = 70_000_000 + Math.floor(Math.random() * 1e6) * 10;
    const sleeping = (one: number) => processesWith(`sleep\u0000${base + one}\u0000`);
    await say(`sleep ${base + 1} & echo $! > pid; x=kept`);
    const late = await say(
      `(setsid sleep ${base + 2} &); ( (while :; do :; done) & ); sleep ${base + 3}; touch never`,
      { timeoutMs: 300 },
    );
    expect(late).toMatchObject({ status: 'timeout', end: { survivors: [] } });
    expect(sleeping(2)).toEqual([]);
    expect(sleeping(3)).toEqual([]);
    expect(sleeping(1)).toHaveLength(1);
    expect((await say('echo $x; kill -0 $(cat pid) && echo alive; ls never')).stdout).toBe('kept\nalive\n');
  });

  test('survives the loss of its folder', async () => {
    await say('x=1; cd /');
    rmSync(join((await here.worker.report()).folder, 'shells'), { recursive: true });
    expect((await say('echo $x; pwd')).stdout).toBe('1\n/\n');
  });

  test('B4: reports that its folder cannot be used, and continues when it can', async () => {
    await say('x=1; cd /');
    const shells = join((await here.worker.report()).folder, 'shells');
    rmSync(shells, { recursive: true });
    writeFileSync(shells, '');
    const closed = {
      code: 'resources_unavailable',
      message: expect.stringContaining(`own folder ${shells}`),
    };
    await expect(say('echo $x')).rejects.toMatchObject(closed);
    await expect(say('echo $x')).rejects.toMatchObject(closed);
    rmSync(shells);
    expect((await say('echo $x; pwd')).stdout).toBe('1\n/\n');
  });

  test('B4: if restoring the state ends every new shell, only the directory is restored', async () => {
    await restart({ shellBounds: { restoreMs: 500 } });
    await say('cd /; x=1; PS4="\\$(test -e $OLDPWD/slow && sleep 1000)"; set -x; exit 3');
    await say('cd /; PS4="\\$(test -e $OLDPWD/slow && sleep 1000)"; set -x');
    await say(`touch ${here.folder}/slow; exit 3`, { timeoutMs: 300 });
    const next = await say('pwd');
    expect(next.stdout).toBe('/\n');
    expect(next.end?.session?.restored?.lost).toEqual(['everything but the directory']);
  });

  test('B4: a trap that never returns during the state report ends only the shell, and the state is restored', async () => {
    await restart({ shellBounds: { restoreMs: 500 } });
    await say('x=kept');
    await say(`trap '[[ $BASH_COMMAND == *"declare -p"* ]] && sleep 1000' DEBUG`);
    expect((await say('echo $x')).stdout).toBe('kept\n');
  });

  test('B4: if the shell exits while idle, the next command still runs', async () => {
    await say('x=1; sleep 60 & (sleep 0.1; kill -KILL $$; touch killed) > /dev/null 2>&1 &');
    await here.run('until [[ -e killed ]]; do sleep 0.01; done; sleep 0.1');
    const next = await say('echo $x; pgrep -x sleep | wc -l');
    expect(next).toMatchObject({ code: 0, end: { session: { restored: { reason: 'ended' } } } });
    expect(next.stdout).toMatch(/^1\n[1-9]/);
  });

  test('ends its processes when idle, and keeps its state', async () => {
    await restart({ sessionIdleMs: 100 });
    await say('x=1; cd /tmp');
    await expect
      .poll(async () => (await here.worker.listSessions())[0]?.status, { timeout: 5_000 })
      .toBe('idle');
    const next = await say('echo $x; pwd');
    expect(next.stdout).toBe(`1\n${realpathSync('/tmp')}\n`);
    expect(next.end?.session?.restored).toMatchObject({ reason: 'idle' });
    expect(await here.worker.closeSession('main')).toEqual({ survivors: [] });
    expect(await here.worker.closeSession('main')).toBeNull();
  });
});
