// Questions that wait for a person at another terminal:
// 1. a command that needs approval leaves a question, and its caller is told the question's id,
// 2. the person answers by that id, which is recorded, 3. the same call, made again, finds the answer: an approval lets it
// run once, a denial holds until the deadline. Where commands could answer for themselves, nothing is asked at all.
import type { Caller } from '../../contract/caller.ts';
import { NacreError } from '../../contract/failure.ts';
import { createBell } from '../../support/bell.ts';
import { createId } from '../../support/create-id.ts';
import type { Answer, Asked, AskPerson, Question } from './approval.ts';

/** A question as people see it. */
export interface WaitingApproval {
  readonly id: string;
  readonly asked: Asked;
  readonly reason: string;
  readonly caller: Caller;
  readonly secondsLeft: number;
}

/** The questions of one server. */
export interface ApprovalInbox {
  readonly ask: AskPerson;
  /** What waits, oldest first; `off` says why nothing can. */
  list(): Promise<{ readonly off: string | null; readonly waiting: readonly WaitingApproval[] }>;
  /** Answers one question on behalf of a person. */
  answer(id: string, answer: 'approved' | 'declined', by: string): WaitingApproval;
}

/** What an inbox needs. */
export interface InboxParts {
  /** How long a question waits for its answer, and an approval for its command. */
  readonly deadlineMs: number;
  /** Makes the inbox reachable for people. */
  open(): Promise<void>;
  /** Why commands could answer for themselves; null where they cannot. */
  whyOff(): Promise<string | null>;
  /** Records an answer before it counts. */
  record(question: Question, answer: 'approved' | 'declined', by: string): void;
}

interface Entry {
  readonly id: string;
  readonly key: string;
  readonly question: Question;
  deadline: number;
  answer: Answer | null;
}

// Below the minute after which clients give up on a call.
const patienceMs = 20_000;
const mostWaiting = 100;
// What all questions together may hold, so that a person can still be shown them.
const mostChars = 4_194_304;

/** Makes the inbox of a server. */
export function createApprovalInbox({ deadlineMs, open, whyOff, record }: InboxParts): ApprovalInbox {
  const entries = new Map<string, Entry>();
  const bell = createBell();
  const current = () => {
    for (const { id, deadline } of entries.values()) if (deadline <= Date.now()) entries.delete(id);
    return [...entries.values()];
  };
  const leave = async (question: Question, key: string): Promise<Answer> => {
    const why = await whyOff();
    if (why !== null) return { kind: 'cannot_ask', why };
    const waitingChars = current().reduce((sum, entry) => sum + entry.key.length, 0);
    if (current().length >= mostWaiting || waitingChars + key.length > mostChars)
      return { kind: 'cannot_ask', why: tooMuch };
    const shut = await open().catch((error: Error) => error);
    if (shut) return { kind: 'cannot_ask', why: `Nobody can be asked from here: ${shut.message}.` };
    const entry: Entry = {
      id: createId('apr'),
      key,
      question,
      deadline: Date.now() + deadlineMs,
      answer: null,
    };
    entries.set(entry.id, entry);
    return toWaits(entry);
  };
  const answered = async (entry: Entry, signal: AbortSignal | undefined) => {
    const until = Math.min(Date.now() + patienceMs, entry.deadline);
    signal?.addEventListener('abort', bell.ring, { once: true });
    while (entry.answer === null && Date.now() < until && !signal?.aborted)
      await bell.heard(until - Date.now());
    signal?.removeEventListener('abort', bell.ring);
  };
  return {
    async ask(question) {
      const key = toKey(question);
      const entry = current().find((one) => one.key === key);
      if (!entry) return leave(question, key);
      await answered(entry, question.signal);
      // Two of the same calls may have waited; an approval is for one.
      if (!current().includes(entry)) return { kind: 'no_answer' };
      if (entry.answer?.kind === 'approved') entries.delete(entry.id);
      return entry.answer ?? toWaits(entry);
    },
    async list() {
      const waiting = current().filter(({ answer }) => answer === null);
      return { off: await whyOff(), waiting: waiting.map(toView) };
    },
    answer(id, kind, by) {
      const entry = current().find((one) => one.id === id);
      if (!entry || entry.answer) throw unknownQuestion(id, entry?.answer?.kind);
      record(entry.question, kind, by);
      entry.answer = { kind, by };
      entry.deadline = Date.now() + deadlineMs;
      bell.ring();
      return toView(entry);
    },
  };
}

const tooMuch = 'Too many commands wait for approval already, or this one is too long to be judged.';

function toKey({ asked, owner, caller }: Question): string {
  return JSON.stringify([owner, caller.door, caller.client, asked]);
}

function toWaits(entry: Entry): Answer {
  return { kind: 'waits', approvalId: entry.id, secondsLeft: secondsLeft(entry) };
}

function toView(entry: Entry): WaitingApproval {
  const { asked, decision, caller } = entry.question;
  return { id: entry.id, asked, reason: decision.reason, caller, secondsLeft: secondsLeft(entry) };
}

function secondsLeft({ deadline }: Entry): number {
  return Math.max(0, Math.ceil((deadline - Date.now()) / 1_000));
}

function unknownQuestion(id: string, answer: string | undefined): NacreError {
  const message = answer === undefined ? `Nothing waits as ${id}.` : `${id} has been ${answer} already.`;
  return new NacreError('job_not_found', message, { hint: 'nacre approvals lists what waits.' });
}
