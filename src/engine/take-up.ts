// Reattaches to commands of earlier processes of the same client, running or ended since:
// 1. the first call of a connection calls `takeUp` of the backend, once,
// 2. each command is registered under its name, with its screen redrawn and the judge of its input,
// 3. its end is recorded when it is known, unless an earlier process has recorded it.
import type { KeptCommand } from '../contract/backend.ts';
import type { Keeping } from '../contract/job.ts';
import { toIdentity, toRoomKey } from '../contract/session-key.ts';
import { type InputJudge, noOwner } from '../sessions/command-registry.ts';
import type { Announcer } from './commands/announcer.ts';
import type { CallerContext } from './context/call-context.ts';
import type { EngineDeps } from './context/engine-deps.ts';
import { recordEnd } from './journey/follow.ts';
import type { Lifecycle } from './lifecycle.ts';
import { createLiveScreen } from './reading/live-screen.ts';
import { createInputJudge } from './typing/judge-input.ts';

/** The caller of a connection. */
export type TakeUpContext = Pick<CallerContext, 'caller' | 'owner'> & {
  readonly connection?: string | undefined;
};

/** A call that may come from a connection. */
export interface TakeUpCall extends Pick<TakeUpContext, 'caller' | 'connection'> {
  readonly owner?: string | undefined;
}

/** Reattaches to the commands of earlier connections. */
export interface TakeUp {
  /**
   * Reattaches once per connection; a failure is not retried, since the client only needs to know reachable commands.
   */
  ensure(context: TakeUpCall): Promise<void>;
  /** The names or ids of the commands that `ensure` has found running for a connection. */
  running(context: TakeUpContext): readonly string[];
}

interface TakeUpDeps extends EngineDeps {
  readonly lifecycle: Lifecycle;
  readonly announcer: Announcer;
}

/** The owner of the local user on the control socket. */
const localUser = '*';

/** Creates a `TakeUp`, which does nothing if commands do not outlive the process. */
export function createTakeUp(deps: TakeUpDeps): TakeUp {
  const done = new Map<string, Promise<readonly KeptCommand[]>>();
  const found = new Map<string, readonly string[]>();
  const start = async (context: TakeUpContext, key: string) => {
    const isView = deps.outlive?.mode === 'view';
    const identity = isView ? undefined : toIdentity(context, deps.outlive?.project ?? '');
    const kept = await deps.backend.takeUp({ identity, room: key }).catch(() => []);
    for (const command of withUniqueNames(kept))
      await adopt(deps, command, isView ? { ...context, owner: noOwner } : context);
    const running = kept.filter(({ state }) => state.end === null);
    found.set(
      key,
      running.map(({ id, keeping }) => keeping.name ?? id),
    );
    return kept;
  };
  return {
    async ensure({ caller, owner, connection }) {
      const { outlive } = deps;
      if (!outlive || owner === undefined) return;
      if ((owner === localUser) !== (outlive.mode === 'view')) return;
      const key = toRoomKey({ owner, connection });
      const known = done.get(key) ?? start({ caller, owner, connection }, key);
      done.set(key, known);
      await known;
    },
    running: (context) => found.get(toRoomKey(context)) ?? [],
  };
}

// A name can be reused once its command has ended, so several commands may have it: the running one or, if none runs,
// the newest keeps it. Returns the commands from the oldest to the newest.
function withUniqueNames(kept: readonly KeptCommand[]): readonly KeptCommand[] {
  const byAge = kept.toSorted((one, other) => (one.state.startedAt < other.state.startedAt ? -1 : 1));
  const byUse = [...byAge.filter(({ state }) => state.end), ...byAge.filter(({ state }) => !state.end)];
  const idByName = new Map(byUse.map(({ id, keeping }) => [keeping.name, id]));
  return byAge.map((command) => {
    const { id, keeping } = command;
    return idByName.get(keeping.name) === id
      ? command
      : { ...command, keeping: { ...keeping, name: undefined } };
  });
}

async function adopt(deps: TakeUpDeps, kept: KeptCommand, context: TakeUpContext): Promise<void> {
  const { sessions, lifecycle, announcer } = deps;
  const { id, keeping, terminal, isSettled, state } = kept;
  if (sessions.registry.has(id)) return;
  const screen = terminal && (await createLiveScreen(deps.backend, terminal));
  const { owner, connection } = context;
  const inputJudge = toJudge(kept, keeping);
  const name = isNameFree(deps, owner, keeping.name) ? keeping.name : undefined;
  sessions.adopt(kept, { owner, connection, name, inBackground: true, inputJudge, screen });
  deps.ownRecords.claim(id, owner);
  screen?.follow(id);
  if (deps.outlive?.mode === 'view') return state.end ? sessions.ended(id) : undefined;
  if (isSettled && state.end) return sessions.ended(id);
  const ended = recordEnd(deps, kept, keeping.caller);
  announcer.follow(owner, id);
  lifecycle.track(id, ended, { outlives: true });
}

function isNameFree({ sessions }: EngineDeps, owner: string, name: string | undefined): boolean {
  if (name === undefined) return true;
  const listed = sessions.registry.list(owner);
  return !listed.some((one) => one.name === name);
}

function toJudge({ command, typed }: KeptCommand, { judgedBy }: Keeping): InputJudge | undefined {
  if (!judgedBy) return undefined;
  const judge = createInputJudge({ command, ...judgedBy });
  if (judge && typed !== undefined && typed !== '') judge.typed(typed);
  return typed === undefined && judge ? { ...judge, judge: () => forgotten } : judge;
}

const forgotten = {
  verdict: 'deny',
  rule: 'typed_before',
  reason: 'So much was typed into this shell earlier that its functions and variables are no longer known.',
  hint: 'Start another shell.',
  programs: [],
} as const;
