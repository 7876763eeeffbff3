import type { Writable } from 'node:stream';
import type { Resources } from '../../contract/limits.ts';
import type { StepResult, WorkflowEvent, WorkflowResult } from '../../workflows/events.ts';
import { print } from '../print.ts';
import { cut, lastLine, printable } from '../terminal-text.ts';

/** The live view of `nacre workflow`, with one line per step. */
export interface WorkflowView {
  show(event: WorkflowEvent): void;
  showUsage(step: string, resources: Resources): void;
  close(): Promise<void>;
}

const drawEveryMs = 150;
const silenceMs = 2_000;
const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

interface ShownStep {
  readonly startedAt?: number | undefined;
  readonly note: string;
  /** Time of its latest output, or of its start. */
  readonly lastOutputAt?: number | undefined;
  readonly cpuMs?: number | null | undefined;
  readonly result?: StepResult | undefined;
}

/** Creates a view on `terminal`; it redraws only its own lines. */
export function createWorkflowView(
  terminal: Writable & { columns?: number; rows?: number },
  now = () => Date.now(),
): WorkflowView {
  const steps = new Map<string, ShownStep>();
  let drawn = 0;
  let last: WorkflowResult | undefined;

  const draw = () => {
    const { columns = 80, rows = 24 } = terminal;
    // Lines that wrap or have scrolled off the screen cannot be redrawn. The final view is not redrawn, so it may be taller.
    const maxLines = last ? steps.size : Math.max(2, rows - 1);
    const { shown, hidden } = chooseSteps(steps, maxLines);
    const lines = shown.map(([id, step]) => cut(toLine(id, step, now()), Math.max(2, columns - 1)));
    const rest = hidden === 0 ? [] : [cut(`… ${hidden} more`, Math.max(2, columns - 1))];
    const end = last ? toEnd(last) : [];
    const up = drawn > 0 ? `\u001b[${drawn}A` : '';
    const count = lines.length + rest.length + end.length;
    const clear = count < drawn ? '\u001b[J' : '';
    drawn = count;
    const text = [...lines, ...rest, ...end].map((line) => `\u001b[2K${line}\n`).join('');
    return print(terminal, `${up}${text}${clear}`);
  };
  const timer = setInterval(() => void draw(), drawEveryMs);
  const change = (id: string, more: Partial<ShownStep>) =>
    steps.set(id, { note: '', ...steps.get(id), ...more });

  return {
    show(event) {
      if (event.type === 'run_started') for (const id of event.steps) change(id, {});
      if (event.type === 'step_started')
        change(event.step, {
          startedAt: now(),
          lastOutputAt: now(),
          note: event.attempt > 1 ? `attempt ${event.attempt}` : '',
        });
      if (event.type === 'step_output')
        change(event.step, { note: lastLine(event.text), lastOutputAt: now() });
      if (event.type === 'step_retry') change(event.step, { note: `retrying in ${event.delay_ms} ms` });
      if (event.type === 'step_finished') change(event.step, { result: event.result });
      if (event.type === 'run_finished') last = event.result;
    },
    showUsage: (step, { cpuMs }) => void change(step, { cpuMs }),
    async close() {
      clearInterval(timer);
      await draw();
    },
  };
}

type Steps = readonly (readonly [string, ShownStep])[];

/** The steps to show, in file order: running steps first, then pending ones, then the latest finished ones. */
function chooseSteps(
  steps: ReadonlyMap<string, ShownStep>,
  maxLines: number,
): { shown: Steps; hidden: number } {
  const all = [...steps];
  if (all.length <= maxLines) return { shown: all, hidden: 0 };
  const ended = all.filter(([, { result }]) => result !== undefined).reverse();
  const pending = all.filter(([, { result }]) => result === undefined);
  const running = pending.filter(([, { startedAt }]) => startedAt !== undefined);
  const chosen = new Set([...running, ...pending, ...ended].slice(0, maxLines - 1));
  const shown = all.filter((step) => chosen.has(step));
  return { shown, hidden: all.length - shown.length };
}

function toLine(id: string, step: ShownStep, now: number): string {
  const { startedAt, note, result } = step;
  if (result)
    return `${marks[result.status] ?? '✗'} ${id}  ${toSeconds(result.duration_ms)}  ${describe(result)}`;
  if (startedAt === undefined) return `· ${id}`;
  const frame = frames[Math.floor(now / drawEveryMs) % frames.length];
  return `${frame} ${id}  ${toSeconds(now - startedAt)}${toCpu(step, now)}  ${note}`;
}

// CPU time is shown only for a silent step; otherwise its output shows that it is running.
function toCpu({ lastOutputAt = 0, cpuMs }: ShownStep, now: number): string {
  return typeof cpuMs === 'number' && now - lastOutputAt >= silenceMs ? `  CPU ${toSeconds(cpuMs)}` : '';
}

const marks: Readonly<Partial<Record<StepResult['status'], string>>> = { completed: '✓', skipped: '–' };

function describe({ status, exit_code, reason, resumed }: StepResult): string {
  if (resumed) return 'reused from an earlier run';
  const code = status === 'failed' && exit_code !== undefined ? ` (exit code ${exit_code})` : '';
  return status === 'completed'
    ? ''
    : `${status}${code}${reason === undefined ? '' : `: ${lastLine(reason)}`}`;
}

function toEnd({ status, duration_ms, run, steps }: WorkflowResult): readonly string[] {
  const failed = steps.find((step) => !['completed', 'skipped'].includes(step.status));
  const lastErrors = (failed?.stderr ?? '')
    .trimEnd()
    .split('\n')
    .slice(-5)
    .filter((line) => line !== '');
  const resume = status === 'completed' ? [] : [`To continue: nacre workflow FILE --resume ${run}`];
  return [
    `${status} after ${toSeconds(duration_ms)}`,
    ...lastErrors.map((line) => `  ${printable(line)}`),
    ...resume,
  ];
}

function toSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
