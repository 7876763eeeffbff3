// What can be done with a command that goes on after its call: look at it, stop it, list it; read-command.ts reads it and
// write-command.ts types into it. Every call names its owner; another's command is as unknown as one that never was.
import type { StopOptions } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import { NacreError } from '../../contract/failure.ts';
import type { Cursor, JobLook, JobState, ReadResult } from '../../contract/job.ts';
import type { KeptCommand } from '../../sessions/command-registry.ts';
import type { AskPerson } from '../approval/approval.ts';
import type { EngineParts } from '../run.ts';

/** Who asks about a command. */
export interface Asker {
  readonly caller: Caller;
  readonly owner: string;
  /** Whose progress in reading counts; the owner's own when absent. */
  readonly reader?: string | undefined;
  /** Puts a question to the person behind the caller, where that can be done. */
  readonly askPerson?: AskPerson | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A command as it is now. */
export interface CommandView extends Pick<KeptCommand, 'id' | 'name' | 'command' | 'cwd'> {
  readonly state: JobState;
  /** Bytes that the reader has not seen yet. */
  readonly unreadBytes: number;
}

/** A command in a list. */
export interface ListedCommand extends CommandView {
  readonly look: JobLook;
  readonly hasScreen: boolean;
}

/** How much to read at once, and how long to wait for something to read. */
export interface BytesQuery {
  readonly waitMs: number;
  readonly maxBytes: number;
}

/** Tells bytes as they came, for readers who keep their own position. */
export function readBytes(
  { backend, sessions }: EngineParts,
  idOrName: string,
  from: Cursor,
  query: BytesQuery,
  { owner }: Asker,
): Promise<ReadResult> {
  return backend.read(sessions.book.find(owner, idOrName).id, from, query);
}

/** Looks at one command. */
export async function look(
  parts: EngineParts,
  idOrName: string,
  { owner, reader }: Asker,
): Promise<ListedCommand> {
  const command = parts.sessions.book.find(owner, idOrName);
  // First: what a look sees of its resources is part of its state.
  const look = await parts.backend.look(command.id);
  const view = await toView(parts, command, reader ?? owner);
  return { ...view, look, hasScreen: command.screen !== undefined };
}

/** Ends a command with its whole tree; one that has ended stays as it is. */
export async function stop(
  parts: EngineParts,
  idOrName: string,
  options: StopOptions,
  { owner, caller, reader }: Asker,
): Promise<CommandView> {
  const { backend, sessions, audit } = parts;
  const command = sessions.book.find(owner, idOrName);
  const { end } = await backend.wait(command.id, 0);
  // Ending is never kept from anybody for want of a record.
  if (!end) audit.tryRecord({ kind: 'stop', id: command.id, caller, signal: options.signal });
  await backend.stop(command.id, options);
  return toView(parts, command, reader ?? owner);
}

/** Forgets a command that has ended, and its output. */
export async function forget(
  { backend, sessions }: EngineParts,
  idOrName: string,
  { owner }: Asker,
): Promise<void> {
  const { id } = sessions.book.find(owner, idOrName);
  const { end } = await backend.wait(id, 0);
  if (!end) {
    throw new NacreError('invalid_request', `${id} is still running.`, { hint: 'Stop it first.' });
  }
  sessions.forget(id);
}

/** The owner's commands, oldest first. */
export async function list(parts: EngineParts, asker: Asker): Promise<readonly ListedCommand[]> {
  const views = await Promise.allSettled(
    parts.sessions.book.list(asker.owner).map(({ id }) => look(parts, id, asker)),
  );
  // What was forgotten just now is not there.
  return views.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

async function toView(parts: EngineParts, kept: KeptCommand, reader: string): Promise<CommandView> {
  return toViewOf(parts, kept, reader, await parts.backend.wait(kept.id, 0));
}

/** A command in this state, as a reader sees it. */
export function toViewOf(
  parts: EngineParts,
  kept: KeptCommand,
  reader: string,
  state: JobState,
): CommandView {
  const { id, name, command, cwd } = kept;
  const position = parts.sessions.book.position(id, reader);
  const unreadBytes = Math.max(0, state.stdoutBytes + state.stderrBytes - position);
  return { id, name, command, cwd, state, unreadBytes };
}
