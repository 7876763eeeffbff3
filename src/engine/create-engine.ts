import type { StopOptions } from '../contract/backend.ts';
import type { Caller } from '../contract/caller.ts';
import type { Command } from '../contract/command.ts';
import { NacreError } from '../contract/failure.ts';
import type { Cursor, ReadResult } from '../contract/job.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { MachineReport } from '../contract/report.ts';
import type { CommandRequest } from '../contract/request.ts';
import type { SessionState } from '../contract/session.ts';
import { createMetrics } from '../monitor/metrics.ts';
import { createMatcher } from '../output/matcher.ts';
import { createId } from '../support/create-id.ts';
import { within } from '../support/within.ts';
import { type Announcer, createAnnouncer } from './announcer.ts';
import { type ApprovalInbox, createApprovalInbox, type InboxParts } from './approval-inbox.ts';
import { type Checked, check } from './check.ts';
import {
  type Asker,
  type BytesQuery,
  type CommandView,
  forget,
  type ListedCommand,
  list,
  look,
  readBytes,
  stop,
} from './commands.ts';
import { closingLadder, serverCloses } from './follow.ts';
import { createOwnRecords, type OwnRecords } from './own-records.ts';
import { checkReading, type Reading, type ReadQuery, read } from './read-command.ts';
import { type EngineParts, type RunContext, run } from './run.ts';
import { type RunOrGoneOn, runOrGoOn } from './run-or-go-on.ts';
import { type StartContext, type StartedCommand, type StartRequest, start } from './start.ts';
import { type CommandInput, type Typed, write } from './write-command.ts';

/** What tools and doors see of the engine. */
export interface Engine {
  run(request: CommandRequest, context: RunContext): Promise<Outcome>;
  /** Runs a command like `run`; one that has not ended after the time goes on and is asked for by its id. */
  runOrGoOn(
    request: CommandRequest & Pick<StartRequest, 'idPrefix'>,
    context: RunContext & { readonly owner: string },
  ): Promise<RunOrGoneOn>;
  /** Starts a command that goes on after the call; from then on it is asked for by its id or name. */
  start(request: StartRequest, context: StartContext): Promise<Pick<StartedCommand, 'id'>>;
  /** Waits for what the query says and tells what the reader has not seen yet. */
  read(idOrName: string, query: ReadQuery, asker: Asker): Promise<Reading>;
  /** Throws what keeps a query from being answered, before anything is done on account of it. */
  checkReading(idOrName: string, query: ReadQuery, asker: Asker): Promise<void>;
  /** The bytes of both streams from a position on, as they came; waits for some as long as is said. */
  readBytes(idOrName: string, from: Cursor, query: BytesQuery, asker: Asker): Promise<ReadResult>;
  /** A command as it is now, and what only a look at its processes tells. */
  look(idOrName: string, asker: Asker): Promise<ListedCommand>;
  /** Types into a command. */
  write(idOrName: string, input: CommandInput, asker: Asker): Promise<Typed>;
  /** Ends a command with its whole tree; one that has ended stays as it is. */
  stop(idOrName: string, options: StopOptions, asker: Asker): Promise<CommandView>;
  /** The owner's commands that go on after their calls, oldest first. */
  list(asker: Asker): Promise<readonly ListedCommand[]>;
  /** Forgets a command that has ended, and its output. */
  forget(idOrName: string, asker: Asker): Promise<void>;
  /** Ends all that runs and refuses what comes, until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** The newest audit records about an owner's commands, oldest first. */
  readonly recordsOf: OwnRecords['of'];
  /** Questions that wait for a person; absent where nobody would come to look. */
  readonly approvals: ApprovalInbox | undefined;
  /** Tells a listener about the owner's commands that go on, from now on; what it returns ends that. */
  listen: Announcer['listen'];
  /** What would become of a command; nothing runs. */
  check(
    request: Pick<CommandRequest, 'command' | 'cwd' | 'env'>,
    context: Pick<RunContext, 'rules' | 'cwdRoots'>,
  ): Promise<Checked>;
  /** Records a command that was planned and will not run; throws when that cannot be. */
  skip(command: Command, caller: Caller, reason: string): Promise<void>;
  /** Records that somebody came without showing who it is. */
  noteUnknown(caller: Caller, reason: string): void;
  /** The persistent shells. */
  listSessions(): Promise<readonly SessionState[]>;
  /** Ends a persistent shell with all it has in the background; false when there is none of that key. */
  closeSession(key: string): Promise<boolean>;
  /** Figures about all commands so far, in Prometheus' text format. */
  metrics(): Promise<string>;
  /** What was found on the machine. */
  report(): Promise<MachineReport>;
  /** Gets ready what the first command would otherwise wait for; what goes wrong shows at that command. */
  warmUp(): Promise<void>;
  /** Ends every command, then everything else. */
  close(): Promise<void>;
}

// An outcome is recorded within moments of its command's end; a caller who does not take it may not block the exit.
const lastWordsMs = 1_200;

/** What an engine is made of. */
export interface EngineOptions extends Omit<EngineParts, 'matcher' | 'inbox' | 'ownRecords'> {
  /** How questions wait for a person at another terminal; absent where none can. */
  readonly approvals?: Pick<InboxParts, 'deadlineMs' | 'open'> | undefined;
}

/** Makes the engine of its parts. */
export function createEngine({ approvals, ...given }: EngineOptions): Engine {
  const { backend, sessions, audit } = given;
  const matcher = createMatcher();
  const metrics = createMetrics();
  audit.subscribe(metrics.observe);
  const ownRecords = createOwnRecords();
  audit.subscribe(ownRecords.observe);
  const announcer = createAnnouncer(backend);
  const inbox =
    approvals &&
    createApprovalInbox({
      ...approvals,
      whyOff: async () => whyApprovalIsOff(await backend.report()),
      record: ({ id }, kind, by) => audit.record({ kind, id, caller: personElsewhere, by }),
    });
  const parts: EngineParts = { ...given, matcher, inbox, ownRecords };
  const calls = new Map<AbortController, Promise<unknown>>();
  const started = new Map<string, StartedCommand['ended']>();
  let closing: Promise<void> | null = null;

  let isPaused = false;
  const refuseWhenClosing = () => {
    if (isPaused) throw pausedByPerson();
    if (closing)
      throw new NacreError('shutting_down', 'The server is shutting down; nothing new is started.');
  };
  const remember = (owner: string, { id, ended }: StartedCommand) => {
    announcer.follow(owner, id);
    started.set(id, ended);
    const forget = () => started.delete(id);
    ended.then(forget, forget);
  };
  const whileCalled = async <T, C extends RunContext>(context: C, call: (own: C) => Promise<T>) => {
    const cancel = follows(context.signal);
    const answer = call({ ...context, signal: cancel.signal }).finally(() => {
      calls.delete(cancel.controller);
      cancel.detach();
    });
    calls.set(cancel.controller, answer);
    return answer;
  };
  const closeSession = (key: string) => {
    sessions.places.delete(key);
    return backend.closeSession(key);
  };
  const close = async () => {
    for (const cancel of calls.keys()) cancel.abort(serverCloses);
    for (const id of started.keys()) backend.stop(id, closingLadder).catch(() => {});
    await within(Promise.allSettled([...calls.values(), ...started.values()]), lastWordsMs);
    await backend.close();
    await matcher.close();
    sessions.close();
    audit.close();
  };

  return {
    async run(request, context) {
      refuseWhenClosing();
      return whileCalled(context, (own) => run(parts, request, own));
    },
    async runOrGoOn(request, context) {
      refuseWhenClosing();
      return whileCalled(context, (own) =>
        runOrGoOn(parts, request, own, (command) => remember(own.owner, command)),
      );
    },
    async start(request, context) {
      refuseWhenClosing();
      const command = await start(parts, request, context);
      remember(context.owner, command);
      return { id: command.id };
    },
    read: (idOrName, query, asker) => read(parts, idOrName, query, asker),
    async checkReading(idOrName, query, asker) {
      await checkReading(parts, idOrName, query, asker);
    },
    readBytes: (idOrName, from, query, asker) => readBytes(parts, idOrName, from, query, asker),
    look: (idOrName, asker) => look(parts, idOrName, asker),
    write: (idOrName, input, asker) => write(parts, idOrName, input, asker),
    stop: (idOrName, options, asker) => stop(parts, idOrName, options, asker),
    list: (asker) => list(parts, asker),
    listSessions: () => backend.listSessions(),
    closeSession,
    forget: (idOrName, asker) => forget(parts, idOrName, asker),
    approvals: inbox,
    recordsOf: ownRecords.of,
    listen: announcer.listen,
    async pause() {
      isPaused = true;
      for (const cancel of calls.keys()) cancel.abort(serverCloses);
      await Promise.all([...started.keys()].map((id) => backend.stop(id, closingLadder).catch(() => {})));
      await Promise.allSettled(calls.values());
      const sessions = await backend.listSessions();
      await Promise.allSettled(sessions.map(({ key }) => closeSession(key)));
    },
    async resume() {
      isPaused = false;
    },
    check: (request, context) => check(parts, request, context),
    async skip(command, caller, reason) {
      audit.record({ kind: 'skipped', id: createId('cmd'), caller, command, reason });
    },
    noteUnknown(caller, reason) {
      audit.tryRecord({ kind: 'unknown_caller', id: createId('call'), caller, reason });
    },
    async metrics() {
      const { spoolBytes } = await backend.usage();
      return metrics.toText({ queue: sessions.turns.waiting(), spoolBytes });
    },
    report: () => backend.report(),
    async warmUp() {
      await backend.inspect({ cwd: undefined, roots: [], programs: [] }).catch(() => {});
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

const personElsewhere: Caller = { door: 'cli', client: 'terminal' };

function whyApprovalIsOff({ hidesOwnFiles, supervision }: MachineReport): string | null {
  if (hidesOwnFiles) return null;
  const cause =
    supervision === 'namespace'
      ? 'as root a command can undo what hides the socket from it'
      : `the supervision ${supervision} does not hide the socket from commands`;
  return `Approval from another terminal is off, because a command could approve itself: ${cause}.`;
}

function pausedByPerson(): NacreError {
  return new NacreError('policy_denied', 'nacre is paused: its user has stopped everything.', {
    hint: 'Only the user can change that, with nacre resume.',
  });
}

/** A controller of our own that is aborted with the caller's signal. */
function follows(signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  const detach = () => signal?.removeEventListener('abort', abort);
  return { controller, signal: controller.signal, detach };
}
