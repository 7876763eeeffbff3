import { type FailureCode, NacreError } from '../../contract/failure.ts';

/** The status of everything that keeps a command from running. */
const statuses = {
  invalid_request: 400,
  cwd_invalid: 400,
  cwd_not_allowed: 403,
  cwd_roots_invalid: 500,
  policy_denied: 403,
  approval_required: 403,
  program_not_found: 500,
  job_not_found: 404,
  audit_unavailable: 503,
  resources_unavailable: 503,
  isolation_unavailable: 503,
  shutting_down: 503,
  cancelled: 499,
  settings_invalid: 500,
  internal: 500,
} satisfies Record<FailureCode, number>;

/** What keeps a request from being served, before there is a command. */
export class HttpProblem extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The answer to a request that failed; what we do not know ourselves is told to the log alone. */
export function toAnswer(error: unknown, log: (message: string) => void): Response {
  if (error instanceof HttpProblem) {
    return Response.json({ error: error.message }, { status: error.status, headers: { ...error.headers } });
  }
  const { status, body } = toFailure(error, log);
  return Response.json(body, { status });
}

/** A failure as a status and a body. */
export function toFailure(error: unknown, log: (message: string) => void) {
  if (error instanceof NacreError && error.code !== 'internal') {
    const { message, hint, code } = error;
    return { status: statuses[code], body: { error: message, hint, reason: code } };
  }
  log(`internal failure: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return { status: 500, body: { error: 'Internal failure; the log of the server has more.' } };
}
