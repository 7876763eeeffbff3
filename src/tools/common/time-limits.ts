/** How long a client waits for the reply to a call: about a minute, the most common value, or two minutes or more. */
export type Patience = 'usual' | 'long';

/** The time limits of a family's commands: `defaultMs` for a call that sets none, and the longest that one may set. */
export interface TimeLimits {
  readonly defaultMs: number;
  readonly maxMs: number;
}
