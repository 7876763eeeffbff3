import type { PageAct } from '../audit/entry.ts';
import type { ClosedSession, StopOptions } from '../contract/backend.ts';
import type { Caller } from '../contract/caller.ts';
import type { Command } from '../contract/command.ts';
import type { Cursor, ReadResult } from '../contract/job.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { MachineReport } from '../contract/report.ts';
import type { CommandRequest } from '../contract/request.ts';
import type { SessionState } from '../contract/session.ts';
import type { SessionOwner } from '../contract/session-key.ts';
import type { ApprovalInbox } from './approval/approval-inbox.ts';
import type { Changes } from './changes/changes.ts';
import type { Announcer } from './commands/announcer.ts';
import type { BytesQuery, CommandView, ListedCommand } from './commands/commands.ts';
import type { CallerContext, RunContext, StartContext, StartRequest } from './context/call-context.ts';
import type { OwnRecords } from './context/own-records.ts';
import type { Checked } from './journey/check.ts';
import type { RunOrDetachResult } from './journey/end-or-detach.ts';
import type { Ports } from './ports/ports.ts';
import type { Reading, ReadQuery } from './reading/read-command.ts';
import type { StreamConverter } from './reading/stream-text.ts';
import type { TakeUpContext } from './take-up.ts';
import type { WriteRequest, WriteResult } from './typing/write-command.ts';

/** The engine as tools and doors use it. */
export interface Engine {
  run(request: CommandRequest, context: RunContext): Promise<Outcome>;
  /** Runs a command like `run`, but leaves it running in the background after `timeoutMs`. */
  runOrDetach(
    request: CommandRequest & Pick<StartRequest, 'idPrefix'>,
    context: RunContext & { readonly owner: string },
  ): Promise<RunOrDetachResult>;
  /** Starts a command that outlives the call; later calls find it by `id` or `name`. */
  start(request: StartRequest, context: StartContext): Promise<{ readonly id: string }>;
  /** Waits as `query` says and returns output after the caller's read position. */
  read(idOrName: string, query: ReadQuery, context: CallerContext): Promise<Reading>;
  /** Throws if `read` would reject the query, so that a caller can check it before an action such as a write. */
  checkReading(idOrName: string, query: ReadQuery, context: CallerContext): Promise<void>;
  /** Reads output as bytes from a cursor, for callers that track the cursor themselves; see support/tail.ts. */
  readBytes(idOrName: string, from: Cursor, query: BytesQuery, context: CallerContext): Promise<ReadResult>;
  /** Creates a converter from output bytes to sanitised text, for callers of `readBytes`. */
  createStreamConverter(): StreamConverter;
  /** Returns one command at its end, or after `waitMs` if that comes first. */
  waitForEnd(idOrName: string, waitMs: number, context: CallerContext): Promise<CommandView>;
  /** Returns one command with an observation of its processes in /proc. */
  observe(idOrName: string, context: CallerContext): Promise<ListedCommand>;
  write(idOrName: string, input: WriteRequest, context: CallerContext): Promise<WriteResult>;
  /** Stops a command with its whole process tree; one that has ended keeps its state. */
  stop(idOrName: string, options: StopOptions, context: CallerContext): Promise<CommandView>;
  /** Lists the background commands of `context.owner`, oldest first; for the local user, every running command. */
  list(context: CallerContext): Promise<readonly ListedCommand[]>;
  forget(idOrName: string, context: CallerContext): Promise<void>;
  /** Takes up what earlier processes of the same client left; returns the names or ids of what still runs. */
  takeUp(context: TakeUpContext): Promise<readonly string[]>;
  /** How many commands of all callers run now. */
  countRunning(): number;
  /** Ends every call, background command and persistent shell; new ones may follow. */
  endAll(): Promise<void>;
  readonly recordsOf: OwnRecords['of'];
  /** The part of the audit files' names that identifies this server. */
  readonly instance: string;
  /** Records what a person did in a page, about a command or in general; throws `audit_unavailable` if that fails. */
  notePageAct(kind: PageAct, caller: Caller, about?: { id?: string; detail?: string }): void;
  /** Approval requests for the user at another terminal; undefined if no terminal can reach this process. */
  readonly approvals: ApprovalInbox | undefined;
  /** Subscribes to the owner's background commands that start from now on; the returned function unsubscribes. */
  listen: Announcer['listen'];
  /** Returns the `Decision` on a command without running it. */
  check(
    request: Pick<CommandRequest, 'command' | 'on' | 'cwd' | 'env'>,
    context: Pick<RunContext, 'rules' | 'cwdRoots' | 'cwdNames' | 'judgeDefaultCwd' | 'rulesOn'> &
      Partial<Pick<RunContext, 'caller'>>,
  ): Promise<Checked>;
  /** Records a planned command that will not run; throws `audit_unavailable` if that fails. */
  skip(command: Command, caller: Caller, reason: string): Promise<void>;
  /** Records a call without valid credentials as `unknown_caller`. */
  noteUnknown(caller: Caller, reason: string): void;
  listSessions(): Promise<readonly SessionState[]>;
  /** Ends a persistent shell and its background jobs; null if no session has that `key`. */
  closeSession(key: string): Promise<ClosedSession | null>;
  /** Changes of files that are held, or that can be undone. */
  readonly changes: Changes;
  /** The ports of sandboxed commands that the user opens on 127.0.0.1. */
  readonly ports: Omit<Ports, 'closeRoom' | 'stop'>;
  /** Stops the background commands that a connection started. */
  stopCommandsOf(connection: SessionOwner): Promise<void>;
  /** Removes the room of a connection once its last sandboxed command has ended. */
  closeRoom(connection: SessionOwner): Promise<void>;
  /** Metrics of all commands so far, or of those of one named token, in the Prometheus text format. */
  metrics(token?: string): Promise<string>;
  report(): Promise<MachineReport>;
  /** Calls `Backend.warmUp`. Never rejects; a failure shows at the first command. */
  warmUp(): Promise<void>;
  /** Stops every command with `stopOnClose` and closes the backend and the audit log. */
  close(): Promise<void>;
}
