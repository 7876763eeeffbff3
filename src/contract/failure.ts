/** Every reason why a command does not run. Each door handles every code; the compiler checks that by `satisfies`. */
export const failureCodes = [
  'invalid_request',
  'cwd_invalid',
  'cwd_not_allowed',
  'cwd_roots_invalid',
  'policy_denied',
  'approval_required',
  'program_not_found',
  'cannot_execute',
  'job_not_found',
  'audit_unavailable',
  'resources_unavailable',
  'isolation_unavailable',
  'shutting_down',
  'closed',
  'cancelled',
  'settings_invalid',
  'internal',
] as const;

/** One of `failureCodes`. */
export type FailureCode = (typeof failureCodes)[number];

/** The error for a command that did not run: a `code` for programs, a sentence and a `hint` for users and models. */
export class NacreError extends Error {
  readonly code: FailureCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: FailureCode,
    message: string,
    options: { hint?: string | undefined; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'NacreError';
    this.code = code;
    this.hint = options.hint;
    this.details = options.details ?? {};
  }
}

/** Converts any error to a `NacreError`; an unexpected one is a bug in nacre and gets the code `internal`. */
export function toNacreError(error: unknown): NacreError {
  if (error instanceof NacreError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (isExhausted(error)) {
    // The rest of the message is the path of one of nacre's own files.
    const [problem] = reason.split(', ', 1);
    return resourcesExhausted(`The machine or its limits do not allow this now: ${problem}.`, error);
  }
  return new NacreError('internal', `Internal failure: ${reason}`, {
    hint: 'This is a bug in nacre: try again, and run nacre doctor to check this installation.',
    cause: error,
  });
}

/** The `resources_unavailable` error for a system call that has failed with EAGAIN, EMFILE, ENFILE or ENOMEM. */
export function resourcesExhausted(message: string, cause: unknown): NacreError {
  return new NacreError('resources_unavailable', message, {
    hint: 'There are too many processes or open files, or too little memory: stop some commands and try again.',
    cause,
  });
}

const exhaustedCodes: readonly unknown[] = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'];

/** True for the error of a system call that failed because processes, descriptors or memory are used up. */
export function isExhausted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && exhaustedCodes.includes(error.code);
}

/** The `shutting_down` error, for a call that arrives while the server shuts down. */
export function shuttingDown(): NacreError {
  return new NacreError('shutting_down', 'The server is shutting down; nothing new is started.', {
    hint: 'Call again after it has been restarted.',
  });
}

/** The `closed` error, for a call to an instance of the library after its `close`. */
export function instanceClosed(): NacreError {
  return new NacreError('closed', 'This instance of nacre has been closed, so it runs nothing.', {
    hint: 'Create another instance with createNacre, and pass it the settings that should apply.',
  });
}

/** The `job_not_found` error, for an id that no command has. */
export function jobNotFound(id: string): NacreError {
  return new NacreError('job_not_found', `There is no command ${id}.`, {
    hint: 'List the commands to see their ids; one that ended long ago may have been cleaned up.',
  });
}

/** The `invalid_request` error for forgetting a command that has not ended. */
export function stillRunning(id: string): NacreError {
  return new NacreError('invalid_request', `${id} is still running.`, { hint: 'Stop it first.' });
}

/** The `cancelled` error, for a call that its caller cancelled. */
export function cancelled(message: string): NacreError {
  return new NacreError('cancelled', message, { hint: 'Make the call again if it is still needed.' });
}
