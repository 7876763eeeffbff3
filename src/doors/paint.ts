// The only file that knows colour codes.

/** Colours text that is safe to print; without colour, each function returns its argument. */
export interface Paint {
  heading(text: string): string;
  /** Text that the user can type or refer to: a command, a flag, an id. */
  name(text: string): string;
  good(text: string): string;
  warning(text: string): string;
  bad(text: string): string;
  /** Details that most readers skip. */
  faint(text: string): string;
}

/** The 16 colours that every terminal maps to its theme, so that text stays readable on dark and light backgrounds. */
export const colouredPaint: Paint = {
  heading: wrapIn(1, 22),
  name: wrapIn(36, 39),
  good: wrapIn(32, 39),
  warning: wrapIn(33, 39),
  bad: wrapIn(31, 39),
  faint: wrapIn(2, 22),
};

/** Text without colour, for pipes and NO_COLOR. */
export const plainPaint: Paint = {
  heading: asIs,
  name: asIs,
  good: asIs,
  warning: asIs,
  bad: asIs,
  faint: asIs,
};

/** The colour of a command's outcome, such as `completed`, `refused` or `failed 3`. */
export function paintOutcome(outcome: string, paint: Paint): (text: string) => string {
  const [first = ''] = outcome.split(' ');
  if (first === 'completed') return paint.good;
  if (first === 'running' || first === 'starting') return paint.name;
  if (first === 'refused' || first === 'skipped') return paint.warning;
  return paint.bad;
}

function wrapIn(on: number, off: number): (text: string) => string {
  return (text) => (text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`);
}

function asIs(text: string): string {
  return text;
}
