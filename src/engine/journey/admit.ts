import type { Command, CommandContext } from '../../contract/command.ts';
import type { Decision } from '../../contract/decision.ts';
import type { FactsMachine } from '../../contract/facts.ts';
import { cancelled, type NacreError } from '../../contract/failure.ts';
import type { InputRules, JobSpec } from '../../contract/job.ts';
import { decideWorkspace } from '../../policy/decide-place.ts';
import { findSpacedWords, quoteSpacedPaths } from '../../policy/spaced-paths.ts';
import type { InputJudge } from '../../sessions/command-registry.ts';
import { settlesWithin } from '../../support/timing.ts';
import {
  type ApprovalRequest,
  type ApprovalSubject,
  deniedError,
  requireApproval,
} from '../approval/approval.ts';
import type { JourneyContext, StartRequest } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';
import { createInputJudge } from '../typing/judge-input.ts';
import { type InspectedPlace, inspectPlace } from './inspect-place.ts';

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
  const { env = {}, sandbox, stdin } = request;
  const { rules } = call;
  const command = await quotePaths(deps.backend, request);
  deps.ownRecords.claim(call.id, call.owner);
  const { facts, cwd, notes } = await recordAndInspect(deps, command, request, call);
  const { machine } = facts;
  const decision = deps.decisions.decide(command, toContext(request), facts, rules);
  recordDecision(deps, call, { cwd, decision, machine });
  if (decision.verdict === 'deny') throw deniedError(decision);
  const isAsk = decision.verdict === 'ask';
  const asksAfter = isAsk && call.asksAfter === true && decision.changes === 'hold';
  const subject = toSubject(command, cwd, request);
  const approvalNotes =
    isAsk && !asksAfter && !call.dryRun ? await askBefore(deps, { decision, asked: subject }, call) : [];
  if (call.signal?.aborted) throw cancelledBeforeStart();
  const workspace = decideWorkspace(facts, call.cwdRoots);
  const inputJudge = stdin === 'open' ? createInputJudge({ command, env, facts, rules }) : undefined;
  return {
    ...{ command, cwd, machine, decision, inputJudge },
    // Before the user has approved it, the command must not change files that no layer covers.
    isolation: { sandbox, workspace, ...(asksAfter && { confined: true }) },
    notes: [...notes, ...approvalNotes],
    judgedBy: inputJudge && { env, facts, rules },
    ...(asksAfter && { toAsk: subject }),
  };
}

async function recordAndInspect(
  deps: EngineDeps,
  command: Command,
  request: StartRequest,
  call: JourneyContext,
): Promise<InspectedPlace> {
  const { on, cwd, env = {}, name, session: shell, terminal } = request;
  const { id, caller, connection, inBackground } = call;
  const inspect = () => inspectPlace(deps, { on, cwd, session: toSession(request) }, call);
  // A machine reports its secrets in its first answer, and the record must not contain them.
  const inspected = on === undefined ? undefined : inspect();
  if (inspected) await settlesWithin(inspected, firstAnswerMs).catch(() => {});
  const from = { connection, shell, name, inBackground, terminal: terminal !== undefined };
  deps.audit.recordSoon({ kind: 'asked', id, caller, command, cwd, env, from, machine: on });
  return inspected ?? inspect();
}

// The key of the persistent shell that runs the command, or whose state it starts with.
function toSession({ session, beginsAs }: StartRequest): string | undefined {
  return session ?? beginsAs;
}

function toInput({ stdin }: StartRequest): string | null {
  return typeof stdin === 'object' ? stdin.text : null;
}

function toContext(request: StartRequest): CommandContext {
  const input = toInput(request);
  return {
    env: request.env ?? {},
    stdin: input === null ? { kind: 'none' } : { kind: 'text', text: input },
    lasting: toSession(request) !== undefined,
  };
}

function toSubject(command: Command, cwd: string, request: StartRequest): ApprovalSubject {
  const { on, env = {}, sandbox = null } = request;
  return { command, on, cwd, env, input: toInput(request), into: toSession(request) ?? null, sandbox };
}

/** Returns the user's note as a sentence for the caller; throws unless the user approves. */
async function askBefore(
  deps: EngineDeps,
  { decision, asked }: Pick<ApprovalRequest, 'decision' | 'asked'>,
  { id, caller, owner, connection, signal, askUser }: JourneyContext,
): Promise<readonly string[]> {
  const request = { decision, asked, id, caller, owner, connection, signal };
  const { note } = await requireApproval(deps, request, askUser);
  return note === undefined ? [] : [`The user approved this and says: ${note}`];
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
async function quotePaths(backend: EngineDeps['backend'], request: StartRequest): Promise<Command> {
  const { on, command, cwd, quotePaths: isWanted } = request;
  if (!isWanted || command.kind === 'argv') return command;
  const groups = findCandidates(command.script);
  if (groups.length === 0) return command;
  const paths = [...new Set(groups.flatMap(({ words }) => [words.join(' '), ...words]))];
  const { existing = [] } = await backend.inspect({
    machine: on,
    cwd,
    roots: [],
    programs: [],
    session: toSession(request),
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
