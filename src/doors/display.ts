import type { Writable } from 'node:stream';
import { colouredPaint, type Paint, plainPaint } from './paint.ts';

/** Where stdout goes: a terminal with a width and colours, or a pipe or file that a program may parse. */
export interface Display {
  /** True at a terminal, and with FORCE_COLOR: output is laid out for people. Otherwise its form never changes. */
  readonly isForPeople: boolean;
  /** Width of the terminal; undefined in a pipe, where no line is cut. */
  readonly columns: number | undefined;
  readonly paint: Paint;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Looks at stdout and at COLUMNS, FORCE_COLOR, NO_COLOR and TERM. */
export function createDisplay(stdout: Writable, env: Environment): Display {
  const isTerminal = 'isTTY' in stdout && stdout.isTTY === true;
  const isForced = isSet(env.FORCE_COLOR) && !['0', 'false'].includes(env.FORCE_COLOR ?? '');
  const hasColour = isForced || (isTerminal && !refusesColour(env));
  return {
    isForPeople: isTerminal || isForced,
    columns: toColumns(env.COLUMNS) ?? (isTerminal ? terminalColumns(stdout) : undefined),
    paint: hasColour ? colouredPaint : plainPaint,
  };
}

/** The width of help texts: long lines are hard to read, and a pipe has no width. */
export function toTextWidth({ columns }: Display): number {
  return Math.max(minTextWidth, Math.min(columns ?? defaultTextWidth, maxTextWidth));
}

const minTextWidth = 20;
const defaultTextWidth = 80;
const maxTextWidth = 100;

// An empty FORCE_COLOR or NO_COLOR counts as unset (no-color.org).
function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

function refusesColour({ NO_COLOR, FORCE_COLOR, TERM }: Environment): boolean {
  return isSet(NO_COLOR) || isSet(FORCE_COLOR) || TERM === 'dumb';
}

function terminalColumns(stdout: Writable & { readonly columns?: number }): number | undefined {
  return stdout.columns || undefined;
}

function toColumns(text: string | undefined): number | undefined {
  return /^[1-9]\d{0,3}$/.test(text ?? '') ? Number(text) : undefined;
}
