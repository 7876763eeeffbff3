import type { Caller } from '../contract/caller.ts';
import { NacreError, shuttingDown } from '../contract/failure.ts';
import type { MachineReport } from '../contract/report.ts';
import { createMetrics } from '../monitor/metrics.ts';
import { createMatcher } from '../output/matcher.ts';
import { createId } from '../support/create-id.ts';
import { within } from '../support/within.ts';
import { createApprovalInbox, type InboxParts } from './approval/approval-inbox.ts';
import { createAnnouncer } from './commands/announcer.ts';
import { forget, list, look, readBytes, stop } from './commands/commands.ts';
import { createOwnRecords } from './commands/own-records.ts';
import type { Engine } from './engine.ts';
import { check } from './journey/check.ts';
import { closingLadder } from './journey/follow.ts';
import { runOrGoOn } from './journey/run-or-detach.ts';
import { type StartedCommand, start } from './journey/start.ts';
import { createOpenCalls } from './lifecycle.ts';
import { checkReading, read } from './reading/read-command.ts';
import { type EngineParts, run } from './run.ts';
import { write } from './typing/write-command.ts';

// An outcome is recorded within moments of its command's end; a caller who does not take it may not block the exit.
const lastWordsMs = 1_200;

/** What an engine is made of. */
export interface EngineOptions extends Omit<EngineParts, 'matcher' | 'inbox' | 'ownRecords'> {
  /** How questions wait for a person at another terminal; absent where none can. */
  readonly approvals?: Pick<InboxParts, 'deadlineMs' | 'open'> | undefined;
  /** Whether a person has stopped everything. */
  readonly isPaused?: (() => boolean) | undefined;
}

/** Makes the engine of its parts. */
export function createEngine({ approvals, isPaused = () => false, ...given }: EngineOptions): Engine {
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
  const calls = createOpenCalls();
  const started = new Map<string, StartedCommand['ended']>();
  let closing: Promise<void> | null = null;

  const refuseWhenClosing = () => {
    if (isPaused()) throw pausedByPerson();
    if (closing) throw shuttingDown();
  };
  const remember = (owner: string, { id, ended }: StartedCommand) => {
    announcer.follow(owner, id);
    started.set(id, ended);
    const forget = () => started.delete(id);
    ended.then(forget, forget);
  };
  const closeSession = (key: string) => {
    sessions.places.delete(key);
    return backend.closeSession(key);
  };
  const endStarted = () =>
    Promise.allSettled([...started.keys()].map((id) => backend.stop(id, closingLadder)));
  const close = async () => {
    const answered = calls.abort();
    void endStarted();
    await within(Promise.allSettled([answered, ...started.values()]), lastWordsMs);
    await backend.close();
    await matcher.close();
    sessions.close();
    audit.close();
  };

  return {
    async run(request, context) {
      refuseWhenClosing();
      return calls.during(context, (own) => run(parts, request, own));
    },
    async runOrGoOn(request, context) {
      refuseWhenClosing();
      return calls.during(context, (own) =>
        runOrGoOn(parts, request, own, (command) => remember(own.owner, command)),
      );
    },
    async start(request, context) {
      refuseWhenClosing();
      return calls.during(context, async (own) => {
        const command = await start(parts, request, own);
        remember(own.owner, command);
        // Nobody would learn its id.
        if (own.signal.aborted) await backend.stop(command.id, closingLadder);
        return { id: command.id };
      });
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
    recordsOf(owner) {
      audit.settle();
      return ownRecords.of(owner);
    },
    listen: announcer.listen,
    async endAll() {
      await Promise.all([calls.abort(), endStarted()]);
      // What was just about to start has started by now.
      await endStarted();
      const shells = await backend.listSessions();
      await Promise.allSettled(shells.map(({ key }) => closeSession(key)));
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
      audit.settle();
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
