import type { ClosedSession } from '../contract/backend.ts';
import { stopOnClose } from '../contract/backend.ts';
import { NacreError, shuttingDown } from '../contract/failure.ts';
import { settlesWithin } from '../support/timing.ts';
import type { RunContext } from './context/call-context.ts';
import type { EngineDeps } from './context/engine-deps.ts';
import { type RecordedEnd, serverCloses } from './journey/follow.ts';

/** The open calls and background commands of an engine, and how they end. */
export interface Lifecycle {
  /** Runs a call; its `signal` also fires in `endAll` and `close`. Throws while paused or closing. */
  during<T, C extends Pick<RunContext, 'signal'>>(
    context: C,
    call: (own: C & { readonly signal: AbortSignal }) => Promise<T>,
  ): Promise<T>;
  /** Tracks a background command until `ended` settles; one that outlives this process is not ended by `close`. */
  track(id: string, ended: Promise<RecordedEnd>, options?: { readonly outlives: boolean }): void;
  /** Ends every call, background command and persistent shell; new ones may follow. */
  endAll(): Promise<void>;
  closeSession(key: string): Promise<ClosedSession | null>;
  /** Like `endAll`, for at most `closeMs`; then closes the backend and the audit log. */
  close(): Promise<void>;
}

// An outcome is recorded within moments of the command's end; a caller that does not read its reply must not block the exit.
const closeMs = 1_200;
// A helper process that does not end must not block the exit either: it dies with this process.
const backendMs = 8_000;

/** Creates the lifecycle of an engine; `isPaused` is true after `nacre pause`. */
export function createLifecycle(deps: EngineDeps, isPaused: () => boolean): Lifecycle {
  const { backend, sessions } = deps;
  const calls = new Map<AbortController, Promise<unknown>>();
  const background = new Map<string, { readonly ended: Promise<RecordedEnd>; readonly outlives: boolean }>();
  let closing: Promise<void> | null = null;

  const abortCalls = () => {
    for (const controller of calls.keys()) controller.abort(serverCloses);
    return Promise.allSettled(calls.values());
  };
  const listBackground = (which: 'all' | 'ending') =>
    [...background].filter(([, { outlives }]) => which === 'all' || !outlives);
  const stopBackground = (which: 'all' | 'ending') =>
    Promise.allSettled(listBackground(which).map(([id]) => backend.stop(id, stopOnClose)));
  const closeSession = (key: string) => {
    sessions.shellCwds.delete(key);
    return backend.closeSession(key);
  };
  const close = async () => {
    const answered = abortCalls();
    void stopBackground('ending');
    const ends = listBackground('ending').map(([, { ended }]) => ended);
    await settlesWithin(Promise.allSettled([answered, ...ends]), closeMs);
    await settlesWithin(backend.close(), backendMs);
    await deps.matcher.close();
    sessions.close();
    deps.audit.close();
  };

  return {
    async during(context, call) {
      if (isPaused()) throw paused();
      if (closing) throw shuttingDown();
      const { controller, detach } = linkedController(context.signal);
      const answer = call({ ...context, signal: controller.signal }).finally(() => {
        calls.delete(controller);
        detach();
      });
      calls.set(controller, answer);
      return answer;
    },
    track(id, ended, { outlives } = { outlives: false }) {
      background.set(id, { ended, outlives });
      const untrack = () => background.delete(id);
      ended.then(untrack, untrack);
    },
    async endAll() {
      await Promise.all([abortCalls(), stopBackground('all')]);
      // Repeated for commands that were starting during the first round.
      await stopBackground('all');
      const shells = await backend.listSessions();
      await Promise.allSettled(shells.map(({ key }) => closeSession(key)));
    },
    closeSession,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** A controller that aborts with the caller's signal until it is detached. */
function linkedController(signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  return { controller, detach: () => signal?.removeEventListener('abort', abort) };
}

function paused(): NacreError {
  return new NacreError('policy_denied', 'nacre is paused: the user has stopped all commands.', {
    hint: 'Only the user can end the pause, with nacre resume.',
  });
}
