import { Worker } from 'node:worker_threads';
import { NacreError } from '../contract/failure.ts';
import { createDeferred, type Deferred } from '../support/deferred.ts';
import { within } from '../support/within.ts';

/** Tests texts against patterns that come from outside, where one that never ends can be stopped. */
export interface Matcher {
  /** Which of the texts the pattern matches; rejects a pattern that takes longer than a second. */
  test(pattern: string, texts: readonly string[]): Promise<readonly boolean[]>;
  close(): Promise<void>;
}

const limitMs = 1_000;
// ^ and $ stand for the borders of lines: what is looked for stands in one.
const flags = 'm';

/** Throws `invalid_request` for what is no regular expression; `field` is what the caller calls it. */
export function checkPattern(field: string, pattern: string | undefined): void {
  try {
    if (pattern !== undefined) new RegExp(pattern, flags);
  } catch (error) {
    const { message } = error as Error;
    throw new NacreError('invalid_request', `${field} is no regular expression: ${message}.`, {
      hint: 'Use the syntax of JavaScript, and \\ before a character that should stand for itself.',
    });
  }
}

/** Makes a matcher; its thread is started at the first need, and anew after one had to be stopped. */
export function createMatcher(): Matcher {
  let thread: Thread | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  const test = async (pattern: string, texts: readonly string[]) => {
    thread ??= startThread();
    await thread.online;
    const answer = thread.ask({ pattern, flags, texts });
    if (await within(answer, limitMs)) return answer;
    await thread.end();
    thread = null;
    throw tooSlow(pattern);
  };

  return {
    // One after the other, so that a slow pattern is stopped without taking another's answer along.
    test(pattern, texts) {
      const answer = turn.then(() => test(pattern, texts));
      turn = answer.catch(() => {});
      return answer;
    },
    async close() {
      await thread?.end();
      thread = null;
    },
  };
}

interface Question {
  readonly pattern: string;
  readonly flags: string;
  readonly texts: readonly string[];
}

interface Thread {
  readonly online: Promise<void>;
  ask(question: Question): Promise<readonly boolean[]>;
  end(): Promise<unknown>;
}

// As text, because a bundle has no file for it.
const threadSource = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ pattern, flags, texts }) => {
  const expression = new RegExp(pattern, flags);
  parentPort.postMessage(texts.map((text) => expression.test(text)));
});`;

function startThread(): Thread {
  const worker = new Worker(threadSource, { eval: true, env: {} });
  const online = createDeferred<void>();
  let open: Deferred<readonly boolean[]> | null = null;
  worker.on('online', () => online.resolve());
  worker.on('message', (found: readonly boolean[]) => {
    // A thread without a question does not keep the process alive.
    worker.unref();
    open?.resolve(found);
  });
  return {
    online: online.promise,
    ask(question) {
      open = createDeferred();
      worker.ref();
      worker.postMessage(question);
      return open.promise;
    },
    end: () => worker.terminate(),
  };
}

function tooSlow(pattern: string): NacreError {
  return new NacreError('invalid_request', `The pattern ${pattern} takes longer than a second.`, {
    hint: 'Nested repetitions such as (a+)+ take for ever: write it without.',
  });
}
