import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { createWorkflowView } from '../../src/doors/cli/workflow-view.ts';
import {
  collect,
  createPlace,
  endOf,
  runInProcess,
  startInProcess,
  startReal,
  survivors,
} from '../support/nacre.ts';

const place = createPlace();
afterAll(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true });
});

const file = (text: string, name = 'flow.yaml') => {
  const path = join(place.cwd, name);
  writeFileSync(path, text);
  return path;
};
const eventsOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const workflow = (text: string, ...words: string[]) =>
  runInProcess(['workflow', ...words, file(text)], place);
const resultOf = (stdout: string) => eventsOf(stdout).at(-1)?.result;

const flow = `
name: build
env: { WORD: shared }
steps:
  - id: list
    command: echo "$WORD"
  - id: count
    command: wc -c
    input_from: list
`;

describe('S9: nacre workflow', () => {
  it('prints JSON lines without a terminal, and a result that lists every step', async () => {
    const { stdout, code } = await workflow(flow);
    expect(code).toBe(0);
    expect(eventsOf(stdout).map(({ type }) => type)).toEqual([
      'run_started',
      'step_started',
      'step_output',
      'step_finished',
      'step_started',
      'step_output',
      'step_finished',
      'run_finished',
    ]);
    expect(resultOf(stdout)).toMatchObject({
      status: 'completed',
      name: 'build',
      steps: [
        { id: 'list', stdout: 'shared\n' },
        { id: 'count', stdout: '7\n' },
      ],
    });
  });

  it('exits with 1 if a step fails, and continues with --resume', async () => {
    const text = 'steps:\n  - { id: a, command: echo kept }\n  - { id: b, command: "[ -e ok ]" }\n';
    const first = await workflow(text);
    expect(first.code).toBe(1);
    const { run } = resultOf(first.stdout) as { run: string };
    writeFileSync(join(place.cwd, 'ok'), '');
    const second = await workflow(text, '--resume', run);
    expect(second.code).toBe(0);
    expect(resultOf(second.stdout)).toMatchObject({
      run,
      steps: [{ resumed: true }, { status: 'completed' }],
    });
  });

  it('a step that was killed before its end was saved is not run again, unless it is idempotent', async () => {
    const effects = join(place.cwd, 'effects');
    const text = (more = '') =>
      `steps:\n  - { id: a, command: echo kept }\n  - { id: b, command: "echo done >> effects; [ -e go ] || sleep 3276"${more} }\n  - { id: c, command: "true" }\n`;
    const killed = startReal(['workflow', file(text(), 'killed.yaml')], place);
    const out = collect(killed.stdout);
    await expect.poll(() => existsSync(effects), { timeout: 20_000 }).toBe(true);
    const run = /"run":"(run_\w+)"/.exec(out.text())?.[1] ?? '';
    expect((await workflow(text(), '--resume', run)).stderr).toContain(
      `Run ${run} is still running, in process ${killed.pid}.`,
    );
    const ended = endOf(killed);
    killed.kill('SIGKILL');
    await ended;
    for (let round = 0; round < 2; round += 1) {
      const { stdout, code } = await workflow(text(), '--resume', run);
      expect(code).toBe(1);
      expect(resultOf(stdout)).toMatchObject({
        status: 'failed',
        steps: [
          { resumed: true },
          { id: 'b', status: 'unknown', reason: expect.stringMatching(/^unknown, not run again: /) },
          { status: 'skipped' },
        ],
      });
    }
    expect(readFileSync(effects, 'utf8')).toBe('done\n');
    writeFileSync(join(place.cwd, 'go'), '');
    const again = await workflow(text(', idempotent: true'), '--resume', run);
    expect(resultOf(again.stdout)).toMatchObject({ status: 'completed', steps: [{ resumed: true }, {}, {}] });
    expect(readFileSync(effects, 'utf8')).toBe('done\ndone\n');
  });

  it('applies the rules of the local user', async () => {
    const { stdout, code } = await workflow(flow, '--allow', 'echo');
    expect(code).toBe(1);
    expect(resultOf(stdout)).toMatchObject({ steps: [{ status: 'completed' }, { status: 'refused' }] });
  });

  it('reports line and column of every problem, and runs nothing', async () => {
    const { stderr, code } = await workflow(
      'name: x\nstep:\n  - a\nsteps:\n  - id: a\n    comand: touch ran\n    needs: [b]\n  - 5\n',
    );
    expect(code).toBe(2);
    expect(stderr).toContain(`${join(place.cwd, 'flow.yaml')}:2:1: there is no field "step"`);
    expect(stderr).toContain('flow.yaml:6:5: there is no field "comand" (Did you mean command?)');
    expect(stderr).toContain('flow.yaml:8:5: ');
    const synonyms = await workflow('steps:\n  - name: a\n    run: touch ran\n    depends_on: [b]\n');
    for (const meant of ['id', 'command', 'needs'])
      expect(synonyms.stderr).toContain(`(Did you mean ${meant}?)`);
    expect((await workflow('steps:\n  - { id: a, command: "true", needs: [b] }\n')).stderr).toMatch(
      /flow\.yaml:2:\d+: there is no step b/,
    );
    expect((await workflow('steps: [\n')).stderr).toMatch(/flow\.yaml:2:1: /);
    expect((await workflow('steps: *a\n')).stderr).toContain('flow.yaml:1:');
    expect((await workflow('')).stderr).toContain('steps is required');
    for (const [step, problem] of [
      ['command: !js "true"', /flow\.yaml:2:\d+: Unresolved tag: !js/],
      ['command: "true", timeout: 0', /flow\.yaml:2:\d+: steps\.0\.timeout must be a number of seconds/],
      ['command: "true", when: { step: a }', /flow\.yaml:2:\d+: steps\.0\.when.* must have outcome/],
    ] as const)
      expect((await workflow(`steps:\n  - { id: a, ${step} }\n`)).stderr).toMatch(problem);
    expect((await workflow('steps: []\n---\nsteps: []\n')).stderr).toMatch(
      /:2:1: the file has more than one document/,
    );
    expect((await workflow(`steps: ${'['.repeat(20_000)}\n`)).stderr).toContain('it is nested too deeply');
    expect(existsSync(join(place.cwd, 'ran'))).toBe(false);
  });

  it('reports a missing argument or file', async () => {
    expect(await runInProcess(['workflow'], place)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expects one file'),
    });
    expect((await runInProcess(['workflow', '/no/such.yaml'], place)).stderr).toContain(
      '/no/such.yaml cannot be read',
    );
    expect(
      JSON.parse((await runInProcess(['workflow', '--json', '/no/such.yaml'], place)).stdout).error.code,
    ).toBe('invalid_request');
    expect((await workflow(flow, '--resume', 'run_000000000000')).stderr).toContain(
      'Run run_000000000000 cannot be resumed',
    );
  });

  it('aborts when the abort file appears, and on SIGINT', async () => {
    const long = file(
      'steps:\n  - { id: a, command: echo begun; sleep 3274 }\n  - { id: b, command: "true" }\n',
      'long.yaml',
    );
    const stop = join(place.cwd, 'stop');
    const watched = startInProcess(['workflow', '--abort-file', stop, long], place);
    await expect.poll(() => watched.out.text(), { timeout: 10_000 }).toContain('begun');
    writeFileSync(stop, 'the disk is full\n');
    const aborted = await watched.ended;
    expect(aborted.code).toBe(130);
    expect(resultOf(aborted.stdout)).toMatchObject({
      status: 'aborted',
      reason: 'the disk is full',
      steps: [
        { status: 'killed' },
        { status: 'skipped', reason: 'the workflow was aborted: the disk is full' },
      ],
    });
    // If the file exists from the start, no step runs.
    writeFileSync(stop, '');
    const never = await runInProcess(['workflow', '--abort-file', stop, long], place);
    expect(resultOf(never.stdout)).toMatchObject({
      reason: `${stop} exists`,
      steps: [{ status: 'skipped' }, { status: 'skipped' }],
    });

    const real = startReal(['workflow', long], place);
    const out = collect(real.stdout);
    const ended = endOf(real);
    await expect.poll(() => out.text(), { timeout: 10_000 }).toContain('begun');
    real.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130 });
    expect(resultOf(out.text())).toMatchObject({ status: 'aborted' });
  });

  it('shows a live view on a terminal', async () => {
    const terminal = startInProcess(['workflow', file(flow)], place);
    Object.assign(terminal.stdout, { isTTY: true, columns: 60 });
    const { stdout, code } = await terminal.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('✓ list');
    expect(stdout).toContain('completed after');
    expect(stdout).not.toContain('run_started');
  });
});

describe('the workflow view', () => {
  it('draws each step in one line, redraws only its own lines, and escapes control characters', async () => {
    const terminal = Object.assign(new PassThrough(), { columns: 40 });
    const { text } = collect(terminal);
    const view = createWorkflowView(terminal, () => 10_000);
    const head = { run: 'run_1', time: '' };
    view.show({ ...head, type: 'run_started', steps: ['a', 'b', 'c', 'd'] });
    view.show({ ...head, type: 'step_started', step: 'a', attempt: 1 });
    view.show({
      ...head,
      type: 'step_output',
      step: 'a',
      stream: 'stdout',
      text: `one\n\u001b[9Atwo${'x'.repeat(60)}\n`,
    });
    await expect.poll(text).toMatch(/. a {2}0\.0 s {2}\\u\{1b\}\[9Atwox+…/);
    const base = { attempts: 1, duration_ms: 1_500 };
    const failed = {
      ...base,
      id: 'b',
      status: 'failed',
      exit_code: 2,
      stderr: 'line\nbad \u001b[2J\n',
    } as const;
    view.show({ ...head, type: 'step_retry', step: 'b', attempt: 2, delay_ms: 10 });
    view.show({ ...head, type: 'step_started', step: 'b', attempt: 2 });
    view.show({ ...head, type: 'step_finished', step: 'b', result: failed });
    view.show({
      ...head,
      type: 'step_finished',
      step: 'c',
      result: { ...base, id: 'c', status: 'skipped', reason: 'why' },
    });
    view.show({
      ...head,
      type: 'step_finished',
      step: 'd',
      result: { ...base, id: 'd', status: 'completed', resumed: true },
    });
    view.show({
      ...head,
      type: 'run_finished',
      result: { run: 'run_1', status: 'failed', duration_ms: 2_000, steps: [failed] },
    });
    await view.close();
    const last = text().slice(text().lastIndexOf('\u001b[4A') + 4);
    expect(last.replaceAll('\u001b[2K', '').split('\n').slice(1)).toEqual([
      '✗ b  1.5 s  failed (exit code 2)',
      '– c  1.5 s  skipped: why',
      '✓ d  1.5 s  reused from an earlier run',
      'failed after 2.0 s',
      '  line',
      '  bad \\u{1b}[2J',
      'To continue: nacre workflow FILE --resume run_1',
      '',
    ]);
  });
});
