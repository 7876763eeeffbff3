import type { Outcome } from '../../contract/outcome.ts';
import type { CommandRequest } from '../../contract/request.ts';
import { settlesWithin } from '../../support/timing.ts';
import type { RunCall } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';
import { type RecordedEnd, watch } from './follow.ts';
import { withNotices } from './notices.ts';
import { shapeOutcome } from './shape-outcome.ts';
import type { StartedCommand } from './start.ts';

/** The outcome of a command, or the id of one that was still running after `timeoutMs` and keeps running. */
export type RunOrDetachResult =
  | { readonly kind: 'ended'; readonly outcome: Outcome }
  | { readonly kind: 'detached'; readonly id: string };

/** A started command, and the promise of `recordEnd`. */
export interface BackgroundCommand extends StartedCommand {
  readonly ended: Promise<RecordedEnd>;
}

/** Waits up to `timeoutMs` for a started command; then leaves it running in the background, with all of its output. */
export async function endOrDetach(
  deps: EngineDeps,
  command: BackgroundCommand,
  request: CommandRequest,
  call: RunCall,
): Promise<RunOrDetachResult> {
  const { id, cwd, ended } = command;
  const { timeoutMs, session } = request;
  const unwatch = watch(deps, id, call);
  try {
    if (!(await settlesWithin(ended, timeoutMs ?? maxTimerMs))) {
      deps.sessions.registry.moveToBackground(id);
      if (session !== undefined) await deps.backend.detach(session);
      return { kind: 'detached', id };
    }
    const { state, warnings } = await ended;
    const outcome = await shapeOutcome(deps.backend, state, { ...request, ...call, cwd });
    return { kind: 'ended', outcome: await withNotices(deps, outcome, { request, command, warnings, call }) };
  } finally {
    unwatch();
  }
}

// The longest delay of `setTimeout`.
const maxTimerMs = 2_147_483_647;
