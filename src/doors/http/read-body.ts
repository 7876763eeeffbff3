import { HttpProblem } from './problem.ts';

/** The longest body of a request. */
export const maxBodyBytes = 1_048_576;

/** Reads a body of JSON: 413 when it is too long, 415 when it is something else, 400 when it is broken. */
export async function readJson(request: Request): Promise<unknown> {
  const bytes = await readBytes(request);
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new HttpProblem(415, 'The body must be JSON, with the header Content-Type: application/json.');
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new HttpProblem(400, 'The body is not valid JSON in UTF-8.');
  }
}

async function readBytes({ headers, body }: Request): Promise<Uint8Array> {
  if (Number(headers.get('content-length') ?? 0) > maxBodyBytes) throw tooLong();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBodyBytes) break;
    }
  } catch {
    throw new HttpProblem(400, 'The body did not arrive whole.');
  }
  if (size > maxBodyBytes) throw tooLong();
  return Buffer.concat(chunks);
}

function tooLong(): HttpProblem {
  return new HttpProblem(413, `The body must be at most ${maxBodyBytes} bytes.`, { Connection: 'close' });
}
