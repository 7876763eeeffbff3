import { describe, expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { createTestSession, type TestSession } from '../../../tests/support/session.ts';
import type { JobState } from '../../contract/job.ts';
import { sleep } from '../../support/timing.ts';
import { createProcProcessTable } from '../processes/proc-process-table.ts';
import type { TreeRoot } from '../processes/process-table.ts';
import type { WorkerOptions } from '../worker-options.ts';

/** Passes a session to `use`, with `abort`, which runs a script until it has printed something, and aborts it. */
async function withSession(
  use: (
    here: TestSession,
    abort: (script: string, graceMs?: number) => Promise<{ state: JobState; stdout: string }>,
  ) => Promise<void>,
  options: Partial<WorkerOptions> = {},
): Promise<void> {
  const here = createTestSession({ killGraceMs: 2_000, ...options });
  try {
    await use(here, async (script, graceMs = 2_000) => {
      const id = await here.start(script, { session: 'main', cwd: await here.directory() });
      await here.worker.read(id, 0, { waitMs: 20_000, maxBytes: 100 });
      const state = await here.worker.stop(id, { signal: 'SIGTERM', graceMs });
      return { state, stdout: (await here.output(id)).stdout };
    });
  } finally {
    await here.closeCompletely();
  }
}

const sleepsOf = (here: TestSession) =>
  processesWith('sleep\u00007731').filter((pid) => processesWith(`HOME=${here.folder}`).includes(pid));

// Functions, loops and everything else that contains the running program.
const places = [
  'sleep 7731; echo after',
  'sleep 7731 && echo after || echo after',
  'if sleep 7731; then echo after; else echo after; fi; echo after',
  'while sleep 7731; do echo after; done; echo after',
  'until sleep 7731; do echo after; done; echo after',
  'for i in 1 2; do for j in 1 2; do sleep 7731; echo after; done; echo after; done; echo after',
  'f() { sleep 7731; echo after; }; g() { while :; do f; echo after; done; }; while :; do g; echo after; done',
  'eval "eval \\"sleep 7731; echo after\\"; echo after"; echo after',
  '(sleep 7731; echo after); echo after',
  '(trap "" INT; sleep 7731); echo after',
  'sleep 7731 | cat; echo after',
  'x=$(sleep 7731; echo more); echo after',
  'f() { local x=$(sleep 7731); echo after; }; f; echo after',
  'case $(sleep 7731) in *) echo after;; esac; echo after',
  'cat < <(sleep 7731); echo after',
  '{ sleep 7731; echo after; } 2>&1; echo after',
  'while :; do :; done; echo after',
  'while :; do sleep 0.01; done; echo after',
  'while :; do x=$(sleep 0.01); done; echo after',
  'while :; do (sleep 0.01); done; echo after',
  'while :; do sleep 0.01 | sleep 0.01; done; echo after',
  'sleep 7731 & wait; echo after',
  'kill -STOP $BASHPID; echo after',
  'set -u; sleep 7731; echo after',
  'trap "" INT; sleep 7731; echo after',
  'set -TE; sleep 7731; echo after',
  'printf "sleep 7731; echo after\\n" > file; source ./file; echo after',
  'sleep 7731\necho after\necho after',
];

describe.concurrent('an aborted command in a persistent shell', () => {
  test.each(places)('ends where it is, and the shell keeps its state: %s', async (script) =>
    withSession(async (here, abort) => {
      await here.say('trap "echo trapped" USR1; sleep 7732 & old=$!; kept=before');
      const { state, stdout } = await abort(
        `mkdir -p sub; cd sub; kept=new; h() { echo h; }; echo up; ${script}`,
      );
      expect(stdout).toBe('up\n');
      expect(state).toMatchObject({
        status: 'killed',
        end: { cause: 'stopped', survivors: [], session: { shellEnded: false } },
      });
      const { exitCode, signal } = state.end ?? {};
      expect([
        [130, 'SIGINT'],
        [143, 'SIGTERM'],
      ]).toContainEqual([exitCode, signal]);
      expect(sleepsOf(here)).toEqual([]);
      const next = await here.say(
        'set +u; trap - INT; pwd; echo $kept; h; kill -USR1 $$; [[ $(jobs -rp) == $old ]] && echo job; set +o | grep -c -e "-o .*trace"; trap -p DEBUG',
      );
      const flags = script.includes('-TE') ? 2 : 0;
      expect(next.stdout).toBe(`${here.folder}/sub\nnew\nh\ntrapped\njob\n${flags}\n`);
      expect(next.end?.session?.restored).toBeNull();
    }),
  );

  test('runs the INT trap of the shell once, also one that it has just set', async () =>
    withSession(async (here, abort) => {
      await here.say(`trap 'echo "old trap"' INT`);
      expect((await abort('echo up; sleep 7731; echo after')).stdout).toBe('up\nold trap\n');
      const set = await abort(`trap 'x=5; echo "it'\\''s new"' INT; echo up; sleep 7731; echo after`);
      expect(set).toMatchObject({
        stdout: "up\nit's new\n",
        state: { end: { exitCode: 130, signal: 'SIGINT' } },
      });
      expect((await here.say('echo $x; trap -p INT')).stdout).toContain('5\ntrap -- ');
    }));

  test('keeps its INT and DEBUG traps, wherever the signal interrupts a loop of short programs', async () =>
    withSession(async (here, abort) => {
      await here.say(`trap 'echo "int $i"' INT; trap 'seen=1' DEBUG`);
      for (let i = 0; i < 10; i += 1) {
        const { stdout, state } = await abort(`i=${i}; echo up; while :; do x=$(:); sleep 0.001; done`);
        expect(stdout).toBe(`up\nint ${i}\n`);
        expect(state.end?.session?.shellEnded).toBe(false);
        expect((await here.say('echo $i; trap -p DEBUG; shopt extdebug')).stdout).toBe(
          `${i}\ntrap -- 'seen=1' DEBUG\nextdebug       \toff\n`,
        );
      }
    }));

  test('keeps its shell even if listing its processes takes longer than the report of the shell', async () => {
    const table = createProcProcessTable();
    const slow = async (root: TreeRoot) => {
      await sleep(700);
      return table.members(root);
    };
    await withSession(
      async (here, abort) => {
        const { state } = await abort('kept=new; echo up; while :; do sleep 0.01; done');
        expect(state.end).toMatchObject({ cause: 'stopped', session: { shellEnded: false } });
        expect((await here.say('echo $kept')).stdout).toBe('new\n');
      },
      { table: { ...table, members: slow } },
    );
  });

  test('sends SIGINT to the program, which may end in its own way', async () =>
    withSession(async (_here, abort) => {
      const script = `bash -c 'trap "echo cleaned; exit 3" INT; echo up; while :; do sleep 0.01; done'; echo after`;
      const { stdout, state } = await abort(script);
      expect(stdout).toBe('up\ncleaned\n');
      expect(state.end).toMatchObject({ exitCode: 130, signal: 'SIGINT' });
    }));

  test('kills what ignores SIGINT and SIGTERM, and keeps the shell', async () =>
    withSession(async (here, abort) => {
      const { state } = await abort(`x=1; bash -c 'trap "" INT TERM; echo up; sleep 7731'; echo after`, 200);
      expect(state.end).toMatchObject({ exitCode: 137, signal: 'SIGKILL', survivors: [] });
      expect(sleepsOf(here)).toEqual([]);
      const next = await here.say('echo $x');
      expect(next).toMatchObject({ stdout: '1\n', end: { session: { restored: null } } });
    }));

  test.each([
    'exec sleep 7731',
    'trap - 62; sleep 7731',
    'trap "exit 3" INT; sleep 7731',
    'f() { trap : RETURN; sleep 7731; }; f',
  ])('has its shell replaced if the shell cannot abort it: %s', async (script) =>
    withSession(async (here, abort) => {
      await here.say('x=kept');
      const { state } = await abort(`echo up; ${script}`, 200);
      expect(state).toMatchObject({ status: 'killed', end: { cause: 'stopped', survivors: [] } });
      expect(sleepsOf(here)).toEqual([]);
      expect((await here.say('echo $x')).stdout).toBe('kept\n');
    }),
  );
});
