// Approval from another terminal, for callers that cannot prompt:
// 1. `ask` stores a request and the call fails with `approval_required` and the request's id
// 2. the user answers by that id with `nacre approvals`; `answer` records it
// 3. the same call, made again, finds the answer: an approval lets it run once, a denial is valid until the deadline
// While a person looks at the requests (`attend`), step 1 waits for the answer, so that the call need not be made again.
// `whyOff` turns all of this off if commands could reach the socket and approve themselves.
import { createHash } from 'node:crypto';
import type { Caller } from '../../contract/caller.ts';
import type { FoundProgram } from '../../contract/decision.ts';
import { NacreError } from '../../contract/failure.ts';
import { createId } from '../../support/ids.ts';
import { createNotifier } from '../../support/timing.ts';
import type { ApprovalAnswer, ApprovalRequest, ApprovalSubject, AskUser } from './approval.ts';

/** A request as `nacre approvals` lists it. */
export interface PendingApproval {
  readonly id: string;
  readonly asked: ApprovalSubject;
  readonly reason: string;
  readonly caller: Caller;
  readonly secondsLeft: number;
  /** The id of the command that waits. */
  readonly command: string;
  readonly connection: string | null;
  readonly rule: string;
  readonly programs: readonly FoundProgram[];
  /** SHA-256 of what is asked; `GivenReply.digest` has to match it. */
  readonly digest: string;
}

/** An answer to a request: the person, the request that was shown, and a note. */
export interface GivenReply {
  readonly by: string;
  /** The `PendingApproval.digest` that was shown; an answer with another one is refused. */
  readonly digest?: string | undefined;
  /** A sentence for the agent. */
  readonly note?: string | undefined;
}

/** The approval requests of one server. */
export interface ApprovalInbox {
  readonly ask: AskUser;
  /** Unanswered requests, oldest first; `off` is the reason if approval from another terminal is off. */
  list(): Promise<{ readonly off: string | null; readonly waiting: readonly PendingApproval[] }>;
  /** Answers one request; throws if it is unknown or answered, or if `digest` is that of another one. */
  answer(id: string, kind: 'approved' | 'declined', answer: GivenReply): PendingApproval;
  /** A person looks at the requests for this long: calls that ask wait for the answer. */
  attend(ms: number): void;
  /** Calls the listener when a request is stored, answered or expired; the returned function unsubscribes. */
  listen(listener: () => void): () => void;
}

/** Dependencies of an inbox. */
export interface InboxDeps {
  /** How long a request waits for its answer, and then an approval for its call. */
  readonly deadlineMs: number;
  /** Opens the control socket, through which the user answers. */
  open(): Promise<void>;
  /** Why commands could approve themselves; null if they cannot. */
  whyOff(): Promise<string | null>;
  /** Records an answer before it takes effect. */
  record(request: ApprovalRequest, kind: 'approved' | 'declined', answer: GivenReply): void;
}

interface Entry {
  readonly id: string;
  readonly key: string;
  readonly request: ApprovalRequest;
  deadline: number;
  answer: ApprovalAnswer | null;
}

// Well below the minute after which clients drop a call.
const answerWaitMs = 20_000;
const attendedWaitMs = 45_000;
const longestNote = 2_000;
const maxRequests = 100;
// Limit on all requests together, so that `list` fits into one reply on the control socket.
const maxChars = 4_194_304;

/** Creates the inbox of a server. */
export function createApprovalInbox({ deadlineMs, open, whyOff, record }: InboxDeps): ApprovalInbox {
  const entries = new Map<string, Entry>();
  const notifier = createNotifier();
  const listeners = new Set<() => void>();
  let attendedUntil = 0;
  const changed = () => {
    for (const listener of listeners) listener();
  };
  const current = () => {
    for (const { id, deadline } of entries.values()) if (deadline <= Date.now()) entries.delete(id);
    return [...entries.values()];
  };
  const store = async (request: ApprovalRequest, key: string): Promise<ApprovalAnswer | Entry> => {
    const why = await whyOff();
    if (why !== null) return { kind: 'cannot_ask', why };
    const usedChars = current().reduce((sum, entry) => sum + entry.key.length, 0);
    if (current().length >= maxRequests || usedChars + key.length > maxChars)
      return { kind: 'cannot_ask', why: inboxFull };
    const failure = await open().catch((error: Error) => error);
    if (failure) return { kind: 'cannot_ask', why: `The user cannot be asked: ${failure.message}.` };
    const entry: Entry = {
      id: createId('apr'),
      key,
      request,
      deadline: Date.now() + deadlineMs,
      answer: null,
    };
    entries.set(entry.id, entry);
    changed();
    return entry;
  };
  // A call that was made before waits in any case, a new one only while a person looks at the requests.
  const waitForAnswer = async (entry: Entry, signal: AbortSignal | undefined, isEarlier: boolean) => {
    const begin = Date.now();
    const until = () => {
      const attended = Math.min(attendedUntil, begin + attendedWaitMs);
      return Math.min(entry.deadline, Math.max(attended, isEarlier ? begin + answerWaitMs : 0));
    };
    signal?.addEventListener('abort', notifier.notifyAll, { once: true });
    while (entry.answer === null && Date.now() < until() && !signal?.aborted)
      await notifier.wait(Math.max(1, until() - Date.now()));
    signal?.removeEventListener('abort', notifier.notifyAll);
  };
  return {
    async ask(request) {
      const key = toKey(request);
      const known = current().find((one) => one.key === key);
      const entry = known ?? (await store(request, key));
      if (!('request' in entry)) return entry;
      await waitForAnswer(entry, request.signal, known !== undefined);
      // Two equal calls may have waited for it; an approval lets one of them run.
      if (!current().includes(entry)) return { kind: 'no_answer' };
      if (entry.answer?.kind === 'approved') entries.delete(entry.id);
      return entry.answer ?? toWaits(entry);
    },
    async list() {
      const waiting = current().filter(({ answer }) => answer === null);
      return { off: await whyOff(), waiting: waiting.map(toView) };
    },
    answer(id, kind, { by, digest, note }) {
      const entry = current().find((one) => one.id === id);
      if (!entry || entry.answer) throw unknownRequest(id, entry?.answer?.kind);
      if (digest !== undefined && digest !== toDigest(entry)) throw otherRequest(id);
      const said = note?.trim().slice(0, longestNote) || undefined;
      record(entry.request, kind, { by, note: said });
      entry.answer = { kind, by, note: said };
      entry.deadline = Date.now() + deadlineMs;
      notifier.notifyAll();
      changed();
      return toView(entry);
    },
    attend(ms) {
      attendedUntil = Math.max(attendedUntil, Date.now() + Math.min(ms, attendedWaitMs));
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const inboxFull = 'Too many commands wait for approval already, or this one is too long to show.';

function toKey({ asked, owner, caller }: ApprovalRequest): string {
  return JSON.stringify([owner, caller.door, caller.client, asked]);
}

function toWaits(entry: Entry): ApprovalAnswer {
  return { kind: 'waits', approvalId: entry.id, secondsLeft: secondsLeft(entry) };
}

function toView(entry: Entry): PendingApproval {
  const { asked, decision, caller, id: command, connection = null } = entry.request;
  const { reason, rule, programs } = decision;
  const digest = toDigest(entry);
  const left = secondsLeft(entry);
  return {
    id: entry.id,
    asked,
    reason,
    caller,
    secondsLeft: left,
    command,
    connection,
    rule,
    programs,
    digest,
  };
}

function toDigest({ id, request: { asked } }: Entry): string {
  return createHash('sha256')
    .update(JSON.stringify([id, asked]))
    .digest('hex');
}

function otherRequest(id: string): NacreError {
  return new NacreError('invalid_request', `The answer is not for the request ${id} as it is.`, {
    hint: 'Look at the request again, and answer what is shown.',
  });
}

function secondsLeft({ deadline }: Entry): number {
  return Math.max(0, Math.ceil((deadline - Date.now()) / 1_000));
}

function unknownRequest(id: string, answer: string | undefined): NacreError {
  const message =
    answer === undefined ? `There is no approval request ${id}.` : `${id} has been ${answer} already.`;
  return new NacreError('job_not_found', message, {
    hint: 'Run nacre approvals to list the waiting requests.',
  });
}
