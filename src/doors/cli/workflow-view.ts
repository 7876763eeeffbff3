import type { Writable } from 'node:stream';
import { visible } from '../../support/visible.ts';
import type { StepResult, WorkflowEvent, WorkflowResult } from '../../workflows/events.ts';
import { write } from '../say.ts';

/** Shows a workflow on a terminal, one line a step, drawn anew as things happen. */
export interface WorkflowView {
  show(event: WorkflowEvent): void;
  close(): Promise<void>;
}

const drawEveryMs = 150;
const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

interface ShownStep {
  readonly since?: number | undefined;
  readonly note: string;
  readonly result?: StepResult | undefined;
}

/** Makes the view; it draws over its own lines only. */
export function createWorkflowView(
  terminal: Writable & { columns?: number },
  now = () => Date.now(),
): WorkflowView {
  const steps = new Map<string, ShownStep>();
  let drawn = 0;
  let last: WorkflowResult | undefined;

  const draw = () => {
    const width = Math.max(20, (terminal.columns ?? 80) - 1);
    const lines = [...steps].map(([id, step]) => cut(toLine(id, step, now()), width));
    const end = last ? toEnd(last) : [];
    const up = drawn > 0 ? `\u001b[${drawn}A` : '';
    drawn = lines.length + end.length;
    return write(terminal, `${up}${[...lines, ...end].map((line) => `\u001b[2K${line}\n`).join('')}`);
  };
  const timer = setInterval(() => void draw(), drawEveryMs);
  const change = (id: string, more: Partial<ShownStep>) =>
    steps.set(id, { note: '', ...steps.get(id), ...more });

  return {
    show(event) {
      if (event.type === 'run_started') for (const id of event.steps) change(id, {});
      if (event.type === 'step_started')
        change(event.step, { since: now(), note: event.attempt > 1 ? `attempt ${event.attempt}` : '' });
      if (event.type === 'step_output') change(event.step, { note: lastLine(event.text) });
      if (event.type === 'step_retry') change(event.step, { note: `again in ${event.delay_ms} ms` });
      if (event.type === 'step_finished') change(event.step, { result: event.result });
      if (event.type === 'run_finished') last = event.result;
    },
    async close() {
      clearInterval(timer);
      await draw();
    },
  };
}

function toLine(id: string, { since, note, result }: ShownStep, now: number): string {
  if (result)
    return `${marks[result.status] ?? '✗'} ${id}  ${toSeconds(result.duration_ms)}  ${describe(result)}`;
  if (since === undefined) return `· ${id}`;
  const frame = frames[Math.floor(now / drawEveryMs) % frames.length];
  return `${frame} ${id}  ${toSeconds(now - since)}  ${note}`;
}

const marks: Readonly<Partial<Record<StepResult['status'], string>>> = { completed: '✓', skipped: '–' };

function describe({ status, exit_code, reason, resumed }: StepResult): string {
  if (resumed) return 'from the earlier run';
  const code = status === 'failed' && exit_code !== undefined ? ` (exit code ${exit_code})` : '';
  return status === 'completed'
    ? ''
    : `${status}${code}${reason === undefined ? '' : `: ${lastLine(reason)}`}`;
}

function toEnd({ status, duration_ms, run, steps }: WorkflowResult): readonly string[] {
  const failed = steps.find((step) => !['completed', 'skipped'].includes(step.status));
  const words = (failed?.stderr ?? '')
    .trimEnd()
    .split('\n')
    .slice(-5)
    .filter((line) => line !== '');
  const resume = status === 'completed' ? [] : [`Go on with: nacre workflow FILE --resume ${run}`];
  return [
    `${status} after ${toSeconds(duration_ms)}`,
    ...words.map((line) => `  ${printable(line)}`),
    ...resume,
  ];
}

function toSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function lastLine(text: string): string {
  return printable(text.trimEnd().split('\n').at(-1) ?? '');
}

// What a command prints must not move the cursor of our view.
function printable(text: string): string {
  return visible(text.replace(/[\t\r]/g, ' '));
}

function cut(line: string, width: number): string {
  return line.length > width ? `${line.slice(0, width - 1)}…` : line.trimEnd();
}
