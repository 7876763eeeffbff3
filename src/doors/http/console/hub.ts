// Collects what the console's pages show, from all servers of this user:
// 1. `createAuditFeed` passes on every record, `createCommandIndex` folds records into commands,
// 2. while a page is open, the servers are polled once a second for resource usage and approval requests,
// 3. a command that starts is sent to the open pages at once, other changes at most four times a second.
import { existsSync } from 'node:fs';
import { type CommandIndex, createCommandIndex, type IndexedCommand } from '../../../audit/command-index.ts';
import { type AuditFeed, createAuditFeed, type FoundRecord } from '../../../audit/feed.ts';
import type { KeptState } from '../../../contract/backend.ts';
import {
  type AgentCard,
  type AgentList,
  type CommandCard,
  maxFailed,
  type NowChange,
  type NowReply,
  type QuestionCard,
  type RecordRow,
  type ServerCard,
} from '../../../contract/console.ts';
import type { PendingApproval } from '../../../engine/approval/approval-inbox.ts';
import type { ListedCommand } from '../../../engine/commands/commands.ts';
import type { Engine } from '../../../engine/engine.ts';
import { createUsageSeries, type UsageSeries } from '../../../monitor/series.ts';
import { localUser } from '../../../servers/control-call.ts';
import type { ServerStatus } from '../../../servers/server-status.ts';
import { isPaused } from '../../../support/pause-mark.ts';
import { SharedReads } from './observe.ts';
import { pageOfAgents } from './page-of-agents.ts';
import { OtherServers, toServerCard } from './servers.ts';
import {
  isBad,
  type LiveFacts,
  toAgentCards,
  toCommandCard,
  toLiveFacts,
  toQuestionCard,
} from './to-cards.ts';

/** Dependencies of the hub. */
export interface HubDeps {
  readonly engine: () => Promise<Engine>;
  readonly auditDir: string;
  readonly controlDir: string;
  readonly status: () => Promise<ServerStatus>;
  readonly listKept: () => readonly KeptState[];
}

/** A subscribed page. */
export interface HubListener {
  /** True for an operator's page: while one is open, calls that need approval wait for its answer. */
  readonly mayAnswer: boolean;
  /** `token`: everything before it has been passed on, here and with `onRecords`. */
  onLive(cards: readonly CommandCard[], change: NowChange, token: string): void;
  onRecords(records: readonly RecordRow[], token: string): void;
}

/** The part of `NowReply` that is about all servers. */
export type HubState = Omit<NowReply, 'version' | 'address' | 'home' | 'page' | 'applets'>;

/** The state of all servers. */
export interface ConsoleHub {
  readonly index: CommandIndex;
  readonly feed: AuditFeed;
  readonly series: UsageSeries;
  readonly reads: SharedReads;
  /** Resolves once everything that was recorded before the call is in the index, and this server knows its own commands. */
  upToDate(): Promise<void>;
  card(command: IndexedCommand): CommandCard;
  /** A page of the agents, those that were active last first, after the agent at a position. */
  agents(after?: string): AgentList;
  /** The agent with a key, however long ago it was active. */
  agent(key: string): AgentCard | undefined;
  questions(): readonly QuestionCard[];
  servers(): readonly ServerCard[];
  /** The state for a page that opens; waits until the first poll is done. */
  snapshot(): Promise<HubState>;
  listen(listener: HubListener): () => void;
  /** Everything before it has been passed on to the listeners. */
  token(): string;
  /** Polls the servers again soon, because something changed there. */
  refresh(): void;
  close(): void;
}

const pollMs = 1_000;
const liveMs = 250;
// How long records that arrive together are collected, and the minimum time between two messages about commands that
// start.
const gatherMs = 15;
const beginMs = 50;
const attendMs = 6_000;
const recentMs = 3_600_000;
const minutes = 60;

/** The last replies of this server itself. */
interface OwnState {
  readonly server: ServerCard;
  readonly listed: readonly ListedCommand[];
  readonly waiting: readonly PendingApproval[];
  readonly off: string | null;
}

/** Starts the hub of a server. */
export function createConsoleHub(deps: HubDeps): ConsoleHub {
  return new Hub(deps);
}

class Hub implements ConsoleHub {
  readonly index = createCommandIndex();
  readonly series = createUsageSeries();
  readonly reads = new SharedReads();
  readonly feed: AuditFeed;
  readonly #deps: HubDeps;
  readonly #listeners = new Set<HubListener>();
  readonly #changed = new Set<string>();
  #rows: RecordRow[] = [];
  #token = '';
  #live = new Map<string, LiveFacts>();
  readonly #others: OtherServers;
  #own: OwnState | undefined;
  /** The instance of this server's own engine, once there is one. */
  #instance: string | undefined;
  #servers: readonly ServerCard[] = [];
  #kept: ReadonlySet<string> = new Set();
  #keptAt = 0;
  #questions: readonly QuestionCard[] = [];
  #off: string | null = null;
  #agents: { readonly at: number; readonly cards: readonly AgentCard[] } | undefined;
  #sent = '';
  #timerOfSend: { readonly timer: NodeJS.Timeout; readonly due: number } | undefined;
  #lastSend = 0;
  #lastChange = 0;
  #polling: Promise<void> | undefined;
  #pollAgain = false;
  #isClosed = false;
  #unlisten: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(deps: HubDeps) {
    this.#deps = deps;
    this.#others = new OtherServers(deps.controlDir, () => {
      if (this.#own && !this.#isClosed) this.#noteReplies(this.#own);
    });
    this.feed = createAuditFeed(deps.auditDir, {
      onRecords: (records) => this.#add(records),
      isFollowed: () => this.#listeners.size > 0,
    });
    this.#timer = setInterval(() => this.#tick(), pollMs).unref();
  }

  async upToDate(): Promise<void> {
    await Promise.all([this.feed.upToDate(), this.#engine()]);
  }

  async #engine(): Promise<Engine> {
    const engine = await this.#deps.engine();
    this.#instance = engine.instance;
    return engine;
  }

  card(command: IndexedCommand): CommandCard {
    return toCommandCard(command, this.#live.get(command.id), this.#mayRun(command), {
      percent: this.series.cpuPercent(command.id),
      recent: this.series.recentCpu(command.id),
    });
  }

  agents(after?: string): AgentList {
    return pageOfAgents(this.#allAgents(), after);
  }

  agent(key: string): AgentCard | undefined {
    return this.#allAgents().find((agent) => agent.key === key);
  }

  #allAgents(): readonly AgentCard[] {
    const known = this.#agents;
    if (known && Date.now() - known.at < pollMs) return known.cards;
    const here = new Map<string, boolean>();
    const isHere = (server: string) => {
      const found = here.get(server) ?? this.#isHere(server);
      here.set(server, found);
      return found;
    };
    const stateOf = (command: IndexedCommand) =>
      command.end ??
      toCommandCard(command, undefined, this.#kept.has(command.id) || isHere(command.server)).state;
    const cards = toAgentCards(this.index.all(), stateOf, isHere);
    this.#agents = { at: Date.now(), cards };
    return cards;
  }

  questions(): readonly QuestionCard[] {
    return this.#questions;
  }

  servers(): readonly ServerCard[] {
    return this.#servers;
  }

  async snapshot(): Promise<HubState> {
    await this.upToDate();
    // A poll that is running does not include a page that has subscribed since.
    await this.#polling;
    await this.#poll();
    this.#agents = undefined;
    const since = new Date(Date.now() - recentMs).toISOString();
    const running: CommandCard[] = [];
    const failed: CommandCard[] = [];
    for (const command of this.index.all()) {
      const isRecent = (command.ended_at ?? command.asked_at) >= since;
      if (command.end !== null && !isRecent) continue;
      const card = this.card(command);
      if (isOpen(card)) running.push(card);
      else if (isRecent && (isBad(card.state) || card.state === 'refused') && failed.length < maxFailed)
        failed.push(card);
    }
    return { ...this.#change(), running, failed };
  }

  listen(listener: HubListener): () => void {
    if (this.#listeners.size === 0) this.#token = this.feed.token();
    this.#listeners.add(listener);
    this.refresh();
    return () => void this.#listeners.delete(listener);
  }

  token(): string {
    return this.#token;
  }

  refresh(): void {
    void this.#poll();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#timerOfSend?.timer);
    this.#unlisten?.();
    this.feed.close();
  }

  #add(records: readonly FoundRecord[]): void {
    const commands = this.index.add(records);
    if (this.#listeners.size === 0) return;
    for (const { id } of commands) this.#changed.add(id);
    this.#rows.push(...records.map(toRecordRow));
    this.#agents = undefined;
    const hasBegun = records.some(({ record }) => beginnings.has(record.kind));
    this.#sendAt(hasBegun ? this.#lastSend + beginMs : this.#lastChange + liveMs);
    // A question, or an answer from elsewhere.
    if (records.some(({ record }) => askKinds.has(record.kind) && record.verdict !== 'allow')) this.refresh();
  }

  #sendAt(earliest: number): void {
    const due = Math.max(Date.now() + gatherMs, earliest);
    if (this.#timerOfSend && this.#timerOfSend.due <= due) return;
    clearTimeout(this.#timerOfSend?.timer);
    const timer = setTimeout(() => {
      this.#timerOfSend = undefined;
      this.#lastSend = Date.now();
      this.#send();
    }, due - Date.now());
    this.#timerOfSend = { timer, due };
  }

  #send(): void {
    const cards = [...this.#changed].flatMap((id) => {
      const command = this.index.get(id);
      return command ? [this.card(command)] : [];
    });
    const rows = this.#rows;
    this.#rows = [];
    this.#changed.clear();
    const change = this.#newChange();
    const before = this.#token;
    this.#token = this.feed.token();
    const isLive = cards.length > 0 || change !== undefined;
    for (const listener of this.#listeners) {
      // After a lost connection between the two messages, the page gets both again.
      if (rows.length > 0) listener.onRecords(rows, isLive ? before : this.#token);
      if (isLive) listener.onLive(cards, change ?? {}, this.#token);
    }
  }

  // Computing all counts takes longer than sending a new command, so the command is sent first.
  #newChange(): NowChange | undefined {
    if (this.#lastSend < this.#lastChange + liveMs) {
      this.#sendAt(this.#lastChange + liveMs);
      return undefined;
    }
    this.#lastChange = this.#lastSend;
    const change = this.#change();
    const text = JSON.stringify(change);
    if (text === this.#sent) return undefined;
    this.#sent = text;
    return change;
  }

  #change(): Required<NowChange> {
    return {
      paused: isPaused(this.#deps.controlDir),
      approval_off: this.#off,
      questions: this.#questions,
      agents: this.agents().agents,
      servers: this.#servers,
      per_minute: countPerMinute(this.index.all()),
      total: this.index.size,
    };
  }

  #tick(): void {
    if (this.#isClosed) return;
    if (this.#listeners.size > 0) this.refresh();
    else void this.#sampleOwn().catch(() => {});
  }

  #poll(): Promise<void> {
    this.#pollAgain = this.#polling !== undefined;
    this.#polling ??= this.#pollOnce()
      .catch(() => {})
      .then(() => {
        this.#polling = undefined;
        if (this.#pollAgain && !this.#isClosed) this.refresh();
      });
    return this.#polling;
  }

  async #pollOnce(): Promise<void> {
    const engine = await this.#engine();
    this.#unlisten ??= engine.approvals?.listen(() => this.refresh());
    const attended = [...this.#listeners].some(({ mayAnswer }) => mayAnswer) ? attendMs : 0;
    engine.approvals?.attend(attended);
    const [own] = await Promise.all([this.#readOwn(engine), this.#others.poll(engine.instance, attended)]);
    this.#own = own;
    this.#noteKept();
    for (const id of this.series.sample(this.#noteReplies(own))) this.#changed.add(id);
  }

  // Handles the latest replies of all servers; called again when a late reply arrives.
  #noteReplies(own: OwnState): ReadonlyMap<string, LiveFacts> {
    const others = this.#others.all();
    const listed = [...own.listed, ...others.flatMap((one) => one.listed)];
    this.#servers = [own.server, ...others.map(({ server }) => server)];
    const questions = [
      ...own.waiting.map((one) => toQuestionCard(one, own.server.instance)),
      ...others.flatMap(({ instance, waiting }) => waiting.map((one) => toQuestionCard(one, instance))),
    ];
    this.#questions = mergeQuestions(questions);
    this.#off = own.off;
    const live = new Map(
      listed.filter(({ state }) => state.end === null).map((one) => [one.id, toLiveFacts(one)]),
    );
    this.#update(live);
    return live;
  }

  async #readOwn(engine: Engine): Promise<OwnState> {
    const [status, listed, inbox] = await Promise.all([
      this.#deps.status(),
      engine.list(localUser),
      engine.approvals?.list() ?? { off: null, waiting: [] },
    ]);
    return { server: toServerCard(status, engine.instance, true), listed, ...inbox };
  }

  #update(live: Map<string, LiveFacts>): void {
    const before = this.#live;
    this.#live = live;
    for (const [id, facts] of live)
      if (JSON.stringify(facts) !== JSON.stringify(before.get(id))) this.#changed.add(id);
    for (const id of before.keys()) if (!live.has(id)) this.#changed.add(id);
    this.#sendAt(this.#lastChange + liveMs);
  }

  // While no page is open, only this server's own commands are measured, so that a page that opens later has their
  // history.
  async #sampleOwn(): Promise<void> {
    const engine = await this.#engine();
    if (engine.countRunning() === 0) return;
    const listed = await engine.list(localUser);
    const running = listed.filter(({ state }) => state.end === null);
    this.series.sample(new Map(running.map((one) => [one.id, toLiveFacts(one)])));
  }

  // Commands that have outlived their server.
  #noteKept(): void {
    this.#keptAt = Date.now();
    const before = this.#kept;
    const running = this.#deps.listKept().filter(({ state }) => state === 'running');
    this.#kept = new Set(running.map(({ id }) => id));
    for (const id of [...before, ...this.#kept])
      if (before.has(id) !== this.#kept.has(id)) this.#changed.add(id);
  }

  #mayRun({ id, server }: IndexedCommand): boolean {
    // While no page is open, no poll updates `#kept`.
    if (Date.now() - this.#keptAt > 2 * pollMs) this.#noteKept();
    return this.#kept.has(id) || this.#isHere(server);
  }

  // `nacre run` has no control socket; its process shows whether it still runs. Another instance with the pid of this process is a server
  // that ended earlier. While no page is open, no poll updates `#servers`.
  #isHere(instance: string): boolean {
    if (instance === this.#instance) return true;
    if (this.#servers.some((server) => server.instance === instance)) return true;
    const [pid = ''] = instance.split('_');
    return Number(pid) !== process.pid && /^\d+$/.test(pid) && existsSync(`/proc/${pid}`);
  }
}

const beginnings: ReadonlySet<string> = new Set(['asked', 'started']);
const askKinds: ReadonlySet<string> = new Set(['decided', 'approved', 'declined', 'refused']);

function isOpen({ state }: CommandCard): boolean {
  return state === 'running' || state === 'waiting' || state === 'asked';
}

// Every server of a project lists the requests of its dead servers, each with the ids of its own calls in `calls`.
function mergeQuestions(questions: readonly QuestionCard[]): readonly QuestionCard[] {
  const byId = new Map<string, QuestionCard>();
  for (const question of questions) {
    const calls = [...(byId.get(question.id)?.calls ?? []), ...question.calls];
    byId.set(question.id, { ...question, calls });
  }
  return [...byId.values()];
}

/** A record as the page gets it, with the instance of its server. */
export function toRecordRow({ record, instance }: FoundRecord): RecordRow {
  return { ...record, server: instance };
}

function countPerMinute(commands: Iterable<IndexedCommand>): readonly number[] {
  const counts = Array.from({ length: minutes }, () => 0);
  const now = Date.now();
  for (const { asked_at } of commands) {
    const ago = Math.floor((now - Date.parse(asked_at)) / 60_000);
    if (ago >= minutes) break;
    const at = minutes - 1 - Math.max(0, ago);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}
