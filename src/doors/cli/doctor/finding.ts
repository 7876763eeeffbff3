/** Severity: a `problem` prevents commands from running; a `warning` means that something is not enforced or not used. */
export type FindingStatus = 'ok' | 'note' | 'warning' | 'problem';

/** The result of one check. */
export interface Finding {
  /** A stable name for scripts, such as `bubblewrap`. */
  readonly check: string;
  readonly status: FindingStatus;
  readonly found: string;
  /** The command or change that fixes it. */
  readonly fix?: string | undefined;
}

/** A finding with status `ok`. */
export function ok(check: string, found: string): Finding {
  return { check, status: 'ok', found };
}
