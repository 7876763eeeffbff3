// The journey of one command:
// 1. admit.ts records what is asked, understands what it would run, inspects the machine, decides and records the decision,
// 2. it is made ready, recorded as started, started and followed to its end, 3. its output is shaped, 4. the outcome is recorded.
// A command that goes on after its call has the same beginning and another end: start.ts and commands.ts.
import type { AuditLog } from '../audit/audit-log.ts';
import type { Backend, StopOptions } from '../contract/backend.ts';
import type { Caller } from '../contract/caller.ts';
import type { CwdNames, Rules } from '../contract/decision.ts';
import type { EnvironmentRules, OutputChunk } from '../contract/job.ts';
import type { Resources } from '../contract/limits.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { CommandRequest } from '../contract/request.ts';
import type { Matcher } from '../output/matcher.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Wait } from '../sessions/turn-queue.ts';
import { createId } from '../support/create-id.ts';
import type { AskPerson } from './approval/approval.ts';
import type { ApprovalInbox } from './approval/approval-inbox.ts';
import type { OwnRecords } from './commands/own-records.ts';
import { admit, recordFailure, recordStart } from './journey/admit.ts';
import { gatherWhole } from './journey/collect-output.ts';
import { dryOutcome } from './journey/dry-outcome.ts';
import { follow } from './journey/follow.ts';
import { quotePaths } from './journey/quote-paths.ts';
import { shapeOutcome } from './journey/shape-outcome.ts';
import type { Progress } from './journey/watch-progress.ts';
import { withCircumstances } from './journey/with-circumstances.ts';

/** What the journey needs on its way. */
export interface EngineParts {
  readonly backend: Backend;
  readonly sessions: Sessions;
  readonly audit: AuditLog;
  readonly matcher: Matcher;
  /** How a command is ended when its caller gives it up. */
  readonly cancelling: StopOptions;
  /** What callers may see of the records. */
  readonly ownRecords: OwnRecords;
  /** Where a question waits whose asker can reach nobody; absent where nobody would come to look. */
  readonly inbox?: ApprovalInbox | undefined;
}

/** The side of the caller: who asks, under which rules, and how it listens and cancels. */
export interface RunContext {
  readonly caller: Caller;
  /** Who can ask about the command afterwards; nobody can when it is absent. */
  readonly owner?: string | undefined;
  readonly rules: Rules;
  /** Groups of directories; a cwd that the caller gives must lie in one of each. */
  readonly cwdRoots: readonly (readonly string[])[];
  /** How these callers call the directory and what restricts it; `cwd` and `ALLOWED_CWD_ROOTS` when absent. */
  readonly cwdNames?: CwdNames | undefined;
  /** Refuses to work in directories of the system and of keys, wherever the roots lie. */
  readonly refuseSensitive?: boolean | undefined;
  /** Which of the server's variables these callers get, or not, beside what holds for all. */
  readonly environment?: EnvironmentRules | undefined;
  /** Directories that the caller offers as its workspace, for a sandbox that the settings give none. */
  readonly workspace?: readonly string[] | undefined;
  /** How a reader of a truncated output gets the rest, from the id of its command. */
  readonly howToGetRest: string | ((id: string) => string);
  /** Puts a question to the person behind the caller, where that can be done. */
  readonly askPerson?: AskPerson | undefined;
  /** The journey ends at the decision: nothing is asked and nothing runs. */
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Told about once a second what its tree has used so far. */
  readonly onUsage?: ((used: Resources) => void) | undefined;
  /** Called when other calls have to be served first by the same persistent shell. */
  readonly onWait?: ((ahead: number) => void) | undefined;
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
  const { caller } = context;
  const { input } = request;
  const id = createId('cmd');

  const journey = async (wait: Wait) => {
    const command = await quotePaths(parts, request);
    const asked = { ...request, command, stdin: toKnownInput(input) };
    const admission = await admit(parts, id, asked, context);
    const { cwd, isolation } = admission;
    if (context.dryRun) {
      audit.tryRecord({ kind: 'skipped', id, caller, command, reason: 'dry run' });
      return dryOutcome(id, command, cwd);
    }
    const stdin = input === undefined ? 'empty' : 'open';
    const { env = {}, timeoutMs, limits, session, maxOutputChars, cutAtLines } = request;
    const { owner, environment } = context;
    await sessions.start(
      { id, command, cwd, env, stdin, timeoutMs, limits, isolation, environment, session },
      owner === undefined ? undefined : { owner },
      () => recordStart(parts, { id, caller, cwd }, input),
    );
    const whole = gatherWhole(parts, id, request.maxStreamBytes);
    const shape = { cwd, maxChars: maxOutputChars, howToGetRest: context.howToGetRest, cutAtLines };
    const outcome = await follow(parts, id, input, whole ? { ...context, ...whole.listening } : context)
      .then((state) => (whole ? whole.toOutcome(state, cwd) : shapeOutcome(backend, state, shape)))
      // Only now: a job that has ended may be forgotten at any time.
      .finally(() => sessions.ended(id));
    const recorded = audit.tryRecordSoon({ kind: 'finished', id, caller, outcome });
    const circumstances = { wait, asked: request.command, command, session, admission, recorded };
    return withCircumstances(parts, outcome, circumstances, context);
  };
  // Policy judges a command by the state of its shell, so it waits for its turn before it is judged.
  return recordFailure(parts, { id, caller }, () => sessions.turns.inTurn(request.session, context, journey));
}

function toKnownInput(input: string | undefined) {
  return input === undefined ? ({ kind: 'none' } as const) : ({ kind: 'text', text: input } as const);
}
