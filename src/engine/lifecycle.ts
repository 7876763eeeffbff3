import { serverCloses } from './journey/follow.ts';
import type { RunContext } from './run.ts';

/** The calls that wait for their commands. */
export interface OpenCalls {
  /** Does what a call asks for; its signal also fires when all calls are aborted. */
  during<T, C extends Pick<RunContext, 'signal'>>(
    context: C,
    call: (own: C & { readonly signal: AbortSignal }) => Promise<T>,
  ): Promise<T>;
  /** Aborts all of them; resolves when each has been answered. */
  abort(): Promise<void>;
}

/** Keeps the calls of an engine. */
export function createOpenCalls(): OpenCalls {
  const calls = new Map<AbortController, Promise<unknown>>();
  return {
    during(context, call) {
      const { controller, detach } = follow(context.signal);
      const answer = call({ ...context, signal: controller.signal }).finally(() => {
        calls.delete(controller);
        detach();
      });
      calls.set(controller, answer);
      return answer;
    },
    async abort() {
      for (const controller of calls.keys()) controller.abort(serverCloses);
      await Promise.allSettled(calls.values());
    },
  };
}

/** A controller of our own that is aborted with the caller's signal. */
function follow(signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  return { controller, detach: () => signal?.removeEventListener('abort', abort) };
}
