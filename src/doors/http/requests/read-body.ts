import type { IncomingMessage } from 'node:http';
import { HttpProblem } from './problem.ts';

/** Longest request body, and longest WebSocket message. */
export const maxBodyBytes = 1_048_576;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body; throws 413 if it is too long, 415 if it has another type, 400 if it cannot be parsed. */
export async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const bytes = await readBytes(incoming);
  const [type = ''] = (incoming.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new HttpProblem(415, 'The body must be JSON, with the header Content-Type: application/json.');
  }
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new HttpProblem(400, 'The body is not valid JSON in UTF-8; correct it and send it again.');
  }
}

/** Reads the fields of an HTML form; throws 413 if it is too long, 415 if it has another type. */
export async function readForm(incoming: IncomingMessage): Promise<URLSearchParams> {
  const bytes = await readBytes(incoming);
  const [type = ''] = (incoming.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded')
    throw new HttpProblem(415, 'The body must be a form; open the link in a browser and press its button.');
  return new URLSearchParams(bytes.toString('latin1'));
}

async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  // NaN for a chunked body, which never equals a length.
  const size = Number(incoming.headers['content-length']);
  if (size > maxBodyBytes) throw tooLong();
  // A body in the same packet as its headers is readable one microtask later, before any `readable` event.
  await undefined;
  const first: Buffer | null = incoming.read();
  if (first?.length !== size) return readRest(incoming, first ?? Buffer.alloc(0));
  incoming.resume();
  return first;
}

function readRest(incoming: IncomingMessage, first: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks = [first];
    let size = first.length;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBodyBytes) reject(tooLong());
      else chunks.push(chunk);
    });
    incoming.on('end', () => resolve(Buffer.concat(chunks)));
    const fail = () => reject(new HttpProblem(400, 'The body arrived incomplete; send it again.'));
    incoming.on('error', fail);
    // Garbage after the headers can destroy `incoming` before the `error` listener is attached.
    if (incoming.destroyed) fail();
  });
}

function tooLong(): HttpProblem {
  return new HttpProblem(
    413,
    `The body must be at most ${maxBodyBytes} bytes; put longer input into a file.`,
    {
      Connection: 'close',
    },
  );
}
