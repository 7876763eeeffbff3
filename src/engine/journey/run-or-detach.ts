import type { Outcome } from '../../contract/outcome.ts';
import type { CommandRequest } from '../../contract/request.ts';
import type { Wait } from '../../sessions/turn-queue.ts';
import { within } from '../../support/within.ts';
import type { EngineParts, RunContext } from '../run.ts';
import { attend } from './follow.ts';
import { shapeOutcome } from './shape-outcome.ts';
import { type StartedCommand, type StartRequest, start } from './start.ts';
import { withCircumstances } from './with-circumstances.ts';

/** What a command came to, or the id of one that goes on. */
export type RunOrGoneOn =
  | { readonly kind: 'ended'; readonly outcome: Outcome }
  | { readonly kind: 'goes_on'; readonly id: string };

/**
 * Runs a command like `run`, but does not end one that takes longer than its time: that one goes on as if it had been
 * started so, with all of its output.
 */
export async function runOrGoOn(
  parts: EngineParts,
  request: CommandRequest & Pick<StartRequest, 'idPrefix'>,
  context: RunContext & { readonly owner: string },
  remember: (command: StartedCommand) => void,
): Promise<RunOrGoneOn> {
  const { session } = request;
  return parts.sessions.turns.inTurn(session, context, (wait) =>
    runInTurn(parts, request, { ...context, wait }, remember),
  );
}

async function runInTurn(
  parts: EngineParts,
  request: CommandRequest & Pick<StartRequest, 'idPrefix'>,
  context: RunContext & { readonly owner: string; readonly wait: Wait },
  remember: (command: StartedCommand) => void,
): Promise<RunOrGoneOn> {
  const { input, timeoutMs, maxOutputChars, session } = request;
  const stdin = input === undefined ? 'empty' : { text: input };
  const started = await start(parts, { ...request, timeoutMs: null, stdin }, context, false);
  const { id, ended, admission } = started;
  remember(started);
  const letGo = attend(parts, id, context);
  try {
    if (!(await within(ended, timeoutMs ?? longestMs))) {
      parts.sessions.book.goOn(id);
      if (session !== undefined) await parts.backend.letGo(session);
      return { kind: 'goes_on', id };
    }
    const { state, warnings: recorded } = await ended;
    const shape = { ...request, ...context, cwd: admission.cwd, maxChars: maxOutputChars };
    const outcome = await shapeOutcome(parts.backend, state, shape);
    const { wait } = context;
    const { command } = started;
    const circumstances = { wait, asked: request.command, command, session, admission, recorded };
    return { kind: 'ended', outcome: await withCircumstances(parts, outcome, circumstances, context) };
  } finally {
    letGo();
  }
}

// What Node's timers can count.
const longestMs = 2_147_483_647;
