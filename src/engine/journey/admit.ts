import type { Command } from '../../contract/command.ts';
import type { Decision } from '../../contract/decision.ts';
import type { FactsMachine } from '../../contract/facts.ts';
import { cancelled, type NacreError } from '../../contract/failure.ts';
import type { InputRules, JobSpec } from '../../contract/job.ts';
import { decideWorkspace } from '../../policy/decide-place.ts';
import { findSpacedWords, quoteSpacedPaths } from '../../policy/spaced-paths.ts';
import type { InputJudge } from '../../sessions/command-registry.ts';
import { settlesWithin } from '../../support/timing.ts';
import { type ApprovalSubject, deniedError, requireApproval } from '../approval/approval.ts';
import type { JourneyContext, StartRequest } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';
import { createInputJudge } from '../typing/judge-input.ts';
import { inspectPlace } from './inspect-place.ts';

/** A command that may run, with the `Decision` and the directory. */
export interface Admission {
  /** The requested command, or the result of `quotePaths`. */
  readonly command: Command;
  readonly cwd: string;
  /** Where it runs, unless that is this machine. */
  readonly machine?: FactsMachine | undefined;
  readonly decision: Decision;
  readonly isolation: JobSpec['isolation'];
  /** Sentences about the directory and from the user, for the caller. */
  readonly notes: readonly string[];
  /** Set if the user is asked about the changes that the command has made, when it has ended. */
  readonly toAsk?: ApprovalSubject | undefined;
  /** Applies the policy to later input; present if the command executes its stdin. */
  readonly inputJudge: InputJudge | undefined;
  /** How `inputJudge` was created. */
  readonly judgedBy: InputRules | undefined;
}

const firstAnswerMs = 10_000;

/** Records, inspects and judges a command; throws a `NacreError` unless it may run. */
export async function admit(
  deps: EngineDeps,
  request: StartRequest,
  call: JourneyContext,
): Promise<Admission> {
  const { audit, backend, ownRecords } = deps;
  const { id, caller, owner, rules, signal } = call;
  const { on, cwd: requestedCwd, env = {}, sandbox, stdin } = request;
  const session = request.session ?? request.beginsAs;
  const input = typeof stdin === 'object' ? stdin.text : null;

  const command = await quotePaths(backend, { ...request, session });
  ownRecords.claim(id, owner);
  const { connection, inBackground } = call;
  const { name, terminal } = request;
  const from = { connection, shell: request.session, name, inBackground, terminal: terminal !== undefined };
  const inspect = () => inspectPlace(deps, { on, cwd: requestedCwd, session }, call);
  // A machine reports its secrets in its first answer, and the record must not contain them.
  const inspected = on === undefined ? undefined : inspect();
  if (inspected) await settlesWithin(inspected, firstAnswerMs).catch(() => {});
  audit.recordSoon({ kind: 'asked', id, caller, command, cwd: requestedCwd, env, from, machine: on });
  const { facts, cwd, notes: placeNotes } = await (inspected ?? inspect());
  const knownStdin = input === null ? ({ kind: 'none' } as const) : ({ kind: 'text', text: input } as const);
  const context = { env, stdin: knownStdin, lasting: session !== undefined };
  const decision = deps.decisions.decide(command, context, facts, rules);
  recordDecision(deps, call, { cwd, decision, machine: facts.machine });
  if (decision.verdict === 'deny') throw deniedError(decision);
  const notes = [...placeNotes];
  const asksAfter = call.asksAfter === true && decision.changes === 'hold';
  const asked = { command, on, cwd, env, input, into: session ?? null, sandbox: sandbox ?? null };
  if (decision.verdict === 'ask' && !call.dryRun && !asksAfter) {
    const approved = { decision, asked, id, caller, owner, connection, signal };
    const { note } = await requireApproval(deps, approved, call.askUser);
    if (note !== undefined) notes.push(`The user approved this and says: ${note}`);
  }
  if (signal?.aborted) throw cancelledBeforeStart();
  const isAskedAfter = decision.verdict === 'ask' && asksAfter;
  // Before the user has approved it, the command must not change files that no layer covers.
  const isolation = {
    sandbox,
    workspace: decideWorkspace(facts, call.cwdRoots),
    ...(isAskedAfter && { confined: true }),
  };
  const inputJudge = stdin === 'open' ? createInputJudge({ command, env, facts, rules }) : undefined;
  const judgedBy = inputJudge && { env, facts, rules };
  return {
    command,
    cwd,
    machine: facts.machine,
    decision,
    isolation,
    notes,
    inputJudge,
    judgedBy,
    ...(isAskedAfter && { toAsk: asked }),
  };
}

/** Error for a call whose `signal` fired before its command was started. */
export function cancelledBeforeStart(): NacreError {
  return cancelled('The call was cancelled before its command was started.');
}

// The record of an allowed command may be queued: its `started` record, which precedes any effect, writes the queue too.
// A denial or a question to the user is an effect itself, so it is recorded immediately.
function recordDecision(
  { audit }: EngineDeps,
  call: JourneyContext,
  decided: Pick<Admission, 'cwd' | 'decision' | 'machine'>,
): void {
  const entry = { kind: 'decided', id: call.id, caller: call.caller, ...decided } as const;
  if (decided.decision.verdict === 'allow') audit.recordSoon(entry);
  else audit.record(entry);
}

// Matches two adjacent words that are not options: most scripts have none and need no `backend.inspect` for paths.
const adjacentWords = /[\w./] [\w./]/;
const maxQuotableChars = 8_192;

/** Puts quotes around unquoted words that together name an existing path; the policy judges the result. */
async function quotePaths(
  backend: EngineDeps['backend'],
  { on, command, cwd, session, quotePaths: isWanted }: StartRequest,
): Promise<Command> {
  if (!isWanted || command.kind === 'argv') return command;
  const groups = findCandidates(command.script);
  if (groups.length === 0) return command;
  const paths = [...new Set(groups.flatMap(({ words }) => [words.join(' '), ...words]))];
  const { existing = [] } = await backend.inspect({
    machine: on,
    cwd,
    roots: [],
    programs: [],
    session,
    paths,
  });
  return { kind: 'shell', script: quoteSpacedPaths(command.script, groups, new Set(existing)) };
}

function findCandidates(script: string) {
  if (script.length > maxQuotableChars || !adjacentWords.test(script)) return [];
  try {
    return findSpacedWords(script);
  } catch {
    // Nested too deeply to be parsed: `decide` refuses such a script.
    return [];
  }
}
