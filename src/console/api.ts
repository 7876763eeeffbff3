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

/** Gets JSON from the server. */
export async function fetchJson<Body>(path: string): Promise<Body> {
  return read<Body>(await fetch(path));
}

/** Posts JSON to the server. */
export async function postJson<Body>(path: string, body: object): Promise<Body> {
  const headers = { 'Content-Type': 'application/json' };
  return read<Body>(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

async function read<Body>(reply: Response): Promise<Body> {
  if (reply.ok) return (await reply.json()) as Body;
  const { error = `The server replied ${reply.status}.`, hint } = (await reply.json().catch(() => ({}))) as {
    error?: string;
    hint?: string;
  };
  throw new ApiError(reply.status, error, hint);
}
