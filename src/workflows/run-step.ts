// One step: 1. output of earlier steps becomes its stdin and variables, never part of the command text, 2. the engine runs
// its command, or a tool is called, 3. a failed attempt is repeated as often as `retry` allows.
import type { Command } from '../contract/command.ts';
import { toNacreError } from '../contract/failure.ts';
import type { OutputChunk, Stream } from '../contract/job.ts';
import type { Resources } from '../contract/limits.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { CommandRequest } from '../contract/request.ts';
import { createStopwatch, sleep } from '../support/timing.ts';
import type { ToolReply } from '../tools/common/tool.ts';
import type { EndedStep, StepResult } from './events.ts';
import type { PlannedStep, Workflow } from './schema.ts';
import { maxOutputBytes, outputText, toToolInput, toVariables } from './step-output.ts';

/** Context of a step's `run` or `callTool`. */
export interface StepContext {
  /** The machine that a tool runs its command on. */
  readonly on?: string | undefined;
  /** `client` in the audit log: the workflow, its run and the step. */
  readonly client: string;
  readonly signal: AbortSignal;
  readonly onOutput: (chunks: readonly OutputChunk[]) => Promise<void>;
  readonly onUsage: (used: Resources) => void;
}

/** Runs the commands and tools of steps. */
export interface WorkflowDeps {
  run(request: Omit<CommandRequest, 'maxOutputChars'>, context: StepContext): Promise<Outcome>;
  callTool(name: string, input: unknown, context: StepContext): Promise<ToolReply>;
  /** Writes a `skipped` record to the audit log. */
  skip(command: Command, client: string, reason: string): Promise<void>;
}

/** Receives the events of a running step. */
export interface StepListener {
  started(attempt: number): void;
  output(stream: Stream, text: string): void;
  retry(attempt: number, delayMs: number): void;
  /** Resources that its command has used so far. */
  used(resources: Resources): void;
}

/** The parts of the workflow that `runStep` uses. */
export interface StepRun {
  readonly workflow: Workflow;
  readonly deps: WorkflowDeps;
  readonly client: string;
  readonly signal: AbortSignal;
  /** Steps that have ended. */
  readonly ended: ReadonlyMap<string, EndedStep>;
  readonly listener: StepListener;
}

const maxDelayMs = 300_000;
const retryable: ReadonlySet<StepResult['status']> = new Set(['failed', 'timeout', 'error']);

/** Runs a step with up to `retry.times` more attempts. */
export async function runStep(step: PlannedStep, run: StepRun): Promise<EndedStep> {
  const elapsed = createStopwatch();
  const { times = 0, delay = 0, factor = 1 } = step.retry ?? {};
  for (let attempt = 1; ; attempt += 1) {
    run.listener.started(attempt);
    const ended = await attemptStep(step, run);
    const result = { ...ended.result, attempts: attempt, duration_ms: Math.round(elapsed()) };
    const mayRetry = retryable.has(result.status) && attempt <= times && !run.signal.aborted;
    if (!mayRetry) return { ...ended, result };
    const delayMs = Math.round(Math.min(maxDelayMs, delay * factor ** (attempt - 1)));
    run.listener.retry(attempt + 1, delayMs);
    await sleep(delayMs, run.signal);
    if (run.signal.aborted) return { ...ended, result };
  }
}

async function attemptStep(step: PlannedStep, run: StepRun): Promise<EndedStep> {
  const collector = createCollector(run.listener);
  const { client, signal, listener } = run;
  const context = { client, signal, onUsage: listener.used, onOutput: collector.onOutput };
  const { tool } = step;
  const attempt = tool === undefined ? runCommand(step, run, context) : callTool(step, tool, run, context);
  const result = await attempt.catch((error: unknown) => toFailure(step.id, error));
  if (tool === undefined) return { result, outputs: collector.outputs() };
  return { result, outputs: { stdout: Buffer.from(result.stdout ?? ''), stderr: Buffer.alloc(0) } };
}

function createCollector(listener: StepListener) {
  const pieces: Record<Stream, Uint8Array[]> = { stdout: [], stderr: [] };
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const sizes = { stdout: 0, stderr: 0 };
  return {
    outputs: () => ({ stdout: Buffer.concat(pieces.stdout), stderr: Buffer.concat(pieces.stderr) }),
    async onOutput(chunks: readonly OutputChunk[]) {
      for (const { stream, data } of chunks) {
        // `<=` stores one chunk more than `maxOutputBytes`, so that `outputText` can detect the excess.
        if (sizes[stream] <= maxOutputBytes) pieces[stream].push(data.slice());
        sizes[stream] += data.length;
        const text = decoders[stream].decode(data, { stream: true });
        if (text !== '') listener.output(stream, text);
      }
    },
  };
}

async function runCommand(
  step: PlannedStep,
  { workflow, deps, ended }: StepRun,
  context: StepContext,
): Promise<StepResult> {
  const outcome = await deps.run(
    {
      command: toCommand(step),
      on: step.on ?? workflow.on,
      cwd: step.cwd ?? workflow.cwd,
      env: { ...workflow.env, ...step.env, ...toVariables(step, ended) },
      input: step.input_from ? outputText(step.input_from, ended) : step.input,
      timeoutMs: step.timeout ?? null,
    },
    context,
  );
  const { id, status, exitCode, stdout, stderr, detail } = outcome;
  return {
    id: step.id,
    status,
    command_id: id,
    ...(exitCode !== null && { exit_code: exitCode }),
    stdout,
    stderr,
    attempts: 1,
    duration_ms: 0,
    ...(detail !== null && { reason: detail }),
  };
}

async function callTool(
  step: PlannedStep,
  name: string,
  { workflow, deps, ended }: StepRun,
  context: StepContext,
): Promise<StepResult> {
  const { text, structured, isError } = await deps.callTool(name, toToolInput(step, name, ended), {
    ...context,
    on: step.on ?? workflow.on,
  });
  const { stdout = text, stderr, exit_code, id } = structured as Record<string, unknown>;
  return {
    id: step.id,
    status: isError || (typeof exit_code === 'number' && exit_code !== 0) ? 'failed' : 'completed',
    ...(typeof id === 'string' && { command_id: id }),
    ...(typeof exit_code === 'number' && { exit_code }),
    stdout: String(stdout),
    ...(typeof stderr === 'string' && { stderr }),
    attempts: 1,
    duration_ms: 0,
    ...(isError && { reason: text.split('\n', 1)[0] }),
  };
}

/** Converts a step into a `Command`; a tool call becomes an `argv` of its name and its input as JSON. */
export function toCommand({ command = '', tool, with: input = {} }: PlannedStep): Command {
  if (tool !== undefined) return { kind: 'argv', argv: [tool, JSON.stringify(input)] };
  if (typeof command === 'string') return { kind: 'shell', script: command };
  const [program = '', ...args] = command;
  return { kind: 'argv', argv: [program, ...args] };
}

function toFailure(id: string, error: unknown): StepResult {
  const { code, message, hint } = toNacreError(error);
  const isRefusal = code === 'policy_denied' || code === 'approval_required' || code === 'cwd_not_allowed';
  const status = code === 'cancelled' ? 'killed' : isRefusal ? 'refused' : 'error';
  const reason = hint === undefined ? message : `${message} ${hint}`;
  return { id, status, attempts: 1, duration_ms: 0, reason };
}
