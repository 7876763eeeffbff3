import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createNacre,
  type NacreError,
  runWorkflow,
  type WorkflowEvent,
  type WorkflowOptions,
  type WorkflowResult,
  type WorkflowStep,
} from '../../src/index.ts';
import { createPlace, runInProcess, surroundingsOf, survivors } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';

const place = createPlace();
let nacre: Awaited<ReturnType<typeof createNacre>>;
beforeAll(async () => {
  nacre = await createNacre(
    { loginEnv: 'never', tools: ['all'], allowedCommands: ['*'], auditDir: 'audit' },
    surroundingsOf(place),
  );
});
afterAll(async () => {
  await nacre.close();
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true });
});

const run = (steps: readonly WorkflowStep[], options?: WorkflowOptions) => nacre.runWorkflow(steps, options);
const statuses = async (steps: readonly WorkflowStep[], options?: WorkflowOptions) =>
  Object.fromEntries((await run(steps, options)).steps.map(({ id, status }) => [id, status]));
const problemsOf = async (steps: unknown): Promise<string> => {
  const error = await run(steps as WorkflowStep[]).catch((reason: unknown) => reason);
  return (error as NacreError).message;
};
const audited = () =>
  readdirSync(join(place.cwd, 'audit'))
    .filter((name) => /^\d/.test(name))
    .map((name) => readFileSync(join(place.cwd, 'audit', name), 'utf8'))
    .join('');

describe('S9: a workflow', () => {
  it('runs its steps in order, on the first open instance', async () => {
    const result = await runWorkflow(
      [{ command: 'echo one > order' }, { command: 'echo two >> order; cat order' }],
      {
        name: 'small',
      },
    );
    expect(result).toMatchObject({ name: 'small', status: 'completed', run: expect.stringMatching(/^run_/) });
    expect(result.steps).toMatchObject([
      {
        id: 'step-1',
        status: 'completed',
        exit_code: 0,
        attempts: 1,
        command_id: expect.stringMatching(/^cmd_/),
      },
      { id: 'step-2', status: 'completed', stdout: 'one\ntwo\n' },
    ]);
  });

  it('passes output as stdin and as variables, never as part of a command', async () => {
    const hostile = '$(touch made); `touch made`; "\'; touch made #\n\n';
    const { steps } = await run([
      { id: 'say', command: ['printf', '%s', hostile] },
      { id: 'warn', command: 'echo careful >&2' },
      { id: 'read', command: 'cat', input_from: 'say' },
      {
        id: 'name',
        command: 'printf "[%s]" "$TEXT" "$WARNING"',
        env_from: { TEXT: 'say', WARNING: { step: 'warn', stream: 'stderr' } },
      },
      { id: 'argv', command: ['printenv', 'TEXT'], env_from: { TEXT: 'say' } },
    ]);
    expect(steps.map(({ status }) => status)).toEqual(Array(5).fill('completed'));
    expect(steps[2]?.stdout).toBe(hostile);
    expect(steps[3]?.stdout).toBe(`[${hostile.trimEnd()}][careful]`);
    expect(existsSync(join(place.cwd, 'made'))).toBe(false);
  });

  it('passes the whole output, even if a reply would truncate it', async () => {
    const { steps } = await run([
      { id: 'much', command: 'seq 100000' },
      { command: 'wc -l', input_from: 'much' },
    ]);
    expect(steps[1]?.stdout?.trim()).toBe('100000');
  });

  it('reports why an output cannot be passed', async () => {
    const binary = await run([
      { id: 'a', command: "printf '\\377'" },
      { command: 'cat', input_from: 'a' },
    ]);
    expect(binary.steps[1]).toMatchObject({
      status: 'error',
      reason: expect.stringContaining('stdout of step a is not valid UTF-8'),
    });
    const nul = await run([
      { id: 'a', command: "printf '\\0'" },
      { command: 'true', env_from: { X: 'a' } },
    ]);
    expect(nul.steps[1]?.reason).toContain('NUL byte');
    const long = await run([
      { id: 'a', command: 'head -c 131001 /dev/zero | tr "\\\\0" x' },
      { command: 'printenv X', env_from: { X: 'a' } },
    ]);
    expect(long.steps[1]?.reason).toContain('more than the 131000 bytes that variable X can contain');
    const large = await run([
      { id: 'a', command: 'head -c 9000000 /dev/zero | tr "\\\\0" x' },
      { command: 'cat', input_from: 'a' },
    ]);
    expect(large.steps[1]?.reason).toContain('more than 8388608 bytes');
  });

  it('stops after a failed step, unless it has continue_on_error', async () => {
    expect(
      await statuses([
        { id: 'a', command: 'false' },
        { id: 'b', command: 'true' },
      ]),
    ).toEqual({ a: 'failed', b: 'skipped' });
    const tolerant: WorkflowStep[] = [
      { id: 'a', command: 'false', continue_on_error: true },
      { id: 'b', command: 'true' },
    ];
    const result = await run(tolerant);
    expect(result).toMatchObject({
      status: 'completed',
      steps: [{ status: 'failed' }, { status: 'completed' }],
    });
    const refused = await run([{ command: 'rm -rf /' }, { command: 'true' }]);
    expect(refused).toMatchObject({
      status: 'failed',
      steps: [{ status: 'refused' }, { status: 'skipped', reason: 'an earlier step failed' }],
    });
  });

  it('evaluates conditions', async () => {
    const steps: WorkflowStep[] = [
      { id: 'test', command: 'echo 3 failures; exit 4', continue_on_error: true },
      { id: 'code', command: 'true', when: { step: 'test', exit_code: 4, outcome: 'failed' } },
      { id: 'other', command: 'true', when: { step: 'test', exit_code: 5 } },
      { id: 'words', command: 'true', when: { step: 'test', stdout_contains: 'failures' } },
      { id: 'none', command: 'true', when: { step: 'other', outcome: 'completed' } },
      { id: 'from', command: 'cat', input_from: 'other' },
      { id: 'bad', command: 'exit 1' },
      { id: 'repair', command: 'true', when: 'failure' },
      { id: 'tidy', command: 'true', when: 'always' },
      { id: 'last', command: 'true' },
    ];
    expect(await statuses(steps)).toEqual({
      test: 'failed',
      code: 'completed',
      other: 'skipped',
      words: 'completed',
      none: 'skipped',
      from: 'skipped',
      bad: 'failed',
      repair: 'completed',
      tidy: 'completed',
      last: 'skipped',
    });
    expect(
      await statuses([
        { id: 'a', command: 'true' },
        { id: 'b', command: 'true', when: 'failure' },
      ]),
    ).toEqual({ a: 'completed', b: 'skipped' });
    expect(
      await statuses([
        { id: 'a', command: 'exit 3' },
        { id: 'failed', command: 'true', when: { step: 'a', outcome: 'failed' } },
        { id: 'code', command: 'true', when: { step: 'a', exit_code: 3 } },
        { id: 'other', command: 'true', when: { step: 'a', exit_code: 4 } },
        { id: 'went-well', command: 'true', when: { step: 'failed', outcome: 'completed' } },
      ]),
    ).toEqual({
      a: 'failed',
      failed: 'completed',
      code: 'completed',
      other: 'skipped',
      'went-well': 'skipped',
    });
  });

  it('retries with growing delays, up to the limit', async () => {
    const events: WorkflowEvent[] = [];
    const command = 'n=$(cat tries 2>/dev/null || echo 0); echo $((n + 1)) > tries; ((n >= 2))';
    const options = { onEvent: (event: WorkflowEvent) => void events.push(event) };
    const { steps } = await run([{ command, retry: { times: 3, delay: '20ms', factor: 2 } }], options);
    expect(steps[0]).toMatchObject({ status: 'completed', attempts: 3 });
    expect(events.flatMap((event) => (event.type === 'step_retry' ? [event.delay_ms] : []))).toEqual([
      20, 40,
    ]);
    const never = await run([{ command: 'false', retry: { times: 2, delay: 0 } }]);
    expect(never.steps[0]).toMatchObject({ status: 'failed', attempts: 3 });
  });

  it('kills a step that times out with its process tree', async () => {
    const { steps } = await run([
      { command: `sleep 3172.${process.pid} & sleep 3172.${process.pid}`, timeout: 0.3 },
    ]);
    expect(steps[0]).toMatchObject({ status: 'timeout' });
    expect(processesWith(`sleep\u00003172.${process.pid}`)).toEqual([]);
  });

  it('runs independent steps in parallel, within the limit', async () => {
    const meet = (own: string, other: string) =>
      `touch ${own}; for i in $(seq 100); do [ -e ${other} ] && exit 0; sleep 0.1; done; exit 1`;
    const steps: WorkflowStep[] = [
      { id: 'a', command: meet('at-a', 'at-b') },
      { id: 'b', command: meet('at-b', 'at-a'), needs: [] },
      { id: 'c', command: 'echo both', needs: ['a', 'b'] },
    ];
    expect(await statuses(steps)).toEqual({ a: 'completed', b: 'completed', c: 'completed' });
    const order: string[] = [];
    const onEvent = (event: WorkflowEvent) => {
      if (event.type === 'step_started' || event.type === 'step_finished')
        order.push(`${event.type} ${event.step}`);
    };
    const alone = [
      { id: 'x', command: 'true' },
      { id: 'y', command: 'true', needs: [] },
    ];
    await run(alone, { parallel: 1, onEvent });
    expect(order).toEqual(['step_started x', 'step_finished x', 'step_started y', 'step_finished y']);
  });

  it('S9: passes the output of a step to a tool as stdin', async () => {
    const { steps } = await nacre.runWorkflow([
      { id: 'list', command: "printf 'b; exit 3\\na\\n'" },
      { id: 'sort', tool: 'shell_execute', with: { command: 'sort' }, input_from: 'list' },
      { id: 'count', tool: 'execute_command', with: { command: 'wc -l' }, input_from: 'sort' },
    ]);
    expect(steps.map(({ stdout }) => stdout)).toEqual(['b; exit 3\na\n', 'a\nb; exit 3\n', '2\n']);
    await expect(
      nacre.runWorkflow([
        { id: 'a', command: 'true' },
        { id: 'b', tool: 'shell_execute', with: { command: 'cat', stdin: 'x' }, input_from: 'a' },
        { id: 'c', tool: 'Bash', with: { command: 'cat' }, input_from: 'a' },
      ]),
    ).rejects.toThrow(
      /with\.stdin and input_from cannot be combined.*input_from is only for commands, and for tools/s,
    );
  });

  it('calls tools', async () => {
    const { steps } = await run([
      { id: 'tool', tool: 'shell_execute', with: { command: 'echo from the tool' } },
      { id: 'cat', command: 'cat', input_from: 'tool' },
      { id: 'bad', tool: 'shell_execute', with: { command: 'exit 3' }, continue_on_error: true },
      { id: 'none', tool: 'shell_exekute' },
    ]);
    expect(steps).toMatchObject([
      { status: 'completed', exit_code: 0, command_id: expect.stringMatching(/^cmd_/) },
      { status: 'completed', stdout: 'from the tool\n' },
      { status: 'failed', exit_code: 3, reason: expect.stringContaining('exit code 3') },
      {
        status: 'error',
        reason: expect.stringContaining('There is no tool shell_exekute. Did you mean shell_execute?'),
      },
    ]);
  });

  it('kills the running step and skips the rest when it is aborted, and records that', async () => {
    const controller = new AbortController();
    const onEvent = (event: WorkflowEvent) => event.type === 'step_output' && controller.abort();
    const steps = [
      { id: 'long', command: `echo begun; sleep 3173.${process.pid}` },
      { id: 'after', command: 'echo never-run' },
    ];
    const result = await run(steps, { signal: controller.signal, onEvent });
    expect(result).toMatchObject({
      status: 'aborted',
      steps: [{ status: 'killed' }, { status: 'skipped', reason: 'the workflow was aborted' }],
    });
    expect(processesWith(`sleep\u00003173.${process.pid}`)).toEqual([]);
    const records = audited();
    expect(records).toMatch(/"kind":"skipped".*never-run.*the workflow was aborted/);
    expect(records).toMatch(/"kind":"finished".*"status":"killed","cause":"stopped"/);
    const before = await run(steps, { signal: AbortSignal.abort() });
    expect(before.steps.map(({ status }) => status)).toEqual(['skipped', 'skipped']);
  });

  it('continues after its last completed step when it is resumed', async () => {
    rmSync(join(place.cwd, 'fixed'), { force: true });
    const steps: WorkflowStep[] = [
      { id: 'a', command: 'echo x >> count; echo kept' },
      { id: 'b', command: '[ -e fixed ]' },
      { id: 'c', command: 'cat', input_from: 'a' },
    ];
    const first = await run(steps);
    expect(first).toMatchObject({
      status: 'failed',
      steps: [{ status: 'completed' }, { status: 'failed' }, { status: 'skipped' }],
    });
    writeFileSync(join(place.cwd, 'fixed'), '');
    const second = await run(steps, { resume: first.run });
    expect(second).toMatchObject({
      run: first.run,
      status: 'completed',
      steps: [{ resumed: true }, { status: 'completed' }, { stdout: 'kept\n' }],
    });
    expect(readFileSync(join(place.cwd, 'count'), 'utf8')).toBe('x\n');
    const changed = await run([{ id: 'a', command: 'echo other' }, ...steps.slice(1)], { resume: first.run });
    expect(changed.steps[2]).toMatchObject({ stdout: 'other\n' });
    await expect(run(steps, { resume: 'run_000000000000' })).rejects.toThrow(
      'Run run_000000000000 cannot be resumed',
    );
    await expect(run(steps, { resume: '../x' })).rejects.toThrow('not the id of a run');
  });

  it('runs a step again if env of the workflow has changed', async () => {
    const file = join(place.cwd, 'flow.yaml');
    const nacreWorkflow = async (text: string, ...flags: string[]) => {
      writeFileSync(file, text);
      const { stdout } = await runInProcess(['workflow', ...flags, file], place);
      return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '').result as WorkflowResult;
    };
    const flow = (word: string) =>
      `env: { WORD: ${word} }\nsteps:\n  - { id: a, command: echo $WORD }\n  - { id: b, command: exit 1 }\n`;
    const { run: id } = await nacreWorkflow(flow('one'));
    expect(await nacreWorkflow(flow('one'), '--resume', id)).toMatchObject({
      steps: [{ resumed: true }, {}],
    });
    expect(await nacreWorkflow(flow('two'), '--resume', id)).toMatchObject({
      steps: [{ stdout: 'two\n' }, {}],
    });
  });

  it('preserves the completed steps of a run even if resuming it fails', async () => {
    const steps: WorkflowStep[] = [
      { id: 'first', command: '[ -e allowed ]', needs: [] },
      { id: 'second', command: 'echo kept', needs: [] },
    ];
    const { run: id } = await run(steps);
    await expect(
      run(steps, {
        resume: id,
        onEvent: () => {
          throw new Error('the listener fails');
        },
      }),
    ).rejects.toThrow('the listener fails');
    expect(await run(steps, { resume: id })).toMatchObject({ steps: [{}, { resumed: true }] });
  });

  it('leaves nothing running if a listener throws', async () => {
    const mark = '2718.281';
    const onEvent = (event: WorkflowEvent) => {
      if (event.type === 'step_started' && event.step === 'c') throw new Error('the listener fails');
    };
    const steps: WorkflowStep[] = [
      { id: 'a', command: `touch listening; sleep ${mark}`, needs: [] },
      { id: 'b', command: 'until [ -e listening ]; do sleep 0.05; done', needs: [] },
      { id: 'c', command: 'true', needs: ['b'] },
    ];
    await expect(run(steps, { onEvent })).rejects.toThrow('the listener fails');
    expect(processesWith(mark)).toEqual([]);
  });

  it('does not start if it cannot be saved, and is not resumed from an invalid file', async () => {
    const dir = join(place.cwd, 'state', 'workflows');
    const own = await createNacre({ loginEnv: 'never', stateDir: 'state' }, surroundingsOf(place));
    mkdirSync(dir, { recursive: true });
    for (const text of ['{}', 'null', '{"steps":{"a":5}}', '{"steps":', '']) {
      writeFileSync(join(dir, 'run_0123456789ab.json'), text);
      await expect(
        own.runWorkflow([{ id: 'a', command: 'true' }], { resume: 'run_0123456789ab' }),
      ).rejects.toMatchObject({ code: 'invalid_request' });
    }
    rmSync(dir, { recursive: true });
    writeFileSync(dir, 'no folder');
    await expect(own.runWorkflow([{ command: 'echo ran > not-begun' }])).rejects.toMatchObject({
      code: 'resources_unavailable',
      message: expect.stringContaining(dir),
    });
    expect(existsSync(join(place.cwd, 'not-begun'))).toBe(false);
    await own.close();
  });

  it('removes runs after 30 days', async () => {
    const own = await createNacre({ loginEnv: 'never', stateDir: 'state2' }, surroundingsOf(place));
    const { run: id } = await own.runWorkflow([{ command: 'true' }]);
    await own.close();
    const path = join(place.cwd, 'state2', 'workflows', `${id}.json`);
    utimesSync(path, 1, 1);
    const yesterday = Date.now() / 1_000 - 86_400;
    utimesSync(path.replace(/json$/, 'steps'), yesterday, yesterday);
    const later = await createNacre({ loginEnv: 'never', stateDir: 'state2' }, surroundingsOf(place));
    await later.runWorkflow([{ command: 'true' }]);
    await later.close();
    expect(existsSync(path)).toBe(false);
  });

  it('records a skipped tool with its input, and redacts secrets', async () => {
    await run([
      { id: 'a', command: 'exit 1' },
      { id: 'b', tool: 'shell_execute', with: { command: 'deploy --token hunter2' } },
    ]);
    const skipped = audited()
      .split('\n')
      .filter((line) => line.includes('"kind":"skipped"') && line.includes('deploy'));
    expect(skipped).toEqual([expect.stringContaining('shell_execute')]);
    expect(skipped.join()).not.toContain('hunter2');
  });

  it('reports every problem of its steps', async () => {
    expect(await problemsOf([])).toContain('must have at least one step');
    const message = await problemsOf([
      { id: 'a', command: 'true', tool: 'x' },
      { id: 'a' },
      { id: 'c', command: 'true', needs: ['zz', 'c'], input: 'x', input_from: 'a' },
      { id: 'd', tool: 'x', cwd: '/' },
      { id: 'e', command: 'true', with: {} },
    ]);
    for (const problem of [
      'steps.0: step a needs either command or tool',
      'steps.1.id: two steps have the id a',
      'steps.2.needs.0: there is no step zz',
      'steps.2.needs.1: step c cannot need itself',
      'steps.2.input_from: input and input_from cannot be combined',
      'steps.3.cwd: cwd is only for commands',
      'steps.4.with: with is only for steps with a tool',
    ])
      expect(message).toContain(problem);
    const cycle = [
      { id: 'a', command: 'true', needs: ['b'] },
      { id: 'b', command: 'true', needs: ['a'] },
    ];
    expect(await problemsOf(cycle)).toContain('steps.0: step a needs itself through');
    const wrong = [{ id: '1', command: 5, timeout: 'long', retry: 99, when: 'never', env_from: { X: 1 } }];
    const words = await problemsOf(wrong);
    for (const field of ['id', 'command', 'timeout', 'retry', 'when', 'env_from.X'])
      expect(words).toContain(`steps.0.${field}: `);
    await expect(run([{ command: 'true' }], { signal: 5 } as object)).rejects.toThrow('AbortSignal');
  });
});
