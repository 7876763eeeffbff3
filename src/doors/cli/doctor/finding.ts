/** Severity: a `problem` prevents commands from running; a `warning` means that something is not enforced or not used. */
export type FindingStatus = 'ok' | 'note' | 'warning' | 'problem';

/** The result of one check. */
export interface Finding {
  /** A stable name, for scripts. */
  readonly check: string;
  readonly status: FindingStatus;
  /** Description of the result. */
  readonly found: string;
  /** The command or change that fixes it. */
  readonly fix?: string | undefined;
}

/** A finding that needs no fix. */
export function ok(check: string, found: string): Finding {
  return { check, status: 'ok', found };
}
