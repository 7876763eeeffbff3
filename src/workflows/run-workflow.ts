// A workflow: 1. a step starts when all that it needs has ended, as many at a time as may be, 2. whether it then runs says
// its `when`, 3. a failure stops what has not started, unless the failed step says otherwise, 4. an abort ends what runs.
import type { Stream } from '../contract/job.ts';
import type { Resources } from '../contract/limits.ts';
import { createId } from '../support/create-id.ts';
import { createStopwatch } from '../support/stopwatch.ts';
import type { StepResult, WorkflowEvent, WorkflowResult } from './events.ts';
import { type EndedStep, runStep, toCommand, type WorkflowMeans } from './run-step.ts';
import type { PlannedStep, Workflow } from './schema.ts';

/** How a workflow is run. */
export interface RunWorkflowOptions {
  /** Ends the running steps with their trees and skips the rest. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: WorkflowEvent) => void) | undefined;
  /** Its id; a new one when absent. */
  readonly run?: string | undefined;
  /** Steps that an earlier run has completed. */
  readonly done?: ReadonlyMap<string, EndedStep> | undefined;
  /** Told about once a second what the command of a running step has used so far. */
  readonly onUsage?: ((step: string, used: Resources) => void) | undefined;
  /** Called at the start and after every step with all that have ended, so that the run can be resumed. */
  readonly onProgress?: ((ended: ReadonlyMap<string, EndedStep>) => void) | undefined;
}

type NewEvent = WorkflowEvent extends infer Event
  ? Event extends unknown
    ? Omit<Event, 'run' | 'time'>
    : never
  : never;

/** Runs a workflow to its end; what fails is in the result, which lists every step. */
export async function runWorkflow(
  workflow: Workflow,
  means: WorkflowMeans,
  { signal: given, onEvent, run = createId('run'), done, onUsage, onProgress }: RunWorkflowOptions = {},
): Promise<WorkflowResult> {
  const elapsed = createStopwatch();
  const stop = new AbortController();
  const signal = given ? AbortSignal.any([given, stop.signal]) : stop.signal;
  const ended = new Map<string, EndedStep>();
  const running = new Map<string, Promise<void>>();
  const waiting = new Set(workflow.steps);
  const tell = (event: NewEvent) =>
    onEvent?.({ run, time: new Date().toISOString(), ...event } as WorkflowEvent);

  const end = (step: PlannedStep, one: EndedStep) => {
    ended.set(step.id, one);
    onProgress?.(new Map([...(done ?? []), ...ended]));
    tell({ type: 'step_finished', step: step.id, result: one.result });
  };
  const named = workflow.name === undefined ? run : `${workflow.name} ${run}`;
  const clientFor = (step: PlannedStep) => `workflow ${named} ${step.id}`;
  const skip = async (step: PlannedStep, reason: string) => {
    await means.skip(toCommand(step), clientFor(step), reason).catch(() => {});
    end(step, toSkipped(step.id, reason));
  };
  const start = async (step: PlannedStep) => {
    const listener = {
      started: (attempt: number) => tell({ type: 'step_started', step: step.id, attempt }),
      output: (stream: Stream, text: string) => tell({ type: 'step_output', step: step.id, stream, text }),
      retry: (attempt: number, delayMs: number) =>
        tell({ type: 'step_retry', step: step.id, attempt, delay_ms: delayMs }),
      used: (resources: Resources) => onUsage?.(step.id, resources),
    };
    end(
      step,
      await runStep(step, workflow, means, { client: clientFor(step), signal, earlier: ended, listener }),
    );
  };
  const begin = (step: PlannedStep) => {
    waiting.delete(step);
    const known = done?.get(step.id);
    const reason = known ? undefined : whyNot(step, ended, workflow, signal);
    const work = known
      ? Promise.resolve(end(step, { ...known, result: { ...known.result, resumed: true } }))
      : reason === undefined
        ? start(step)
        : skip(step, reason);
    running.set(
      step.id,
      work.finally(() => running.delete(step.id)),
    );
  };

  const runAll = async () => {
    // Before anything runs: what cannot be kept could not be resumed.
    onProgress?.(new Map(done));
    tell({ type: 'run_started', name: workflow.name, steps: workflow.steps.map(({ id }) => id) });
    while (waiting.size + running.size > 0) {
      const ready = [...waiting].filter(({ needs }) => needs.every((id) => ended.has(id)));
      for (const step of ready.slice(0, workflow.parallel - running.size)) begin(step);
      await Promise.race(running.values());
    }
  };

  // Whoever listens may fail; then nobody is left to follow what runs.
  await runAll().catch(async (error: unknown) => {
    stop.abort();
    await Promise.allSettled(running.values());
    throw error;
  });
  const steps = workflow.steps.flatMap(({ id }) => ended.get(id)?.result ?? []);
  const result: WorkflowResult = {
    run,
    name: workflow.name,
    status: signal.aborted ? 'aborted' : hasFailed(ended, workflow) ? 'failed' : 'completed',
    duration_ms: Math.round(elapsed()),
    steps,
  };
  tell({ type: 'run_finished', result });
  return result;
}

function whyNot(
  step: PlannedStep,
  ended: ReadonlyMap<string, EndedStep>,
  workflow: Workflow,
  signal: AbortSignal,
): string | undefined {
  if (signal.aborted) return 'the workflow was aborted';
  const { when } = step;
  const failed = hasFailed(ended, workflow);
  if (when === 'failure') return failed ? undefined : 'no step has failed';
  if (failed && when !== 'always' && !asksForFailure(when)) return 'an earlier step failed';
  if (typeof when === 'object' && !holds(when, ended))
    return `its condition on step ${when.step} does not hold`;
  const missing = sourceSteps(step).find((id) => ended.get(id)?.result.status === 'skipped');
  return missing === undefined ? undefined : `step ${missing}, from which it takes output, was skipped`;
}

function sourceSteps({ input_from, env_from = {} }: PlannedStep): readonly string[] {
  return [...(input_from ? [input_from] : []), ...Object.values(env_from)].map(({ step }) => step);
}

function hasFailed(ended: ReadonlyMap<string, EndedStep>, { steps }: Workflow): boolean {
  return steps.some(({ id, continue_on_error }) => {
    const status = ended.get(id)?.result.status;
    return status !== undefined && status !== 'completed' && status !== 'skipped' && !continue_on_error;
  });
}

type Condition = Extract<PlannedStep['when'], object>;

// Whoever asks whether a step failed is not to be skipped because it did.
function asksForFailure(when: PlannedStep['when']): boolean {
  return typeof when === 'object' && (when.outcome === 'failed' || (when.exit_code ?? 0) > 0);
}

function holds(
  { step, outcome, exit_code, stdout_contains }: Condition,
  ended: ReadonlyMap<string, EndedStep>,
): boolean {
  const { status, exit_code: code } = ended.get(step)?.result ?? {};
  const came = status === 'completed' || status === 'skipped' ? status : 'failed';
  const printed = () => Buffer.from(ended.get(step)?.outputs.stdout ?? '').toString();
  return (
    (outcome === undefined || outcome === came) &&
    (exit_code === undefined || exit_code === code) &&
    (stdout_contains === undefined || printed().includes(stdout_contains))
  );
}

function toSkipped(id: string, reason: string): EndedStep {
  const result: StepResult = { id, status: 'skipped', attempts: 0, duration_ms: 0, reason };
  return { result, outputs: { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) } };
}
