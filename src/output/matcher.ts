import { Worker } from 'node:worker_threads';
import { NacreError } from '../contract/failure.ts';
import { createDeferred, type Deferred, settlesWithin } from '../support/timing.ts';
import { toExpression } from './python-pattern.ts';

/** Tests texts against untrusted patterns in a worker thread, so that catastrophic backtracking can be stopped. */
export interface Matcher {
  /** For each text, whether the pattern matches it; rejects with `invalid_request` after one second. */
  test(pattern: string, texts: readonly string[]): Promise<readonly boolean[]>;
  close(): Promise<void>;
}

const defaultLimitMs = 1_000;
// Even a very busy machine starts a thread within this time.
const onlineMs = 10_000;
// A thread that does not terminate in time is abandoned; the next test starts another one.
const endMs = 2_000;

/** Throws `invalid_request` if `pattern` is not a regular expression; `field` is its name in the request. */
export function checkPattern(field: string, pattern: string | undefined): void {
  const problem = pattern === undefined ? undefined : findPatternProblem(pattern);
  if (problem === undefined) return;
  throw new NacreError('invalid_request', `${field} is not a valid regular expression: ${problem}.`, {
    hint: 'Use JavaScript syntax, with \\ before a special character that is meant literally.',
  });
}

/** Why a pattern is not a regular expression; undefined if it is one. */
export function findPatternProblem(pattern: string): string | undefined {
  const { source, flags } = toExpression(pattern);
  try {
    new RegExp(source, flags);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Creates a matcher; its thread starts with the first `test`, and another one if a pattern exceeded `limitMs` or the thread has ended. */
export function createMatcher({ limitMs = defaultLimitMs }: { limitMs?: number } = {}): Matcher {
  let thread: Thread | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  const end = async () => {
    const ending = thread?.end();
    thread = null;
    if (ending) await settlesWithin(ending, endMs);
  };

  const test = async (pattern: string, texts: readonly string[]) => {
    try {
      if (!thread?.isAlive()) thread = startThread();
      if (!(await settlesWithin(thread.online, onlineMs))) throw noThread('it did not start in time');
      const matches = thread.match({ ...toExpression(pattern), texts });
      if (await settlesWithin(matches, limitMs)) return await matches;
      throw tooSlow(pattern);
    } catch (error) {
      await end();
      throw error instanceof NacreError ? error : noThread((error as Error).message);
    }
  };

  return {
    // Tests run one at a time, so that terminating the thread for a slow pattern does not abort another test.
    test(pattern, texts) {
      const matches = turn.then(() => test(pattern, texts));
      turn = matches.catch(() => {});
      return matches;
    },
    close: end,
  };
}

interface MatchRequest {
  readonly source: string;
  readonly flags: string;
  readonly texts: readonly string[];
}

interface Thread {
  readonly online: Promise<void>;
  /** False once it has ended, for example because it could not get memory. */
  isAlive(): boolean;
  match(request: MatchRequest): Promise<readonly boolean[]>;
  end(): Promise<unknown>;
}

// Source text instead of a file, because the bundle in `dist` has no separate file for the thread.
const threadSource = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ source, flags, texts }) => {
  const expression = new RegExp(source, flags);
  parentPort.postMessage(texts.map((text) => expression.test(text)));
});`;

function startThread(): Thread {
  const worker = new Worker(threadSource, { eval: true, env: {} });
  const online = createDeferred<void>();
  let open: Deferred<readonly boolean[]> | null = null;
  let isAlive = true;
  worker.on('online', () => online.resolve());
  worker.on('message', (found: readonly boolean[]) => {
    // `unref`, because an idle thread must not keep the process alive.
    worker.unref();
    open?.resolve(found);
  });
  // Where a process or memory limit prevents a thread, and for patterns that exceed the stack of the engine. Without a listener for
  // `error`, the whole server would exit.
  const fail = (error: Error) => {
    isAlive = false;
    online.reject(error);
    open?.reject(error);
  };
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('the thread has ended')));
  online.promise.catch(() => {});
  return {
    online: online.promise,
    isAlive: () => isAlive,
    match(request) {
      open = createDeferred();
      open.promise.catch(() => {});
      worker.ref();
      worker.postMessage(request);
      return open.promise;
    },
    end: () => worker.terminate(),
  };
}

function noThread(reason: string): NacreError {
  return new NacreError('resources_unavailable', `The pattern could not be tested: ${reason}.`, {
    hint: 'Use a shorter pattern, or try again when the machine has more free memory and processes.',
  });
}

function tooSlow(pattern: string): NacreError {
  return new NacreError('invalid_request', `The pattern ${pattern} takes longer than a second.`, {
    hint: 'Avoid nested repetitions such as (a+)+, which can take exponential time.',
  });
}
