import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type FailureCode, toNacreError } from '../../../contract/failure.ts';

/** The HTTP status of each `NacreError` code. */
const statuses = {
  invalid_request: 400,
  cwd_invalid: 400,
  cwd_not_allowed: 403,
  cwd_roots_invalid: 500,
  policy_denied: 403,
  approval_required: 403,
  program_not_found: 500,
  cannot_execute: 500,
  job_not_found: 404,
  audit_unavailable: 503,
  resources_unavailable: 503,
  isolation_unavailable: 503,
  shutting_down: 503,
  closed: 503,
  cancelled: 499,
  settings_invalid: 500,
  internal: 500,
} satisfies Record<FailureCode, number>;

/** The error for a request that is refused before it becomes a command. */
export class HttpProblem extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The JSON body of a failure. */
export interface FailureBody {
  readonly error: string;
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
}

/** Status, body and headers of the reply to a failed request. */
export interface FailureReply {
  readonly status: number;
  readonly body: FailureBody;
  readonly headers?: HttpProblem['headers'];
}

/** Converts an error to a reply; an unexpected error is logged, and the caller gets no details. */
export function toFailure(error: unknown, log: (message: string) => void): FailureReply {
  if (error instanceof HttpProblem) {
    const { status, message, headers } = error;
    return { status, body: { error: message }, headers };
  }
  const { code, message, hint } = toNacreError(error);
  if (code !== 'internal') {
    return { status: statuses[code], body: { error: message, hint, reason: code } };
  }
  log(`internal failure: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return { status: 500, body: { error: 'Internal failure; see the log of the server.' } };
}

/** Writes a refusal to a connection that has no `ServerResponse`, and closes it. */
export function refuseConnection(duplex: Duplex, { status, message, headers }: HttpProblem): void {
  const body = JSON.stringify({ error: message });
  const lines = Object.entries({
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  duplex.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}
