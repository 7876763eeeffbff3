import type { IncomingMessage } from 'node:http';
import { HttpProblem } from './problem.ts';

/** The longest body of a request. */
export const maxBodyBytes = 1_048_576;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a body of JSON: 413 when it is too long, 415 when it is something else, 400 when it is broken. */
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

// From Node's own stream: a body of the web's kind would cost as much as all the rest of a request.
async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  // Not a number where the end of the body alone tells.
  const size = Number(incoming.headers['content-length']);
  if (size > maxBodyBytes) throw tooLong();
  // A body that comes right behind its headers is there a moment later, before anything says so.
  await undefined;
  const first: Buffer | null = incoming.read();
  if (first?.length !== size) return readOn(incoming, first ?? Buffer.alloc(0));
  incoming.resume();
  return first;
}

function readOn(incoming: IncomingMessage, first: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks = [first];
    let size = first.length;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBodyBytes) reject(tooLong());
      else chunks.push(chunk);
    });
    incoming.on('end', () => resolve(Buffer.concat(chunks)));
    const breakOff = () => reject(new HttpProblem(400, 'The body did not arrive whole; send it again.'));
    incoming.on('error', breakOff);
    // Bytes behind the headers that are no body end it before anybody listens.
    if (incoming.destroyed) breakOff();
  });
}

function tooLong(): HttpProblem {
  return new HttpProblem(413, `The body must be at most ${maxBodyBytes} bytes; put more into a file.`, {
    Connection: 'close',
  });
}
