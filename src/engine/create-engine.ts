import { NacreError } from '../contract/failure.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { MachineReport } from '../contract/report.ts';
import type { CommandRequest } from '../contract/request.ts';
import { within } from '../support/within.ts';
import { type Checked, check } from './check.ts';
import { serverCloses } from './follow.ts';
import { type EngineParts, type RunContext, run } from './run.ts';

/** What tools and doors see of the engine. */
export interface Engine {
  run(request: CommandRequest, context: RunContext): Promise<Outcome>;
  /** What would become of a command; nothing runs. */
  check(
    request: Pick<CommandRequest, 'command' | 'cwd' | 'env'>,
    context: Pick<RunContext, 'rules' | 'cwdRoots'>,
  ): Promise<Checked>;
  /** What was found on the machine. */
  report(): Promise<MachineReport>;
  /** Gets ready what the first command would otherwise wait for; what goes wrong shows at that command. */
  warmUp(): Promise<void>;
  /** Ends every command, then everything else. */
  close(): Promise<void>;
}

// An outcome is recorded within moments of its command's end; a caller who does not take it may not block the exit.
const lastWordsMs = 1_200;

/** Makes the engine of its parts. */
export function createEngine(parts: EngineParts): Engine {
  const { backend, sessions, audit } = parts;
  const calls = new Map<AbortController, Promise<Outcome>>();
  let closing: Promise<void> | null = null;

  const close = async () => {
    for (const cancel of calls.keys()) cancel.abort(serverCloses);
    await within(Promise.allSettled(calls.values()), lastWordsMs);
    await backend.close();
    sessions.close();
    audit.close();
  };

  return {
    async run(request, context) {
      if (closing)
        throw new NacreError('shutting_down', 'The server is shutting down; nothing new is started.');
      const cancel = follows(context.signal);
      const call = run(parts, request, { ...context, signal: cancel.signal }).finally(() => {
        calls.delete(cancel.controller);
        cancel.detach();
      });
      calls.set(cancel.controller, call);
      return call;
    },
    check: (request, context) => check(parts, request, context),
    report: () => backend.report(),
    async warmUp() {
      await backend.inspect({ cwd: undefined, roots: [], programs: [] }).catch(() => {});
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** A controller of our own that is aborted with the caller's signal. */
function follows(signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  const detach = () => signal?.removeEventListener('abort', abort);
  return { controller, signal: controller.signal, detach };
}
