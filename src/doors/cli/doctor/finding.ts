/** How well something stands: a problem keeps commands from running, a warning leaves something unenforced or unused. */
export type Status = 'ok' | 'note' | 'warning' | 'problem';

/** One thing that was looked at. */
export interface Finding {
  /** A stable name, for scripts. */
  readonly check: string;
  readonly status: Status;
  /** What was found, in words. */
  readonly found: string;
  /** The command or the change that mends it. */
  readonly fix?: string | undefined;
}

/** A finding that needs no mending. */
export function ok(check: string, found: string): Finding {
  return { check, status: 'ok', found };
}
