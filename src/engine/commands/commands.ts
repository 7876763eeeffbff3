// Calls about a command that was started before: observe, stop, list, forget. reading/ reads it, typing/ types into it.
// Commands are found by owner; those of another owner are "not found".
import { type StopOptions, stopOnClose } from '../../contract/backend.ts';
import { stillRunning } from '../../contract/failure.ts';
import type { Cursor, JobObservation, JobState, ReadResult } from '../../contract/job.ts';
import type { SessionOwner } from '../../contract/session-key.ts';
import type { RegisteredCommand } from '../../sessions/command-registry.ts';
import type { CallerContext } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';

/** The current state of a command. */
export interface CommandView extends Pick<RegisteredCommand, 'id' | 'name' | 'machine' | 'command' | 'cwd'> {
  readonly state: JobState;
  /** Bytes after the caller's read position. */
  readonly unreadBytes: number;
}

/** A command as `list` shows it. */
export interface ListedCommand extends CommandView {
  /** Named `look` because the control socket sends it as JSON. */
  readonly look: JobObservation;
  readonly hasScreen: boolean;
}

/** Options of `readBytes`. */
export interface BytesQuery {
  /** How long to wait if there is nothing to read. */
  readonly waitMs: number;
  readonly maxBytes: number;
}

/** Reads output as bytes, for callers that track the cursor themselves. */
export function readBytes(
  { backend, sessions }: EngineDeps,
  idOrName: string,
  from: Cursor,
  query: BytesQuery,
  { owner }: CallerContext,
): Promise<ReadResult> {
  return backend.read(sessions.registry.find(owner, idOrName).id, from, query);
}

/** Returns one command at its end, or after `waitMs` if that comes first. */
export async function waitForEnd(
  deps: EngineDeps,
  idOrName: string,
  waitMs: number,
  { owner, reader }: CallerContext,
): Promise<CommandView> {
  const command = deps.sessions.registry.find(owner, idOrName);
  return toViewAt(deps, command, reader ?? owner, await deps.backend.wait(command.id, waitMs));
}

/** Returns one command with an observation of its processes in /proc. */
export async function observe(
  deps: EngineDeps,
  idOrName: string,
  { owner, reader }: CallerContext,
): Promise<ListedCommand> {
  const command = deps.sessions.registry.find(owner, idOrName);
  // `observe` updates `state.resources`, which `toView` reads.
  const look = await deps.backend.observe(command.id);
  const view = await toView(deps, command, reader ?? owner);
  return { ...view, look, hasScreen: command.screen !== undefined };
}

/** Stops a command with its whole process tree; one that has ended keeps its state. */
export async function stop(
  deps: EngineDeps,
  idOrName: string,
  options: StopOptions,
  { owner, caller, reader }: CallerContext,
): Promise<CommandView> {
  const { backend, sessions, audit } = deps;
  const command = sessions.registry.find(owner, idOrName);
  const { end } = await backend.wait(command.id, 0);
  // `tryRecord`, because an unwritable audit log must not prevent a stop.
  if (!end) audit.tryRecord({ kind: 'stop', id: command.id, caller, signal: options.signal });
  await backend.stop(command.id, options);
  return toView(deps, command, reader ?? owner);
}

/** Stops the background commands that one connection of an owner started. */
export async function stopCommandsOf(
  { backend, sessions }: EngineDeps,
  { owner, connection }: SessionOwner,
): Promise<void> {
  const own = sessions.registry.list(owner).filter((command) => command.connection === connection);
  await Promise.allSettled(own.map(({ id }) => backend.stop(id, stopOnClose)));
}

/** Forgets an ended command and its output. */
export async function forget(
  { backend, sessions }: EngineDeps,
  idOrName: string,
  { owner }: CallerContext,
): Promise<void> {
  const { id } = sessions.registry.find(owner, idOrName);
  const { end } = await backend.wait(id, 0);
  if (!end) throw stillRunning(id);
  sessions.forget(id);
}

/** Lists the owner's background commands, oldest first. */
export async function list(deps: EngineDeps, context: CallerContext): Promise<readonly ListedCommand[]> {
  const views = await Promise.allSettled(
    deps.sessions.registry.list(context.owner).map(({ id }) => observe(deps, id, context)),
  );
  // A command that was forgotten meanwhile rejects and is left out.
  return views.flatMap((view) => (view.status === 'fulfilled' ? [view.value] : []));
}

async function toView(deps: EngineDeps, command: RegisteredCommand, reader: string): Promise<CommandView> {
  return toViewAt(deps, command, reader, await deps.backend.wait(command.id, 0));
}

/** A command in the given state, with what `reader` has not read yet. */
export function toViewAt(
  { sessions }: EngineDeps,
  { id, name, machine, command, cwd }: RegisteredCommand,
  reader: string,
  state: JobState,
): CommandView {
  const position = sessions.registry.position(id, reader);
  const unreadBytes = Math.max(0, state.stdoutBytes + state.stderrBytes - position);
  return { id, name, ...(machine !== undefined && { machine }), command, cwd, state, unreadBytes };
}
