import type { StopOptions } from '../contract/backend.ts';
import type { Caller } from '../contract/caller.ts';
import type { Command } from '../contract/command.ts';
import type { Cursor, ReadResult } from '../contract/job.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { MachineReport } from '../contract/report.ts';
import type { CommandRequest } from '../contract/request.ts';
import type { SessionState } from '../contract/session.ts';
import type { ApprovalInbox } from './approval/approval-inbox.ts';
import type { Announcer } from './commands/announcer.ts';
import type { Asker, BytesQuery, CommandView, ListedCommand } from './commands/commands.ts';
import type { OwnRecords } from './commands/own-records.ts';
import type { Checked } from './journey/check.ts';
import type { RunOrGoneOn } from './journey/run-or-detach.ts';
import type { StartContext, StartedCommand, StartRequest } from './journey/start.ts';
import type { Reading, ReadQuery } from './reading/read-command.ts';
import type { RunContext } from './run.ts';
import type { CommandInput, Typed } from './typing/write-command.ts';

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
  /** Ends all that runs, and what is about to. */
  endAll(): Promise<void>;
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
