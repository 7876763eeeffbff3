/** An error of the server, in its own words. */
export class ApiError extends Error {
  readonly status: number;
  readonly hint: string;

  constructor(status: number, message: string, hint = '') {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** Converts an error to one sentence for the user. */
export function toSentence(error: unknown): string {
  return error instanceof ApiError ? error.message : 'The server does not reply.';
}

/** The error of a request without a reply. */
export function isNoReply(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0;
}

/** Gets JSON from the server. */
export async function fetchJson<Body>(path: string): Promise<Body> {
  return read<Body>(await request(path, {}, 'The page retries once it is connected.'));
}

/** Posts JSON to the server. */
export async function postJson<Body>(path: string, body: object): Promise<Body> {
  const headers = { 'Content-Type': 'application/json' };
  return read<Body>(
    await request(
      path,
      { method: 'POST', headers, body: JSON.stringify(body) },
      'Check again when the page is connected: the request may have taken effect.',
    ),
  );
}

/** Sends a request; rejects with a sentence and `hint` if there is no reply. */
export async function request(path: string, init: RequestInit, hint = ''): Promise<Response> {
  return fetch(path, init).catch(() => {
    throw new ApiError(0, 'The server does not reply.', hint);
  });
}

async function read<Body>(reply: Response): Promise<Body> {
  if (reply.ok) return (await reply.json()) as Body;
  const { error = `The server replied ${reply.status}.`, hint } = (await reply.json().catch(() => ({}))) as {
    error?: string;
    hint?: string;
  };
  throw new ApiError(reply.status, error, hint);
}
