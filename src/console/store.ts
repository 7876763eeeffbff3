// Shared by every page: the state of the servers, kept current by the socket. It has running commands only, so that a
// page that is open for days stays small; pages fetch lists of commands themselves.
import { computed, signal } from '@preact/signals';
import {
  type AgentCard,
  type CommandCard,
  type ConsoleMessage,
  maxFailed,
  type NowReply,
  type QuestionCard,
  type RecordRow,
} from '../contract/console.ts';
import { connectWorker } from './bridge.ts';
import { isOpen, isProblem } from './card-states.ts';
import { isNarrow } from './screen.ts';

/** The last state of the servers; undefined until the first one arrives. */
export const now = signal<NowReply | undefined>(undefined);
/** The state of the socket. */
export const link = signal<{
  readonly state: 'opening' | 'open' | 'lost';
  readonly again: number;
  readonly reason: string;
}>({ state: 'opening', again: 0, reason: '' });
/** True once the server has refused this browser. */
export const isSignedOut = signal(false);
/** The current time, for durations; it moves once a second. */
export const clock = signal(Date.now());
/** The command whose page was opened last. */
export const opened = signal<CommandCard | undefined>(undefined);
/** Incremented when everything has to be fetched again. */
export const generation = signal(0);

/** The user's home directory. A component that reads it is not rendered again by every change of `now`. */
export const home = computed(() => now.value?.home ?? '');
/** The current day, for times that are shown without their date. */
export const today = computed(() => new Date(clock.value).toDateString());
/** Commands that wait for input. */
export const awaitingInput = computed(() => now.value?.running.filter(({ awaiting }) => awaiting) ?? []);
/** How many commands run, without those that wait for an approval. */
export const runningCount = computed(
  () => now.value?.running.filter(({ state }) => state !== 'waiting').length ?? 0,
);
/** How many approval requests and prompts wait for a person. */
export const waitingCount = computed(() => (now.value?.questions.length ?? 0) + awaitingInput.value.length);
/** Whether this page may act, as an operator's may. */
export const mayAct = computed(() => now.value?.page.role === 'operator');

/** The agent with a key, if it is among those of the last state. */
export function agentOf(key: string): AgentCard | undefined {
  return now.value?.agents.find((agent) => agent.key === key);
}

/** The open questions of an agent for its pages; none on phones, where `QuestionSheet` shows them without scrolling. */
export function questionsOf(agent: string): readonly QuestionCard[] {
  if (isNarrow.value) return [];
  return now.value?.questions.filter((question) => question.agent === agent) ?? [];
}

type CardListener = (cards: readonly CommandCard[]) => void;
const cardListeners = new Set<CardListener>();
const recordListeners = new Set<(records: readonly RecordRow[]) => void>();

/** Calls a function with every command that changes. */
export function onCards(listener: CardListener): () => void {
  cardListeners.add(listener);
  return () => void cardListeners.delete(listener);
}

/** Calls a function with new records, while `watchRecords` is on. */
export function onRecords(listener: (records: readonly RecordRow[]) => void): () => void {
  recordListeners.add(listener);
  return () => void recordListeners.delete(listener);
}

function addCards(cards: readonly CommandCard[]): void {
  const state = now.value;
  if (!state || cards.length === 0) return;
  const byId = new Map(cards.map((card) => [card.id, card]));
  const known = new Set(state.running.map(({ id }) => id));
  const kept = state.running.map((card) => byId.get(card.id) ?? card).filter(isOpen);
  const begun = cards.filter((card) => isOpen(card) && !known.has(card.id));
  const ended = cards.filter(isProblem).toReversed();
  const failed = [...ended, ...state.failed.filter(({ id }) => !byId.has(id))].slice(0, maxFailed);
  now.value = { ...state, running: [...begun.toReversed(), ...kept], failed };
}

let isWatching = false;

function receive(message: ConsoleMessage): void {
  if (message.type === 'now') {
    now.value = message.now;
    for (const listener of cardListeners) listener(message.now.running);
    // Changes from before the socket was open are in no message, so pages fetch once more.
    if (!isWatching) generation.value += 1;
    isWatching = true;
  }
  if (message.type === 'live') {
    addCards(message.cards);
    if (now.value && Object.keys(message.change).length > 0) now.value = { ...now.value, ...message.change };
    for (const listener of cardListeners) listener(message.cards);
  }
  if (message.type === 'records') for (const listener of recordListeners) listener(message.records);
  if (message.type === 'reset') generation.value += 1;
}

/** Connects to the server, or finds out that this browser is not signed in. */
export async function startStore(): Promise<void> {
  setInterval(() => {
    clock.value = Date.now();
  }, 1_000);
  const reply = await fetch('/api/now').catch(() => undefined);
  if (reply?.status === 401) {
    isSignedOut.value = true;
    return;
  }
  if (reply?.ok) now.value = (await reply.json()) as NowReply;
  connectWorker((message) => {
    if (message.type === 'server') return receive(message.message);
    const { state, againInMs, reason } = message;
    link.value = { state, again: Date.now() + againInMs, reason };
    if (state === 'lost') void checkSession();
  });
}

async function checkSession(): Promise<void> {
  const reply = await fetch('/api/now').catch(() => undefined);
  if (reply?.status === 401) isSignedOut.value = true;
}
