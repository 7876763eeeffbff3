/** Every reason for which a command does not run. Each door answers every code; the compiler checks it. */
export const failureCodes = [
  'invalid_request',
  'cwd_invalid',
  'cwd_not_allowed',
  'cwd_roots_invalid',
  'policy_denied',
  'approval_required',
  'program_not_found',
  'job_not_found',
  'audit_unavailable',
  'resources_unavailable',
  'isolation_unavailable',
  'shutting_down',
  'cancelled',
  'settings_invalid',
  'internal',
] as const;

/** One code of the closed list. */
export type FailureCode = (typeof failureCodes)[number];

/** What kept a command from running: a code for programs, a sentence and a next step for people and models. */
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

/** Any error as one of ours: what nobody foresaw is a fault of nacre itself. */
export function toNacreError(error: unknown): NacreError {
  if (error instanceof NacreError) return error;
  const message = `Internal failure: ${error instanceof Error ? error.message : String(error)}`;
  return new NacreError('internal', message, {
    hint: 'This is a fault of nacre: try again, and look with nacre doctor whether something is missing here.',
    cause: error,
  });
}

/** What a server answers while it ends. */
export function shuttingDown(): NacreError {
  return new NacreError('shutting_down', 'The server is shutting down; nothing new is started.', {
    hint: 'Call again when it has been started anew.',
  });
}

/** What is answered to a call that was taken back. */
export function cancelled(message: string): NacreError {
  return new NacreError('cancelled', message, { hint: 'Make the call again if it is still wanted.' });
}
