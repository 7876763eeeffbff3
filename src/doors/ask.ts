import { createInterface } from 'node:readline/promises';
import { NacreError } from '../contract/failure.ts';
import type { Io } from './door.ts';

/** Asks the user at the terminal, with `node:readline`. */
export interface Ask {
  /** Repeats the question until `parse` accepts the answer; prints the NacreError that `parse` throws. */
  one<T>(question: string, parse: (answer: string) => T): Promise<T>;
  close(): void;
}

/** Creates an `Ask` for this terminal; undefined if stdin or stdout is not a terminal. */
export function createAsk({ stdin, stdout, interrupted }: Io): Ask | undefined {
  const isTerminal = [stdin, stdout].every((end) => 'isTTY' in end && end.isTTY === true);
  if (!isTerminal) return undefined;
  const lines = createInterface({ input: stdin, output: stdout });
  const cancelled = new AbortController();
  const cancel = () => cancelled.abort();
  for (const event of ['close', 'SIGINT']) lines.once(event, cancel);
  interrupted.addEventListener('abort', cancel, { once: true });
  return {
    async one(question, parse) {
      for (;;) {
        const answer = await lines.question(question, { signal: cancelled.signal }).catch(() => {
          throw new NacreError('cancelled', 'No answer was given; nothing was written.', {
            hint: 'Run it again, or pass --yes and give the answers as flags.',
          });
        });
        try {
          return parse(answer.trim());
        } catch (error) {
          if (!(error instanceof NacreError)) throw error;
          stdout.write(`${error.message}\n`);
        }
      }
    },
    close() {
      interrupted.removeEventListener('abort', cancel);
      lines.close();
    },
  };
}
