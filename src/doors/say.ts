import type { Writable } from 'node:stream';
import { toNacreError } from '../contract/failure.ts';

/**
 * Writes and waits until the reader has taken it. A reader that is gone takes nothing, which is no error, and one
 * that has stopped reading is no longer waited for once `giveUp` fires.
 */
export function write(stream: Writable, data: string | Uint8Array, giveUp?: AbortSignal): Promise<void> {
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

/** A failure for a person at a terminal. */
export function toSentences(error: unknown): string {
  const { message, hint } = toNacreError(error);
  return `nacre: ${message}\n${hint ? `nacre: ${hint}\n` : ''}`;
}

/** A failure for a script. */
export function toJson(error: unknown): string {
  const { code, message, hint } = toNacreError(error);
  return `${JSON.stringify({ error: { code, message, hint } })}\n`;
}
