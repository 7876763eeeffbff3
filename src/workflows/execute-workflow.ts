// A workflow run: 1. a step starts when all steps in its `needs` have ended, at most `parallel` at a time, 2. `whyNot`
// decides whether it runs or is skipped, 3. a failed step skips the later ones unless it has `continue_on_error`,
// 4. an abort kills the running steps.
import type { Resources } from '../contract/limits.ts';
import { createId } from '../support/ids.ts';
import { createStopwatch } from '../support/timing.ts';
import type { EndedStep, StepResult, WorkflowEvent, WorkflowResult } from './events.ts';
import { runStep, type StepListener, toCommand, type WorkflowDeps } from './run-step.ts';
import type { SavedRun } from './run-store.ts';
import type { PlannedStep, Workflow } from './schema.ts';

/** Options of `executeWorkflow`. */
export interface ExecuteWorkflowOptions {
  /** Kills the process trees of running steps and skips the rest. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: WorkflowEvent) => void) | undefined;
  /** Id of the run; `createId('run')` by default. */
  readonly run?: string | undefined;
  /** Where the run is saved, from `RunStore.open`. */
  readonly saved?: SavedRun | undefined;
  /** Called about once a second with the resources that a running step has used so far. */
  readonly onUsage?: ((step: string, used: Resources) => void) | undefined;
}

/** Runs a workflow; `steps` of the result lists every step, and a failed step does not reject. */
export async function executeWorkflow(
  workflow: Workflow,
  deps: WorkflowDeps,
  options: ExecuteWorkflowOptions = {},
): Promise<WorkflowResult> {
  return new WorkflowRun(workflow, deps, options).run();
}

type NewEvent = WorkflowEvent extends infer Event
  ? Event extends unknown
    ? Omit<Event, 'run' | 'time'>
    : never
  : never;

class WorkflowRun {
  readonly #workflow: Workflow;
  readonly #deps: WorkflowDeps;
  readonly #options: ExecuteWorkflowOptions;
  readonly #id: string;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #ended = new Map<string, EndedStep>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting: Set<PlannedStep>;

  constructor(workflow: Workflow, deps: WorkflowDeps, options: ExecuteWorkflowOptions) {
    this.#workflow = workflow;
    this.#deps = deps;
    this.#options = options;
    this.#id = options.run ?? createId('run');
    const { signal } = options;
    this.#signal = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal;
    this.#waiting = new Set(workflow.steps);
  }

  async run(): Promise<WorkflowResult> {
    const elapsed = createStopwatch();
    // `onEvent` may throw; abort the running steps before rejecting.
    await this.#runAll().catch(async (error: unknown) => {
      this.#stop.abort();
      await Promise.allSettled(this.#running.values());
      throw error;
    });
    const { name, steps } = this.#workflow;
    const hasStepFailed = hasFailed(this.#ended, this.#workflow);
    const result: WorkflowResult = {
      run: this.#id,
      name,
      status: this.#signal.aborted ? 'aborted' : hasStepFailed ? 'failed' : 'completed',
      reason: abortReason(this.#signal),
      duration_ms: Math.round(elapsed()),
      steps: steps.flatMap(({ id }) => this.#ended.get(id)?.result ?? []),
    };
    this.#emit({ type: 'run_finished', result });
    return result;
  }

  async #runAll(): Promise<void> {
    const { name, steps, parallel } = this.#workflow;
    this.#emit({ type: 'run_started', name, steps: steps.map(({ id }) => id) });
    while (this.#waiting.size + this.#running.size > 0) {
      const ready = [...this.#waiting].filter(({ needs }) => needs.every((id) => this.#ended.has(id)));
      for (const step of ready.slice(0, parallel - this.#running.size)) this.#begin(step);
      await Promise.race(this.#running.values());
    }
  }

  #begin(step: PlannedStep): void {
    this.#waiting.delete(step);
    const work = this.#process(step).finally(() => this.#running.delete(step.id));
    this.#running.set(step.id, work);
  }

  async #process(step: PlannedStep): Promise<void> {
    const { saved } = this.#options;
    const completed = saved?.completed.get(step.id);
    if (completed) return this.#end(step, { ...completed, result: { ...completed.result, resumed: true } });
    if (saved?.unknown.has(step.id) && !step.idempotent) return this.#skip(step, interrupted, 'unknown');
    const reason = whyNot(step, this.#ended, this.#workflow, this.#signal);
    return reason === undefined ? this.#runOne(step) : this.#skip(step, reason);
  }

  async #runOne(step: PlannedStep): Promise<void> {
    this.#options.saved?.begin(step);
    const ended = await runStep(step, {
      workflow: this.#workflow,
      deps: this.#deps,
      client: this.#clientOf(step),
      signal: this.#signal,
      ended: this.#ended,
      listener: this.#listenerOf(step.id),
    });
    this.#end(step, ended);
  }

  async #skip(step: PlannedStep, reason: string, status: 'skipped' | 'unknown' = 'skipped'): Promise<void> {
    await this.#deps.skip(toCommand(step), this.#clientOf(step), reason).catch(() => {});
    this.#end(step, toSkipped(step.id, reason, status));
  }

  #end(step: PlannedStep, ended: EndedStep): void {
    this.#ended.set(step.id, ended);
    this.#options.saved?.end(step, this.#ended);
    this.#emit({ type: 'step_finished', step: step.id, result: ended.result });
  }

  #listenerOf(step: string): StepListener {
    return {
      started: (attempt) => this.#emit({ type: 'step_started', step, attempt }),
      output: (stream, text) => this.#emit({ type: 'step_output', step, stream, text }),
      retry: (attempt, delayMs) => this.#emit({ type: 'step_retry', step, attempt, delay_ms: delayMs }),
      used: (resources) => this.#options.onUsage?.(step, resources),
    };
  }

  #clientOf(step: PlannedStep): string {
    const { name } = this.#workflow;
    return ['workflow', ...(name === undefined ? [] : [name]), this.#id, step.id].join(' ');
  }

  #emit(event: NewEvent): void {
    const stamped = { run: this.#id, time: new Date().toISOString(), ...event } as WorkflowEvent;
    this.#options.onEvent?.(stamped);
  }
}

/** The `reason` of an aborted signal, if it is text. */
function abortReason({ aborted, reason }: AbortSignal): string | undefined {
  return aborted && typeof reason === 'string' ? reason : undefined;
}

/** The `reason` for skipping a step; undefined if it runs. */
function whyNot(
  step: PlannedStep,
  ended: ReadonlyMap<string, EndedStep>,
  workflow: Workflow,
  signal: AbortSignal,
): string | undefined {
  const reason = abortReason(signal);
  if (signal.aborted) return `the workflow was aborted${reason === undefined ? '' : `: ${reason}`}`;
  const { when } = step;
  const failed = hasFailed(ended, workflow);
  if (when === 'failure') return failed ? undefined : 'no step has failed';
  if (failed && when !== 'always' && !expectsFailure(when)) return 'an earlier step failed';
  if (typeof when === 'object' && !isMet(when, ended)) return `its condition on step ${when.step} is not met`;
  const missing = sourceSteps(step).find((id) => isMissing(ended.get(id)));
  return missing === undefined ? undefined : `step ${missing}, whose output it uses, did not run`;
}

function isMissing(ended: EndedStep | undefined): boolean {
  return ended?.result.status === 'skipped' || ended?.result.status === 'unknown';
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

// `when: { outcome: failed }` must not be skipped because of the failure it asks for.
function expectsFailure(when: PlannedStep['when']): boolean {
  return typeof when === 'object' && (when.outcome === 'failed' || (when.exit_code ?? 0) > 0);
}

function isMet(
  { step, outcome, exit_code, stdout_contains }: Condition,
  ended: ReadonlyMap<string, EndedStep>,
): boolean {
  const { status, exit_code: code } = ended.get(step)?.result ?? {};
  const actual = status === 'completed' || status === 'skipped' ? status : 'failed';
  const stdout = () => Buffer.from(ended.get(step)?.outputs.stdout ?? '').toString();
  return (
    (outcome === undefined || outcome === actual) &&
    (exit_code === undefined || exit_code === code) &&
    (stdout_contains === undefined || stdout().includes(stdout_contains))
  );
}

const interrupted =
  'unknown, not run again: an earlier run was killed while it ran or before its end was saved. nacre history shows its command; set idempotent: true if it may run again';

function toSkipped(id: string, reason: string, status: 'skipped' | 'unknown'): EndedStep {
  const result: StepResult = { id, status, attempts: 0, duration_ms: 0, reason };
  return { result, outputs: { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) } };
}
