import { createInterface } from 'node:readline/promises';
import { NacreError } from '../../../contract/failure.ts';
import type { Io } from '../../door.ts';

/** Questions to whoever sits at the terminal. */
export interface Ask {
  /** Asks until an answer can be read; what `read` throws is told. */
  one<T>(question: string, read: (answer: string) => T): Promise<T>;
  close(): void;
}

/** Makes a way to ask; undefined when nobody is there to answer. */
export function createAsk({ stdin, stdout, interrupted }: Io): Ask | undefined {
  const isTerminal = [stdin, stdout].every((end) => 'isTTY' in end && end.isTTY === true);
  if (!isTerminal) return undefined;
  const lines = createInterface({ input: stdin, output: stdout });
  const gone = new AbortController();
  const leave = () => gone.abort();
  for (const event of ['close', 'SIGINT']) lines.once(event, leave);
  interrupted.addEventListener('abort', leave, { once: true });
  return {
    async one(question, read) {
      for (;;) {
        const answer = await lines.question(question, { signal: gone.signal }).catch(() => {
          throw new NacreError('cancelled', 'There was no answer; nothing was written.', {
            hint: 'Run it again, or give the answers as flags with --yes.',
          });
        });
        try {
          return read(answer.trim());
        } catch (error) {
          if (!(error instanceof NacreError)) throw error;
          stdout.write(`${error.message}\n`);
        }
      }
    },
    close() {
      interrupted.removeEventListener('abort', leave);
      lines.close();
    },
  };
}
