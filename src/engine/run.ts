// The journey of one command:
// 1. record what is asked, 2. understand what it would run, 3. inspect the machine where it would run, 4. decide,
// 5. record the decision, 6. start it and follow it to its end, 7. shape its output, 8. record the outcome.
import type { AuditLog } from '../audit/audit-log.ts';
import type { Backend, StopOptions } from '../contract/backend.ts';
import type { Caller } from '../contract/caller.ts';
import type { Rules } from '../contract/decision.ts';
import type { OutputChunk } from '../contract/job.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { CommandRequest } from '../contract/request.ts';
import { decide } from '../policy/decide.ts';
import { decideCwd } from '../policy/decide-cwd.ts';
import { decideWorkspace } from '../policy/decide-workspace.ts';
import { understand } from '../policy/understand.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { createId } from '../support/create-id.ts';
import { type AskPerson, approval, refused } from './approval.ts';
import { cancelledBeforeStart, follow } from './follow.ts';
import { noticesFor } from './notices.ts';
import type { Progress } from './progress.ts';
import { shapeOutcome } from './shape-outcome.ts';

/** What the journey needs on its way. */
export interface EngineParts {
  readonly backend: Backend;
  readonly sessions: Sessions;
  readonly audit: AuditLog;
  /** How a command is ended when its caller gives it up. */
  readonly cancelling: StopOptions;
}

/** The side of the caller: who asks, under which rules, and how it listens and cancels. */
export interface RunContext {
  readonly caller: Caller;
  readonly rules: Rules;
  /** Groups of directories; a cwd that the caller gives must lie in one of each. */
  readonly cwdRoots: readonly (readonly string[])[];
  /** Directories that the caller offers as its workspace, for a sandbox that the settings give none. */
  readonly workspace?: readonly string[] | undefined;
  /** How a reader of a truncated output gets the rest. */
  readonly howToGetRest: string;
  /** Puts a question to the person behind the caller, where that can be done. */
  readonly askPerson?: AskPerson | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Gets every byte as it comes; what it has not taken yet waits in the log. */
  readonly onOutput?: ((chunks: readonly OutputChunk[]) => Promise<void>) | undefined;
}

/** Runs one command from request to outcome; throws a `NacreError` for what kept it from running. */
export async function run(
  parts: EngineParts,
  request: CommandRequest,
  context: RunContext,
): Promise<Outcome> {
  const { backend, sessions, audit } = parts;
  const { caller, rules, cwdRoots } = context;
  const { command, env = {}, input } = request;
  const id = createId('cmd');

  audit.record({ kind: 'asked', id, caller, command, cwd: request.cwd, env });
  try {
    const plan = understand(command, { env, stdin: toKnownInput(input) });
    const { workspace } = context;
    const facts = await backend.inspect({
      cwd: request.cwd,
      roots: cwdRoots.flat(),
      programs: [],
      workspace,
    });
    const cwd = decideCwd(facts, cwdRoots, { given: request.cwd !== undefined });
    const decision = decide(plan, facts, rules);
    audit.record({ kind: 'decided', id, caller, cwd, decision });
    if (decision.verdict === 'deny') throw refused(decision);
    if (decision.verdict === 'ask') {
      await approval(decision, context.askPerson);
      audit.record({ kind: 'approved', id, caller });
    }
    if (context.signal?.aborted) throw cancelledBeforeStart();

    const stdin = input === undefined ? 'empty' : 'open';
    const { timeoutMs, limits, sandbox } = request;
    const isolation = { sandbox, workspace: decideWorkspace(facts, cwdRoots) };
    await sessions.start({ id, command, cwd, env, stdin, timeoutMs, limits, isolation });
    const outcome = await follow(parts, id, input, context)
      .then((state) => shapeOutcome(backend, state, { ...context, cwd, maxChars: request.maxOutputChars }))
      // Only now: a job that has ended may be forgotten at any time.
      .finally(() => sessions.ended(id));
    const recorded = audit.tryRecord({ kind: 'finished', id, caller, outcome });
    const notices = noticesFor(decision.programs, outcome);
    return { ...outcome, warnings: [...outcome.warnings, ...notices, ...recorded] };
  } catch (error) {
    audit.tryRecord({ kind: 'failed', id, caller, error });
    throw error;
  }
}

function toKnownInput(input: string | undefined) {
  return input === undefined ? ({ kind: 'none' } as const) : ({ kind: 'text', text: input } as const);
}
