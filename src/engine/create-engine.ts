// Assembles the engine:
// 1. `createDeps` builds the dependencies that all functions share, lifecycle.ts tracks open calls and background commands
// 2. `journeyMethods` run commands in turn for their persistent shell and record failures
// 3. `commandMethods` and `auditMethods` bind the functions that read, type into and account for them
import { type StopOptions, stopOnClose } from '../contract/backend.ts';
import type { Caller } from '../contract/caller.ts';
import { NacreError } from '../contract/failure.ts';
import type { Cursor } from '../contract/job.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { MachineReport } from '../contract/report.ts';
import type { CommandRequest } from '../contract/request.ts';
import { toRoomKey } from '../contract/session-key.ts';
import { createTokenMetrics } from '../monitor/token-metrics.ts';
import { createMatcher } from '../output/matcher.ts';
import { DecisionCache } from '../policy/decision-cache.ts';
import { createId } from '../support/ids.ts';
import { createTurns } from '../support/take-turns.ts';
import { type ApprovalInbox, createApprovalInbox, type InboxDeps } from './approval/approval-inbox.ts';
import { createChanges } from './changes/changes.ts';
import { type Announcer, createAnnouncer } from './commands/announcer.ts';
import {
  type BytesQuery,
  forget,
  list,
  observe,
  readBytes,
  stop,
  stopCommandsOf,
  waitForEnd,
} from './commands/commands.ts';
import type {
  CallerContext,
  JourneyContext,
  RunContext,
  StartContext,
  StartRequest,
} from './context/call-context.ts';
import type { EngineDeps } from './context/engine-deps.ts';
import { createOwnRecords } from './context/own-records.ts';
import { createSensitivePlaces } from './context/sensitive-places.ts';
import type { Engine } from './engine.ts';
import { admit } from './journey/admit.ts';
import { check } from './journey/check.ts';
import { type BackgroundCommand, endOrDetach, type RunOrDetachResult } from './journey/end-or-detach.ts';
import { recordEnd, serverCloses } from './journey/follow.ts';
import { type StartedCommand, start, toStartRequest } from './journey/start.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { createPorts, type WantedPort } from './ports/ports.ts';
import { checkReading, type ReadQuery, read } from './reading/read-command.ts';
import { createStreamConverter } from './reading/stream-text.ts';
import { run } from './run.ts';
import { createTakeUp, type TakeUp } from './take-up.ts';
import { type WriteRequest, write } from './typing/write-command.ts';

/** Options of `createEngine`. */
export interface EngineOptions
  extends Pick<EngineDeps, 'backend' | 'sessions' | 'audit' | 'stopOnCancel' | 'outlive'> {
  /** Lets the user approve commands from another terminal; absent if no terminal can reach this process. */
  readonly approvals?: Pick<InboxDeps, 'deadlineMs' | 'open' | 'saved'> | undefined;
  /** True after `nacre pause`. */
  readonly isPaused?: (() => boolean) | undefined;
  /** The setting `ports`. */
  readonly wantedPorts?: readonly WantedPort[] | undefined;
}

/** Creates an engine. */
export function createEngine({
  isPaused = () => false,
  wantedPorts = [],
  ...options
}: EngineOptions): Engine {
  const deps = createDeps(options);
  const announcer = createAnnouncer(deps.backend);
  const ports = createPorts(deps, wantedPorts);
  const lifecycle = createLifecycle(deps, isPaused);
  const takeUp = createTakeUp({ ...deps, lifecycle, announcer });
  return {
    ...journeyMethods({ ...deps, lifecycle, announcer, takeUp }),
    ...commandMethods(deps, takeUp),
    ...auditMethods(deps),
    async takeUp(context) {
      await takeUp.ensure(context);
      return takeUp.running(context);
    },
    listSessions: () => deps.backend.listSessions(),
    countRunning: () => deps.sessions.countRunning(),
    closeSession: lifecycle.closeSession,
    stopCommandsOf: (connection) => stopCommandsOf(deps, connection),
    ports,
    async closeRoom(connection) {
      await ports.closeRoom(toRoomKey(connection));
      await deps.backend.closeRoom(toRoomKey(connection));
    },
    changes: createChanges(deps),
    approvals: deps.inbox,
    listen: announcer.listen,
    report: () => deps.backend.report(),
    async warmUp() {
      // The first command reports the failure again.
      await deps.backend.warmUp().catch(() => {});
    },
    endAll: lifecycle.endAll,
    async close() {
      await ports.stop();
      await lifecycle.close();
    },
  };
}

function createDeps({
  approvals,
  backend,
  sessions,
  audit,
  stopOnCancel,
  outlive,
}: EngineOptions): EngineDeps {
  const ownRecords = createOwnRecords();
  audit.subscribe(ownRecords.observe);
  return {
    ...{ backend, sessions, audit, stopOnCancel, outlive, ownRecords },
    matcher: createMatcher(),
    decisions: new DecisionCache(),
    sensitivePlaces: createSensitivePlaces(backend),
    inbox: approvals && createInbox({ backend, audit }, approvals),
  };
}

function createInbox(
  { backend, audit }: Pick<EngineDeps, 'backend' | 'audit'>,
  approvals: Pick<InboxDeps, 'deadlineMs' | 'open' | 'saved'>,
): ApprovalInbox {
  return createApprovalInbox({
    ...approvals,
    whyOff: async () => whyApprovalIsOff(await backend.report()),
    record: ({ id }, kind, { by, note }) => audit.record({ kind, id, caller: otherTerminal, by, note }),
  });
}

const otherTerminal: Caller = { door: 'cli', client: 'terminal' };

function whyApprovalIsOff({ hidesOwnFiles, supervision }: MachineReport): string | null {
  if (hidesOwnFiles) return null;
  const cause =
    supervision === 'namespace'
      ? 'as root a command can undo what hides the socket from it'
      : `the supervision ${supervision} does not hide the socket from commands`;
  return `Approval from another terminal is off, because a command could approve itself: ${cause}.`;
}

/** `EngineDeps` with what tracks background commands. */
interface JourneyDeps extends EngineDeps {
  readonly lifecycle: Lifecycle;
  readonly announcer: Announcer;
  readonly takeUp: TakeUp;
}

function journeyMethods(deps: JourneyDeps): Pick<Engine, 'run' | 'runOrDetach' | 'start' | 'check'> {
  const { lifecycle } = deps;
  return {
    run: (request, context) =>
      lifecycle.during({ ...context, id: createId('cmd') }, (call) => runInTurn(deps, request, call)),
    runOrDetach: (request, context) =>
      lifecycle.during({ ...context, id: createCommandId(deps, request.idPrefix) }, (call) =>
        runOrDetach(deps, request, call),
      ),
    start: (request, context) =>
      lifecycle.during({ ...context, id: createCommandId(deps, request.idPrefix) }, async (call) => {
        await deps.takeUp.ensure(call);
        const { id, outlives } = await startTracked(deps, request, { ...call, inBackground: true });
        // The caller will not learn the id, except from `list_commands` of the next server.
        const isKept = outlives && call.signal.reason === serverCloses;
        if (call.signal.aborted && !isKept) await deps.backend.stop(id, stopOnClose);
        return { id };
      }),
    check: (request, context) => check(deps, request, context),
  };
}

// Admitting a command takes about half a millisecond. Many commands that arrive together would block the event loop
// until all have started.
const takeTurn = createTurns(4);

// The specification of the Bash tools has eight hex digits, few enough that two ids could be the same.
function createCommandId(deps: EngineDeps, prefix: StartRequest['idPrefix'] = 'cmd'): string {
  if (prefix !== 'shell') return createId(prefix);
  const id = createId(prefix, 4);
  return deps.sessions.registry.has(id) ? createCommandId(deps, prefix) : id;
}

// The policy judges a command by the state of its persistent shell, so the whole of `run` waits for its turn.
async function runInTurn(
  deps: JourneyDeps,
  request: CommandRequest,
  call: RunContext & JourneyContext,
): Promise<Outcome> {
  const { shellQueue } = deps.sessions;
  if (request.session !== undefined) await deps.takeUp.ensure(call);
  try {
    return await shellQueue.inTurn(request.session, call, async (wait) => {
      await takeTurn();
      return run(deps, request, { ...call, wait });
    });
  } catch (error) {
    recordFailure(deps, call, error);
    throw error;
  }
}

async function runOrDetach(
  deps: JourneyDeps,
  request: CommandRequest,
  call: RunContext & JourneyContext & StartContext,
): Promise<RunOrDetachResult> {
  if (call.dryRun) return { kind: 'ended', outcome: await runInTurn(deps, request, call) };
  if (request.session !== undefined) await deps.takeUp.ensure(call);
  return deps.sessions.shellQueue.inTurn(request.session, call, async (wait) => {
    const command = await startTracked(deps, { ...toStartRequest(request), timeoutMs: null }, call);
    return endOrDetach(deps, command, request, { ...call, wait });
  });
}

async function startTracked(
  deps: JourneyDeps,
  request: StartRequest,
  call: JourneyContext & StartContext,
): Promise<BackgroundCommand & { readonly outlives: boolean }> {
  const command = await admitAndStart(deps, request, call);
  const ended = recordEnd(deps, command, call.caller);
  deps.announcer.follow(call.owner, command.id);
  const { outlives = false } = deps.outlive ? await deps.backend.wait(command.id, 0) : {};
  deps.lifecycle.track(command.id, ended, { outlives });
  return { ...command, ended, outlives };
}

async function admitAndStart(
  deps: EngineDeps,
  request: StartRequest,
  call: JourneyContext,
): Promise<StartedCommand> {
  try {
    await takeTurn();
    const admission = await admit(deps, request, call);
    if (call.dryRun) throw dryRunInBackground();
    return await start(deps, request, admission, call);
  } catch (error) {
    recordFailure(deps, call, error);
    throw error;
  }
}

function dryRunInBackground(): NacreError {
  return new NacreError('invalid_request', 'A dry run cannot start a command in the background.', {
    hint: 'Make the dry run without the background option, or check the command.',
  });
}

function recordFailure({ audit }: EngineDeps, { id, caller }: JourneyContext, error: unknown): void {
  audit.tryRecord({ kind: 'failed', id, caller, error });
}

function commandMethods(
  deps: EngineDeps,
  takeUp: TakeUp,
): Pick<
  Engine,
  | 'read'
  | 'checkReading'
  | 'readBytes'
  | 'createStreamConverter'
  | 'waitForEnd'
  | 'observe'
  | 'write'
  | 'stop'
  | 'list'
  | 'forget'
> {
  // A caller may ask about a command of an earlier process before it starts one.
  const after =
    <Words extends readonly unknown[], Result>(
      contextOf: (words: Words) => CallerContext,
      step: (...words: Words) => Promise<Result>,
    ) =>
    async (...words: Words): Promise<Result> => {
      await takeUp.ensure(contextOf(words));
      return step(...words);
    };
  const third = (words: readonly [string, unknown, CallerContext]) => words[2];
  return {
    createStreamConverter,
    waitForEnd: after(third, (idOrName, waitMs: number, context) =>
      waitForEnd(deps, idOrName, waitMs, context),
    ),
    read: after(third, (idOrName, query: ReadQuery, context) => read(deps, idOrName, query, context)),
    checkReading: after(third, async (idOrName, query: ReadQuery, context) => {
      await checkReading(deps, idOrName, query, context);
    }),
    readBytes: after(
      ([, , , context]: readonly [string, Cursor, BytesQuery, CallerContext]) => context,
      (idOrName, from, query, context) => readBytes(deps, idOrName, from, query, context),
    ),
    observe: after(
      ([, context]: readonly [string, CallerContext]) => context,
      (idOrName, context) => observe(deps, idOrName, context),
    ),
    write: after(third, (idOrName, input: WriteRequest, context) => write(deps, idOrName, input, context)),
    stop: after(third, (idOrName, how: StopOptions, context) => stop(deps, idOrName, how, context)),
    list: after(
      ([context]: readonly [CallerContext]) => context,
      (context) => list(deps, context),
    ),
    forget: after(
      ([, context]: readonly [string, CallerContext]) => context,
      (idOrName, context) => forget(deps, idOrName, context),
    ),
  };
}

function auditMethods({
  audit,
  backend,
  ownRecords,
  sessions,
}: EngineDeps): Pick<Engine, 'recordsOf' | 'instance' | 'notePageAct' | 'skip' | 'noteUnknown' | 'metrics'> {
  const metrics = createTokenMetrics();
  audit.subscribe(metrics.observe);
  return {
    recordsOf(owner) {
      audit.settle();
      return ownRecords.of(owner);
    },
    instance: audit.instance,
    notePageAct(kind, caller, { id = createId('act'), detail } = {}) {
      audit.record({ kind, id, caller, detail });
    },
    async skip(command, caller, reason) {
      audit.record({ kind: 'skipped', id: createId('cmd'), caller, command, reason });
    },
    noteUnknown(caller, reason) {
      audit.tryRecord({ kind: 'unknown_caller', id: createId('call'), caller, reason });
    },
    async metrics(token) {
      const { spoolBytes } = await backend.usage();
      audit.settle();
      const gauges = { queue: sessions.shellQueue.waiting(), spoolBytes };
      return token === undefined ? metrics.toText(gauges) : metrics.toTextOf(token);
    },
  };
}
