import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needLevel, needPty } from '../../tests/support/needs.ts';
import { processesWith } from '../../tests/support/processes.ts';
import { createTestWorker, type TestWorker } from '../../tests/support/worker.ts';
import { supervisionLevels } from '../contract/isolation.ts';
import type { JobSpec } from '../contract/job.ts';
import { loadPty } from './terminal/load-pty.ts';

const terminal = { terminal: { cols: 80, rows: 24 }, stdin: 'open' } as const;

// A shell such as the keeper's reports both `exit 130` and SIGINT as status 130.
const ends = [
  ['exit 130', 130, null],
  ['exit 137', 137, null],
  ['exit 141', 141, null],
  ['exit 143', 143, null],
  ['exit 139', 139, null],
  ['kill -INT $$', 130, 'SIGINT'],
  ['kill -KILL $$', 137, 'SIGKILL'],
  ['kill -PIPE $$', 141, 'SIGPIPE'],
  ['kill -TERM $$', 143, 'SIGTERM'],
  ['kill -SEGV $$', 139, 'SIGSEGV'],
  ['kill -HUP $$', 129, 'SIGHUP'],
  ["trap 'exit 130' INT; kill -INT $$", 130, null],
  ['sh -c "kill -TERM \\$\\$"; exit', 143, null],
] as const;

const hasPty = () =>
  loadPty().then(
    () => true,
    () => false,
  );

describe.each(supervisionLevels)('the end of a command at level %s', (level) => {
  let here: TestWorker;
  beforeAll(() => {
    here = createTestWorker({ highestLevel: level, supervisionRequire: level });
  });
  afterAll(() => here.close());
  const endOf = async (script: string, spec?: Partial<JobSpec>) => (await here.run(script, spec)).state.end;

  test.for(ends)('`%s` is exit code %i with signal %s', async ([script, exitCode, signal], context) => {
    await needLevel(context, level);
    const expected = { cause: 'exit', exitCode, signal };
    expect(await endOf(script)).toMatchObject(expected);
    if (await hasPty()) expect(await endOf(script, terminal)).toMatchObject(expected);
  });

  test('`kill 0` reaches only processes of the command', async (context) => {
    await needLevel(context, level);
    const { state, stdout } = await here.run("trap 'kill 0' EXIT; sleep 7745 & echo up");
    expect(stdout).toBe('up\n');
    expect(state.end).toMatchObject({ cause: 'exit', exitCode: 143, signal: 'SIGTERM' });
    expect(await endOf('kill -KILL 0')).toMatchObject({ cause: 'exit', exitCode: 137, signal: 'SIGKILL' });
    await expect.poll(() => processesWith('sleep\x007745')).toEqual([]);
  });

  test('a command that handles the signal of a stop ends with its own exit code', async (context) => {
    await needLevel(context, level);
    const id = await here.start("trap 'exit 143' TERM; echo up; while :; do sleep 0.01; done");
    await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
    const { end } = await here.worker.stop(id, { signal: 'SIGTERM', graceMs: 10_000 });
    expect(end).toMatchObject({ cause: 'stopped', exitCode: 143, signal: null });
  });

  test('Ctrl-C at a terminal is SIGINT', async (context) => {
    await needLevel(context, level);
    await needPty(context);
    for (const script of ['echo up; sleep 7746', 'echo up; exec sleep 7746']) {
      const id = await here.start(script, terminal);
      await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
      await here.worker.interrupt(id);
      const { end } = await here.worker.wait(id, 10_000);
      expect(end).toMatchObject({ cause: 'exit', exitCode: 130, signal: 'SIGINT' });
    }
  });

  test('in a persistent shell, a status is not reported as a signal', async (context) => {
    await needLevel(context, level);
    const inSession = async (script: string) => endOf(script, { session: 'one' });
    for (const script of ['(exit 130)', 'exit 130', '(exit 143)', 'exit 137'])
      expect(await inSession(script)).toMatchObject({
        exitCode: Number(/\d+/.exec(script)?.[0]),
        signal: null,
      });
  });
});
