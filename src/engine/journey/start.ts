// A command that goes on after its call:
// 1. admit.ts, as for every command, 2. it is started and belongs to its owner, 3. somebody here waits for its end and
// records it, whoever else looks; commands.ts and its neighbours read it, type into it and stop it by its id.
import type { Command } from '../../contract/command.ts';
import { NacreError } from '../../contract/failure.ts';
import type { JobState, TerminalSize } from '../../contract/job.ts';
import type { CommandRequest } from '../../contract/request.ts';
import { createId } from '../../support/create-id.ts';
import { createLiveScreen } from '../reading/live-screen.ts';
import type { EngineParts, RunContext } from '../run.ts';
import { type Admission, admit, recordFailure, recordStart } from './admit.ts';
import { ended } from './follow.ts';
import { quotePaths } from './quote-paths.ts';
import { toFinished } from './shape-outcome.ts';

/** What a caller who will come back asks for. */
export interface StartRequest
  extends Pick<
    CommandRequest,
    'command' | 'cwd' | 'env' | 'timeoutMs' | 'limits' | 'sandbox' | 'quotePaths' | 'session'
  > {
  /** What its id begins with. */
  readonly idPrefix?: 'cmd' | 'shell' | undefined;
  /** A word by which its owner can call it. */
  readonly name?: string | undefined;
  /** The persistent shell whose directory, variables, functions and options it begins with, by its key. */
  readonly beginsAs?: string | undefined;
  /** Gives it a terminal of this size in place of pipes. */
  readonly terminal?: TerminalSize | undefined;
  /** `open` takes what is written later; `empty` is at its end from the start; or a text, and then its end. */
  readonly stdin: 'open' | 'empty' | { readonly text: string };
}

/** The side of that caller. */
export interface StartContext
  extends Omit<RunContext, 'onProgress' | 'onUsage' | 'onOutput' | 'howToGetRest'> {
  readonly owner: string;
}

/** A command that runs, and the promise of its recorded end. */
export interface StartedCommand {
  readonly id: string;
  /** As it was run. */
  readonly command: Command;
  readonly admission: Admission;
  /** Resolves when the end has been recorded; the warnings say what went wrong with that. */
  readonly ended: Promise<{ readonly state: JobState; readonly warnings: readonly string[] }>;
}

/** Starts a command; throws a `NacreError` for what kept it from running. `goesOn` makes it a part of lists. */
export async function start(
  parts: EngineParts,
  request: StartRequest,
  context: StartContext,
  goesOn = true,
): Promise<StartedCommand> {
  const { caller, owner, environment } = context;
  const { env = {}, timeoutMs, limits, name, stdin, beginsAs } = request;
  const session = request.session ?? beginsAs;
  const id = createId(request.idPrefix ?? 'cmd');
  return recordFailure(parts, { id, caller }, async () => {
    const command = await quotePaths(parts, { ...request, session });
    const asked = { ...request, command, session, stdin: toExpected(stdin) };
    const admission = await admit(parts, id, asked, context);
    const { cwd, isolation, inputJudge } = admission;
    const { terminal } = request;
    if (terminal && inputJudge?.onlyListed) throw shellAtTerminal();
    const screen = terminal && (await createLiveScreen(parts.backend, terminal));
    const spec = {
      id,
      command,
      cwd,
      env,
      stdin: stdin === 'empty' ? stdin : 'open',
      timeoutMs,
      limits,
      isolation,
      environment,
      terminal,
      session: request.session,
      beginsAs,
    } as const;
    const input = typeof stdin === 'object' ? stdin.text : undefined;
    await parts.sessions.start(spec, { owner, name, goesOn, inputJudge, screen }, () =>
      recordStart(parts, { id, caller, cwd }, input),
    );
    screen?.follow(id);
    if (typeof stdin === 'object') {
      parts.backend.write(id, Buffer.from(stdin.text), { eof: true }).catch(() => {});
    }
    return { id, command, admission, ended: followToEnd(parts, id, cwd, caller) };
  });
}

function shellAtTerminal(): NacreError {
  const message =
    'A shell at a terminal is not allowed while only listed programs are: its history, completion and editing cannot be judged.';
  return new NacreError('policy_denied', message, {
    hint: 'Start it without pty and type complete commands, or run each command by itself.',
  });
}

function toExpected(stdin: StartRequest['stdin']) {
  if (typeof stdin === 'object') return { kind: 'text', text: stdin.text } as const;
  return { kind: stdin === 'open' ? 'later' : 'none' } as const;
}

async function followToEnd(parts: EngineParts, id: string, cwd: string, caller: RunContext['caller']) {
  const { audit, sessions } = parts;
  try {
    const state = await ended(parts, id);
    const warnings = audit.tryRecord({ kind: 'finished', id, caller, outcome: toFinished(state, cwd) });
    return { state, warnings };
  } catch (error) {
    audit.tryRecord({ kind: 'failed', id, caller, error });
    throw error;
  } finally {
    sessions.ended(id);
  }
}
