import type { Writable } from 'node:stream';
import { toNacreError } from '../contract/failure.ts';

/**
 * Writes to a stream and waits until the data is flushed. A closed pipe is not an error. If the process at the other
 * end has stopped reading, the wait ends when `giveUp` aborts.
 */
export function print(stream: Writable, data: string | Uint8Array, giveUp?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      giveUp?.removeEventListener('abort', done);
      resolve();
    };
    giveUp?.addEventListener('abort', done);
    stream.write(data, done);
    if (giveUp?.aborted) done();
  });
}

/** An error as `nacre: …` lines for a terminal. */
export function toErrorText(error: unknown): string {
  const { message, hint } = toNacreError(error);
  return `nacre: ${message}\n${hint ? `nacre: ${hint}\n` : ''}`;
}

/** An error as one line of JSON, for scripts. */
export function toErrorJson(error: unknown): string {
  const { code, message, hint } = toNacreError(error);
  return `${JSON.stringify({ error: { code, message, hint } })}\n`;
}
