// One step: 1. what it takes from earlier ones becomes its stdin and variables, never text of its command, 2. it is run
// as a command or handed to a tool, 3. and run again while it fails and may.
import type { Command } from '../contract/command.ts';
import { toNacreError } from '../contract/failure.ts';
import type { OutputChunk, Stream } from '../contract/job.ts';
import type { Resources } from '../contract/limits.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { CommandRequest } from '../contract/request.ts';
import { pause } from '../support/pause.ts';
import { createStopwatch } from '../support/stopwatch.ts';
import type { ToolReply } from '../tools/define-tool.ts';
import type { StepResult } from './events.ts';
import type { PlannedStep, Workflow } from './schema.ts';
import { mostOutputBytes, takeText, toVariables } from './take-output.ts';

/** The side of whoever runs a workflow. */
export interface StepContext {
  /** Who asks, for the audit: the workflow, its run and the step. */
  readonly client: string;
  readonly signal: AbortSignal;
  readonly onOutput: (chunks: readonly OutputChunk[]) => Promise<void>;
  readonly onUsage: (used: Resources) => void;
}

/** How steps are run. */
export interface WorkflowMeans {
  run(request: Omit<CommandRequest, 'maxOutputChars'>, context: StepContext): Promise<Outcome>;
  callTool(name: string, input: unknown, context: StepContext): Promise<ToolReply>;
  /** Records a command that will not be run. */
  skip(command: Command, client: string, reason: string): Promise<void>;
}

/** A step that has ended, and what later ones may take from it. */
export interface EndedStep {
  readonly result: StepResult;
  readonly outputs: Readonly<Record<Stream, Uint8Array>>;
}

/** What happens to a step on its way. */
export interface StepListener {
  started(attempt: number): void;
  output(stream: Stream, text: string): void;
  retry(attempt: number, delayMs: number): void;
  /** What its command has used so far. */
  used(resources: Resources): void;
}

const longestDelayMs = 300_000;

/** Runs a step to its end, with as many attempts as it may have. */
export async function runStep(
  step: PlannedStep,
  workflow: Workflow,
  means: WorkflowMeans,
  here: {
    readonly client: string;
    readonly signal: AbortSignal;
    readonly earlier: ReadonlyMap<string, EndedStep>;
    readonly listener: StepListener;
  },
): Promise<EndedStep> {
  const elapsed = createStopwatch();
  const { times = 0, delay = 0, factor = 1 } = step.retry ?? {};
  for (let attempt = 1; ; attempt += 1) {
    here.listener.started(attempt);
    const ended = await attemptStep(step, workflow, means, here);
    const result = { ...ended.result, attempts: attempt, duration_ms: Math.round(elapsed()) };
    const again = mayRetry.has(result.status) && attempt <= times && !here.signal.aborted;
    if (!again) return { ...ended, result };
    const delayMs = Math.round(Math.min(longestDelayMs, delay * factor ** (attempt - 1)));
    here.listener.retry(attempt + 1, delayMs);
    await pause(delayMs, here.signal);
    if (here.signal.aborted) return { ...ended, result };
  }
}

const mayRetry: ReadonlySet<StepResult['status']> = new Set(['failed', 'timeout', 'error']);

async function attemptStep(
  step: PlannedStep,
  workflow: Workflow,
  means: WorkflowMeans,
  here: Parameters<typeof runStep>[3],
): Promise<EndedStep> {
  const outputs: Record<Stream, Uint8Array[]> = { stdout: [], stderr: [] };
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const sizes = { stdout: 0, stderr: 0 };
  const context: StepContext = {
    client: here.client,
    signal: here.signal,
    onUsage: here.listener.used,
    async onOutput(chunks) {
      for (const { stream, data } of chunks) {
        // One byte too many is kept: it shows that there was more.
        if (sizes[stream] <= mostOutputBytes) outputs[stream].push(data.slice());
        sizes[stream] += data.length;
        const text = decoders[stream].decode(data, { stream: true });
        if (text !== '') here.listener.output(stream, text);
      }
    },
  };
  const result = await (step.tool === undefined
    ? runCommand(step, workflow, means, here.earlier, context)
    : callTool(step, step.tool, means, context)
  ).catch((error: unknown) => toFailure(step.id, error));
  const kept = step.tool === undefined ? outputs : { stdout: [Buffer.from(result.stdout ?? '')], stderr: [] };
  return { result, outputs: { stdout: Buffer.concat(kept.stdout), stderr: Buffer.concat(kept.stderr) } };
}

async function runCommand(
  step: PlannedStep,
  workflow: Workflow,
  means: WorkflowMeans,
  earlier: ReadonlyMap<string, EndedStep>,
  context: StepContext,
): Promise<StepResult> {
  const outcome = await means.run(
    {
      command: toCommand(step),
      cwd: step.cwd ?? workflow.cwd,
      env: { ...workflow.env, ...step.env, ...toVariables(step, earlier) },
      input: step.input_from ? takeText(step.input_from, earlier) : step.input,
      timeoutMs: step.timeout ?? null,
    },
    context,
  );
  const { id, status, exitCode, stdout, stderr, detail } = outcome;
  const reason = detail === null ? {} : { reason: detail };
  return {
    id: step.id,
    status,
    command_id: id,
    exit_code: exitCode,
    stdout,
    stderr,
    attempts: 1,
    duration_ms: 0,
    ...reason,
  };
}

async function callTool(
  step: PlannedStep,
  name: string,
  means: WorkflowMeans,
  context: StepContext,
): Promise<StepResult> {
  const { text, structured, isError } = await means.callTool(name, step.with ?? {}, context);
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

/** What a step runs: its command, or the tool with its input. */
export function toCommand({ command = '', tool, with: input = {} }: PlannedStep): Command {
  if (tool !== undefined) return { kind: 'argv', argv: [tool, JSON.stringify(input)] };
  if (typeof command === 'string') return { kind: 'shell', script: command };
  const [program = '', ...args] = command;
  return { kind: 'argv', argv: [program, ...args] };
}

function toFailure(id: string, error: unknown): StepResult {
  const known = toNacreError(error);
  const isRefusal =
    known.code === 'policy_denied' || known.code === 'approval_required' || known.code === 'cwd_not_allowed';
  const status = known.code === 'cancelled' ? 'killed' : isRefusal ? 'refused' : 'error';
  const reason = known.hint === undefined ? known.message : `${known.message} ${known.hint}`;
  return { id, status, attempts: 1, duration_ms: 0, reason };
}
