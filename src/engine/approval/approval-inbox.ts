// Approval from another terminal, for callers that cannot prompt:
// 1. `ask` stores a request and the call fails with `approval_required` and the request's id
// 2. the user answers by that id with `nacre approvals`; `answer` records it
// 3. when the same call is repeated, it finds the answer: an approval lets it run once, a denial is valid until the
// deadline While a person can see the requests (`attend`), step 1 waits for the answer, so that the call need not be
// repeated. `whyOff` turns all of this off if commands could reach the socket and approve themselves. With `saved`, a
// request outlives its server: an orphan is listed and answered by every server of the project.
import { createHash } from 'node:crypto';
import type { Caller } from '../../contract/caller.ts';
import type { FoundProgram } from '../../contract/decision.ts';
import { NacreError } from '../../contract/failure.ts';
import { createId } from '../../support/ids.ts';
import { createNotifier } from '../../support/timing.ts';
import type { ApprovalAnswer, ApprovalRequest, ApprovalSubject, AskUser } from './approval.ts';
import type { OrphanRequest, SavedAnswer, SavedApprovals } from './saved-approvals.ts';

/** A request as `nacre approvals` lists it. */
export interface PendingApproval {
  readonly id: string;
  readonly asked: ApprovalSubject;
  readonly reason: string;
  readonly caller: Caller;
  readonly secondsLeft: number;
  /** The id of the command that asked first. */
  readonly command: string;
  /** The ids of the commands that wait for the answer now; a repeated call has an id of its own. */
  readonly calls: readonly string[];
  readonly connection: string | null;
  readonly rule: string;
  readonly programs: readonly FoundProgram[];
  /** SHA-256 of the request; `GivenReply.digest` has to match it. */
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
  /** Notes that a person can see the requests for this long: calls that need approval wait for the answer. */
  attend(ms: number): void;
  /** Calls the listener when a request is stored, answered or expired; the returned function unsubscribes. */
  listen(listener: () => void): () => void;
}

/** Dependencies of an inbox. */
export interface InboxDeps {
  /** How long a request waits for its answer, and after that an approval for its call. */
  readonly deadlineMs: number;
  /** Opens the control socket, through which the user answers. */
  open(): Promise<void>;
  /** Why commands could approve themselves; null if they cannot. */
  whyOff(): Promise<string | null>;
  /** Records an answer before it takes effect. */
  record(request: ApprovalRequest, kind: 'approved' | 'declined', answer: GivenReply): void;
  /** Requests on disk, of this server and of earlier ones; absent if they end with the server. */
  readonly saved?: SavedApprovals | undefined;
}

interface Entry {
  readonly id: string;
  readonly request: ApprovalRequest;
  readonly chars: number;
  /** True if its server has ended: it waits on disk, where another server may answer or use it. */
  readonly isOrphan: boolean;
  deadline: number;
  answer: SavedAnswer | null;
}

// A call waits this long for the answer, well below the minute after which clients drop a call.
const answerWaitMs = 20_000;
const attendedWaitMs = 45_000;
const longestNote = 2_000;
const maxRequests = 100;
// Limit on all requests together, so that `list` fits into one reply on the control socket.
const maxChars = 4_194_304;
// How often a waiting call polls for the answer to the request of a dead server.
const pollMs = 250;

/** Creates the inbox of a server. */
export function createApprovalInbox(deps: InboxDeps): ApprovalInbox {
  const requests = new WaitingRequests(deps);
  return {
    ask: (request) => requests.ask(request),
    async list() {
      const off = await deps.whyOff();
      const waiting = requests.waiting(off === null);
      return { off, waiting: waiting.map((entry) => requests.view(entry)) };
    },
    answer: (id, kind, given) => requests.view(requests.answer(id, kind, given)),
    attend: (ms) => requests.attend(ms),
    listen: (listener) => requests.listen(listener),
  };
}

class WaitingRequests {
  readonly #deps: InboxDeps;
  /** The requests of this process by `toKey`. */
  readonly #entries = new Map<string, Entry>();
  /** The ids of the commands whose calls wait for the answer, by the id of the request. */
  readonly #calls = new Map<string, Set<string>>();
  readonly #notifier = createNotifier();
  readonly #listeners = new Set<() => void>();
  #attendedUntil = 0;

  constructor(deps: InboxDeps) {
    this.#deps = deps;
  }

  async ask(request: ApprovalRequest): Promise<ApprovalAnswer> {
    const key = toKey(request);
    const known = this.#current().get(key) ?? (await this.#findOrphan(request));
    const entry = known ?? (await this.#store(request, key));
    if (!('request' in entry)) return entry;
    const calls = this.#callsOf(entry);
    calls.add(request.id);
    await this.#waitForAnswer(entry, request.signal, known !== undefined);
    calls.delete(request.id);
    if (calls.size === 0) this.#calls.delete(entry.id);
    const isGone = entry.isOrphan ? entry.deadline <= Date.now() : this.#current().get(key) !== entry;
    // Two equal calls may have waited for the answer; an approval lets only one of them run.
    if (isGone || (entry.answer?.kind === 'approved' && !this.#take(entry, key)))
      return { kind: 'no_answer' };
    return entry.answer ?? toWaits(entry);
  }

  /** Unanswered requests; those of dead servers only if commands could not have written them. */
  waiting(withOrphans: boolean): readonly Entry[] {
    const all = [...this.#current().values(), ...(withOrphans ? this.#orphans() : [])];
    return all.filter(({ answer }) => answer === null);
  }

  answer(id: string, kind: 'approved' | 'declined', { by, digest, note }: GivenReply): Entry {
    const { saved, record, deadlineMs } = this.#deps;
    const all = [...this.#current().values(), ...this.#orphans()];
    const entry = all.find((one) => one.id === id);
    if (!entry || entry.answer) throw unknownRequest(id, entry?.answer?.kind);
    if (digest !== undefined && digest !== toDigest(entry)) throw otherRequest(id);
    const said = note?.trim().slice(0, longestNote) || undefined;
    const answer = { kind, by, note: said };
    const deadline = Date.now() + deadlineMs;
    // The record gets the id of the waiting call that runs with this answer; the command that asked first may have
    // ended.
    const [call = entry.request.id] = this.#calls.get(id) ?? [];
    record({ ...entry.request, id: call }, kind, { by, note: said });
    const isSaved = trySaving(() => saved?.answer(id, answer, deadline));
    if (entry.isOrphan && isSaved !== true) throw unknownRequest(id, 'answered');
    Object.assign(entry, { answer, deadline });
    this.#notifier.notifyAll();
    if (!this.#calls.has(entry.id) && entry.request.onLateAnswer) {
      this.#entries.delete(toKey(entry.request));
      entry.request.onLateAnswer(kind);
    }
    this.#changed();
    return entry;
  }

  view(entry: Entry): PendingApproval {
    return toView(entry, [...(this.#calls.get(entry.id) ?? [])]);
  }

  attend(ms: number): void {
    this.#attendedUntil = Math.max(this.#attendedUntil, Date.now() + Math.min(ms, attendedWaitMs));
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #callsOf({ id }: Entry): Set<string> {
    const calls = this.#calls.get(id) ?? new Set();
    this.#calls.set(id, calls);
    return calls;
  }

  async #store(request: ApprovalRequest, key: string): Promise<ApprovalAnswer | Entry> {
    const { whyOff, open, saved, deadlineMs } = this.#deps;
    const why = await whyOff();
    if (why !== null) return { kind: 'cannot_ask', why };
    const all = [...this.#current().values(), ...this.#orphans()];
    const usedChars = all.reduce((sum, { chars }) => sum + chars, 0);
    if (all.length >= maxRequests || usedChars + key.length > maxChars)
      return { kind: 'cannot_ask', why: inboxFull };
    const failure = await open().catch((error: Error) => error);
    if (failure) return { kind: 'cannot_ask', why: `The user cannot be asked: ${failure.message}.` };
    const deadline = Date.now() + deadlineMs;
    const own = { isOrphan: false, deadline, answer: null };
    const entry: Entry = { id: createId('apr'), request, chars: key.length, ...own };
    // On a full disk, the request is pending in this process only.
    trySaving(() => saved?.save(entry.id, request, deadline));
    this.#entries.set(key, entry);
    this.#changed();
    return entry;
  }

  // A repeated call always waits; a new one only while a person can see the requests.
  async #waitForAnswer(entry: Entry, signal: AbortSignal | undefined, isEarlier: boolean): Promise<void> {
    const notifier = this.#notifier;
    const begin = Date.now();
    const leftMs = () => {
      const attended = Math.min(this.#attendedUntil, begin + attendedWaitMs);
      const until = Math.min(entry.deadline, Math.max(attended, isEarlier ? begin + answerWaitMs : 0));
      return until - Date.now();
    };
    signal?.addEventListener('abort', notifier.notifyAll, { once: true });
    while (entry.answer === null && leftMs() > 0 && !signal?.aborted) {
      await notifier.wait(entry.isOrphan ? Math.min(pollMs, leftMs()) : leftMs());
      if (entry.isOrphan) Object.assign(entry, this.#orphans().find(({ id }) => id === entry.id) ?? gone);
    }
    signal?.removeEventListener('abort', notifier.notifyAll);
  }

  // Its approval is removed from the disk before the command runs, so that a later process cannot use it again.
  #take({ id, isOrphan }: Entry, key: string): boolean {
    const isFirst = this.#deps.saved?.take(id) ?? true;
    if (isOrphan) return isFirst;
    return this.#entries.delete(key);
  }

  // If commands can reach the folder, one of them could have written its own approval.
  async #findOrphan(request: ApprovalRequest): Promise<Entry | undefined> {
    const found = this.#deps.saved?.findOrphan(request);
    return found && (await this.#deps.whyOff()) === null ? toEntry(found) : undefined;
  }

  #orphans(): readonly Entry[] {
    let left = maxChars;
    const all = this.#deps.saved?.orphans().map(toEntry) ?? [];
    return all.slice(0, maxRequests).filter(({ chars }) => {
      left -= chars;
      return left > 0;
    });
  }

  #current(): ReadonlyMap<string, Entry> {
    for (const [key, { id, deadline }] of this.#entries) {
      if (deadline > Date.now()) continue;
      this.#entries.delete(key);
      trySaving(() => this.#deps.saved?.take(id));
    }
    return this.#entries;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Replaces the request of a dead server once an equal call in another process has used it up. */
const gone = { deadline: 0, answer: null };

function toEntry(orphan: OrphanRequest): Entry {
  const chars = JSON.stringify(orphan.request.asked).length;
  return { ...orphan, chars, isOrphan: true };
}

function trySaving<Result>(step: () => Result): Result | undefined {
  try {
    return step();
  } catch {
    return undefined;
  }
}

const inboxFull = 'Too many commands wait for approval already, or this one is too long to show.';

function toKey({ asked, owner, caller }: ApprovalRequest): string {
  return JSON.stringify([owner, caller.door, caller.client, asked]);
}

function toWaits(entry: Entry): ApprovalAnswer {
  return { kind: 'waits', approvalId: entry.id, secondsLeft: secondsLeft(entry) };
}

function toView(entry: Entry, calls: readonly string[]): PendingApproval {
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
    calls,
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
  return new NacreError('invalid_request', `The answer is for another version of the request ${id}.`, {
    hint: 'Read the request again, and answer the version that is shown.',
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
