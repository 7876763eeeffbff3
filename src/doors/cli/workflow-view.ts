import type { Writable } from 'node:stream';
import type { Resources } from '../../contract/limits.ts';
import type { StepResult, WorkflowEvent, WorkflowResult } from '../../workflows/events.ts';
import { write } from '../say.ts';
import { cut, lastLine, printable } from './terminal-text.ts';

/** Shows a workflow on a terminal, one line a step, drawn anew as things happen. */
export interface WorkflowView {
  show(event: WorkflowEvent): void;
  used(step: string, resources: Resources): void;
  close(): Promise<void>;
}

const drawEveryMs = 150;
const silenceMs = 2_000;
const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

interface ShownStep {
  readonly since?: number | undefined;
  readonly note: string;
  /** When it last said something, or began. */
  readonly spokeAt?: number | undefined;
  readonly cpuMs?: number | null | undefined;
  readonly result?: StepResult | undefined;
}

/** Makes the view; it draws over its own lines only. */
export function createWorkflowView(
  terminal: Writable & { columns?: number; rows?: number },
  now = () => Date.now(),
): WorkflowView {
  const steps = new Map<string, ShownStep>();
  let drawn = 0;
  let last: WorkflowResult | undefined;

  const draw = () => {
    const { columns = 80, rows = 24 } = terminal;
    // What wraps or has left the screen cannot be drawn over; the last picture is left alone and may be of any height.
    const room = last ? steps.size : Math.max(2, rows - 1);
    const { shown, hidden } = chooseSteps(steps, room);
    const lines = shown.map(([id, step]) => cut(toLine(id, step, now()), Math.max(2, columns - 1)));
    const rest = hidden === 0 ? [] : [cut(`… ${hidden} more`, Math.max(2, columns - 1))];
    const end = last ? toEnd(last) : [];
    const up = drawn > 0 ? `\u001b[${drawn}A` : '';
    const count = lines.length + rest.length + end.length;
    const clear = count < drawn ? '\u001b[J' : '';
    drawn = count;
    const text = [...lines, ...rest, ...end].map((line) => `\u001b[2K${line}\n`).join('');
    return write(terminal, `${up}${text}${clear}`);
  };
  const timer = setInterval(() => void draw(), drawEveryMs);
  const change = (id: string, more: Partial<ShownStep>) =>
    steps.set(id, { note: '', ...steps.get(id), ...more });

  return {
    show(event) {
      if (event.type === 'run_started') for (const id of event.steps) change(id, {});
      if (event.type === 'step_started')
        change(event.step, {
          since: now(),
          spokeAt: now(),
          note: event.attempt > 1 ? `attempt ${event.attempt}` : '',
        });
      if (event.type === 'step_output') change(event.step, { note: lastLine(event.text), spokeAt: now() });
      if (event.type === 'step_retry') change(event.step, { note: `again in ${event.delay_ms} ms` });
      if (event.type === 'step_finished') change(event.step, { result: event.result });
      if (event.type === 'run_finished') last = event.result;
    },
    used: (step, { cpuMs }) => void change(step, { cpuMs }),
    async close() {
      clearInterval(timer);
      await draw();
    },
  };
}

type Steps = readonly (readonly [string, ShownStep])[];

/** The steps that have room, in their order: those that run, those to come, and the latest of those that have ended. */
function chooseSteps(steps: ReadonlyMap<string, ShownStep>, room: number): { shown: Steps; hidden: number } {
  const all = [...steps];
  if (all.length <= room) return { shown: all, hidden: 0 };
  const ended = all.filter(([, { result }]) => result !== undefined).reverse();
  const open = all.filter(([, { result }]) => result === undefined);
  const running = open.filter(([, { since }]) => since !== undefined);
  const chosen = new Set([...running, ...open, ...ended].slice(0, room - 1));
  const shown = all.filter((step) => chosen.has(step));
  return { shown, hidden: all.length - shown.length };
}

function toLine(id: string, step: ShownStep, now: number): string {
  const { since, note, result } = step;
  if (result)
    return `${marks[result.status] ?? '✗'} ${id}  ${toSeconds(result.duration_ms)}  ${describe(result)}`;
  if (since === undefined) return `· ${id}`;
  const frame = frames[Math.floor(now / drawEveryMs) % frames.length];
  return `${frame} ${id}  ${toSeconds(now - since)}${toCpu(step, now)}  ${note}`;
}

// While a step says something, that is enough to see that it is at work.
function toCpu({ spokeAt = 0, cpuMs }: ShownStep, now: number): string {
  return typeof cpuMs === 'number' && now - spokeAt >= silenceMs ? `  CPU ${toSeconds(cpuMs)}` : '';
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
