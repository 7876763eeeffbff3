import type { Decision } from '../../contract/decision.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { CommandRequest } from '../../contract/request.ts';
import { decide } from '../../policy/decide.ts';
import { decideWorkspace } from '../../policy/decide-workspace.ts';
import type { CommandContext } from '../../policy/plan.ts';
import { understand } from '../../policy/understand.ts';
import type { InputJudge } from '../../sessions/command-registry.ts';
import { type Answer, type AskPerson, approval, type Question, refused } from '../approval/approval.ts';
import type { EngineParts, RunContext } from '../run.ts';
import { createInputJudge } from '../typing/judge-input.ts';
import { cancelledBeforeStart } from './follow.ts';
import { inspectPlace } from './inspect-place.ts';

/** What is known of a command that may run. */
export interface Admission {
  /** The canonical directory to run in. */
  readonly cwd: string;
  readonly decision: Decision;
  /** What it asks for beyond the settings' isolation. */
  readonly isolation: JobSpec['isolation'];
  /** What the caller should know of the place. */
  readonly notes: readonly string[];
  /** Judges what is typed into it later, where that would run as commands. */
  readonly inputJudge: InputJudge | undefined;
}

/** What a command will find on its stdin: a text that is known now, nothing, or what a caller types while it runs. */
export type ExpectedInput = NonNullable<CommandContext['stdin']>;

/**
 * The first half of every command's journey: record what is asked, understand, inspect, decide, record the decision,
 * and ask a person where the rules want that. Throws for what may not run.
 */
export async function admit(
  parts: EngineParts,
  id: string,
  request: Pick<CommandRequest, 'command' | 'cwd' | 'env' | 'session' | 'sandbox'> & {
    readonly stdin: ExpectedInput;
  },
  context: Pick<
    RunContext,
    | 'caller'
    | 'owner'
    | 'rules'
    | 'cwdRoots'
    | 'cwdNames'
    | 'refuseSensitive'
    | 'workspace'
    | 'askPerson'
    | 'signal'
    | 'dryRun'
  >,
): Promise<Admission> {
  const { audit } = parts;
  const { caller, rules } = context;
  const { command, env = {}, stdin } = request;
  parts.ownRecords.claim(id, context.owner);
  audit.recordSoon({ kind: 'asked', id, caller, command, cwd: request.cwd, env });
  const { facts, cwd, notes } = await inspectPlace(parts, request, context);
  // What is typed later is judged when it is typed.
  const known = stdin.kind === 'later' ? ({ kind: 'none' } as const) : stdin;
  const lasting = request.session !== undefined;
  const decision = decide(understand(command, { env, stdin: known, lasting }), facts, rules);
  const decided = { kind: 'decided', id, caller, cwd, decision } as const;
  // What is allowed is recorded as started before anything happens; every other answer is an effect of its own.
  if (decision.verdict === 'allow') audit.recordSoon(decided);
  else audit.record(decided);
  const asked = {
    command,
    cwd,
    env,
    input: stdin.kind === 'text' ? stdin.text : null,
    into: request.session ?? null,
    sandbox: request.sandbox ?? null,
  };
  const ask = context.askPerson ?? parts.inbox?.ask;
  const question = { decision, asked, id, caller, owner: context.owner, signal: context.signal };
  const approved = await obey(question, context.dryRun ? async () => ({ kind: 'approved' }) : ask);
  if (approved && !context.dryRun) audit.record({ kind: 'approved', id, caller, by: approved.by });
  if (context.signal?.aborted) throw cancelledBeforeStart();
  const isolation = { sandbox: request.sandbox, workspace: decideWorkspace(facts, context.cwdRoots) };
  const inputJudge = stdin.kind === 'later' ? createInputJudge({ request, facts, rules }) : undefined;
  return { cwd, decision, isolation, notes, inputJudge };
}

/** Passes what is allowed; tells of the approval where a person had to give one. Throws for everything else. */
export async function obey(
  question: Question,
  askPerson: AskPerson | undefined,
): Promise<Extract<Answer, { readonly kind: 'approved' }> | undefined> {
  const { decision } = question;
  if (decision.verdict === 'deny') throw refused(decision);
  if (decision.verdict === 'allow') return undefined;
  return approval(question, askPerson);
}

/** Records that a command is about to be started, and what it will find on its stdin. */
export function recordStart(
  { audit }: EngineParts,
  { id, caller, cwd }: { readonly id: string; readonly caller: RunContext['caller']; readonly cwd: string },
  input: string | undefined,
): void {
  const started = { kind: 'started', id, caller, cwd } as const;
  if (input === undefined) {
    audit.record(started);
    return;
  }
  audit.recordSoon(started);
  audit.record({ kind: 'input', id, caller, text: input, keys: [], eof: true, secret: false });
}

/** Records what kept a command from running, or from being followed, and passes it on. */
export async function recordFailure<T>(
  { audit }: EngineParts,
  { id, caller }: { readonly id: string; readonly caller: RunContext['caller'] },
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    audit.tryRecord({ kind: 'failed', id, caller, error });
    throw error;
  }
}
