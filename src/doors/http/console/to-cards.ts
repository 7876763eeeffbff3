import type { IndexedCommand } from '../../../audit/command-index.ts';
import { toAgentKey } from '../../../audit/command-index.ts';
import { showCommand } from '../../../contract/command.ts';
import type { AgentCard, CardState, CommandCard, QuestionCard } from '../../../contract/console.ts';
import type { PendingApproval } from '../../../engine/approval/approval-inbox.ts';
import type { ListedCommand } from '../../../engine/commands/commands.ts';
import { describeHeldChanges } from '../../../tools/common/describe-changes.ts';
import { byActivity } from './page-of-agents.ts';

/** The facts about a command that only its server knows. */
export interface LiveFacts {
  readonly awaiting: boolean;
  readonly reader: string | null;
  readonly ports: readonly number[];
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly cpuMs: number | null;
  readonly memoryBytes: number | null;
  readonly sandbox: string | null;
  readonly network: string | null;
}

/** The facts of a listed command. */
export function toLiveFacts({ state, look }: ListedCommand): LiveFacts {
  const { stdoutBytes, stderrBytes, resources, enforcement } = state;
  return {
    awaiting: look.awaitingInput,
    reader: look.reader ?? null,
    ports: look.listening,
    stdoutBytes,
    stderrBytes,
    cpuMs: resources?.cpuMs ?? null,
    memoryBytes: resources?.peakMemoryBytes ?? null,
    sandbox: enforcement?.sandbox ?? null,
    network: enforcement?.network ?? null,
  };
}

/** CPU of a running command in percent of one core: the newest sample, and some before it. */
interface CpuNow {
  readonly percent?: number | null;
  readonly recent?: readonly number[];
}

/**
 * A command as lists show it; `isHere` is false if it cannot be running, because its server is gone and no worker keeps
 * it.
 */
export function toCommandCard(
  command: IndexedCommand,
  live: LiveFacts | undefined,
  isHere: boolean,
  { percent = null, recent = [] }: CpuNow = {},
): CommandCard {
  const { door: _door, client: _client, token: _token, end: _end, isWaiting: _waiting, ...more } = command;
  const { message, ended_at: _ended, spans: _spans, ...card } = more;
  const state = stateOf(command, isHere);
  const isOn = state === 'running' && live !== undefined;
  return {
    ...card,
    state,
    reason: message ?? card.reason,
    awaiting: isOn && live.awaiting,
    reader: isOn ? live.reader : null,
    ports: isOn ? live.ports : [],
    stdout_bytes: isOn ? live.stdoutBytes : card.stdout_bytes,
    stderr_bytes: isOn ? live.stderrBytes : card.stderr_bytes,
    cpu_ms: isOn ? live.cpuMs : card.cpu_ms,
    cpu_percent: isOn ? percent : null,
    cpu_recent: isOn ? recent : [],
    memory_bytes: isOn ? live.memoryBytes : card.memory_bytes,
    sandbox: isOn ? live.sandbox : card.sandbox,
    network: isOn ? live.network : card.network,
  };
}

function stateOf({ end, isWaiting, started_at }: IndexedCommand, isHere: boolean): CardState {
  if (end !== null) return end;
  if (!isHere) return 'lost';
  if (isWaiting) return 'waiting';
  return started_at === null ? 'asked' : 'running';
}

const badStates: ReadonlySet<CardState> = new Set(['failed', 'timeout', 'killed', 'error', 'lost']);

/** Whether a command ended badly. */
export function isBad(state: CardState): boolean {
  return badStates.has(state);
}

/** The agents of these commands, the most recently active first. */
export function toAgentCards(
  commands: Iterable<IndexedCommand>,
  stateOfCommand: (command: IndexedCommand) => CardState,
  isHere: (server: string) => boolean,
): readonly AgentCard[] {
  const agents = new Map<string, Draft>();
  for (const command of commands) {
    const draft = agents.get(command.agent) ?? toDraft(command);
    agents.set(command.agent, draft);
    addTo(draft, command, stateOfCommand(command));
  }
  return [...agents.values()]
    .map(({ folders, shells, ...card }) => ({
      ...card,
      folder: mostCommon(folders),
      shells: [...shells].sort(),
      here: isHere(card.server),
    }))
    .sort(byActivity);
}

type Draft = { -readonly [Key in keyof Omit<AgentCard, 'folder' | 'shells' | 'here'>]: AgentCard[Key] } & {
  readonly folders: Map<string, number>;
  readonly shells: Set<string>;
};

function toDraft({ agent, client, door, server, asked_at }: IndexedCommand): Draft {
  const counts = { commands: 0, running: 0, failed: 0, refused: 0, waiting: 0 };
  const times = { since: asked_at, last: asked_at };
  return { key: agent, client, door, server, ...times, ...counts, folders: new Map(), shells: new Set() };
}

function addTo(draft: Draft, { asked_at, cwd, shell }: IndexedCommand, state: CardState): void {
  draft.commands += 1;
  if (asked_at < draft.since) draft.since = asked_at;
  if (asked_at > draft.last) draft.last = asked_at;
  if (state === 'running') draft.running += 1;
  if (state === 'waiting') draft.waiting += 1;
  if (state === 'refused') draft.refused += 1;
  if (isBad(state)) draft.failed += 1;
  if (cwd !== null) draft.folders.set(cwd, (draft.folders.get(cwd) ?? 0) + 1);
  if (shell !== null) draft.shells.add(shell);
}

function mostCommon(counts: ReadonlyMap<string, number>): string | null {
  let best: readonly [string, number] | undefined;
  for (const entry of counts) if (best === undefined || entry[1] > best[1]) best = entry;
  return best?.[0] ?? null;
}

/** An approval request of a server as a card. */
export function toQuestionCard(pending: PendingApproval, server: string): QuestionCard {
  // A server of an earlier version sends no `calls`.
  const {
    id,
    command,
    calls = [],
    asked,
    caller,
    connection,
    rule,
    reason,
    programs,
    digest,
    secondsLeft,
  } = pending;
  const { door, client } = caller;
  return {
    id,
    command,
    calls,
    agent: toAgentKey({ door, client, instance: server, connection }),
    client,
    server,
    asked: {
      ...asked,
      command: showCommand(asked.command),
      on: asked.on ?? null,
      into: asked.into && lastPart(asked.into),
      changes: asked.changes ? describeHeldChanges(asked.changes) : null,
    },
    rule,
    reason,
    programs,
    digest,
    until: new Date(Date.now() + secondsLeft * 1_000).toISOString(),
  };
}

function lastPart(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
