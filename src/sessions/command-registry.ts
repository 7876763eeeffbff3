import type { Command } from '../contract/command.ts';
import type { Decision } from '../contract/decision.ts';
import { jobNotFound, NacreError } from '../contract/failure.ts';
import type { Cursor, JobSpec, Stream } from '../contract/job.ts';
import type { Screen } from '../contract/screen.ts';

/** Properties of a command that `JobSpec` does not have. */
export interface Registration {
  /** The only owner for which `find` returns the command. */
  readonly owner: string;
  /** The protocol session that started it, if its owner has several. */
  readonly connection?: string | undefined;
  /** An alias of `id`, unique among the owner's running commands. */
  readonly name?: string | undefined;
  /** True for a command that outlives its call; its owner finds no others in `list`. */
  readonly inBackground?: boolean | undefined;
  /** Present if the command executes its stdin, as a shell does. */
  readonly inputJudge?: InputJudge | undefined;
  /** Present if the command has a terminal. */
  readonly screen?: Screen | undefined;
}

/** Applies the policy to text that is about to be typed into a shell. */
export interface InputJudge {
  /** True if only listed programs may run. */
  readonly onlyListed: boolean;
  judge(text: string): Decision;
  /** Remembers typed text, which `judge` puts before later input. */
  typed(text: string): void;
}

/** A command that `find` returns to its owner. */
export interface RegisteredCommand extends Registration {
  readonly id: string;
  /** The machine that it runs on, unless that is this one. */
  readonly machine?: string | undefined;
  readonly command: Command;
  readonly cwd: string;
  /** Texts that were typed as secrets, to be masked in audit records. */
  readonly secrets: Set<string>;
  /** Characters that were typed and that the command has not read yet. */
  readonly unreadInput: { chars: number };
}

/** Commands by owner, id and name, and how far each reader has read their output. */
export interface CommandRegistry {
  /** Throws `invalid_request` if another running command of the owner has the same name. */
  add(spec: Pick<JobSpec, 'id' | 'machine' | 'command' | 'cwd'>, registration: Registration): void;
  /** Sets `inBackground`, because the command outlives its call. */
  moveToBackground(id: string): void;
  remove(id: string): void;
  /** Throws `job_not_found` for unknown commands and for those of another owner alike. */
  find(owner: string, idOrName: string): RegisteredCommand;
  /** Commands of the owner that are `inBackground`, oldest first; for the local user also all others that run. */
  list(owner: string): readonly RegisteredCommand[];
  /** True if a command with that id was added and not removed. */
  has(id: string): boolean;
  /** The cursor up to which a reader has read both streams, or only `stream`. */
  position(id: string, reader: string, stream?: Stream): Cursor;
  /** Advances a reader's position to `next`, unless unread output precedes `from`. */
  advance(id: string, reader: string, range: ReadSpan): void;
}

/** A part of the output that was read: of both streams, or only of `stream`. */
export interface ReadSpan {
  readonly from: Cursor;
  readonly next: Cursor;
  readonly stream?: Stream | undefined;
}

interface Entry {
  command: RegisteredCommand;
  readonly positions: Map<string, Cursor>;
}

/** Value of `owner` for a command that no later call may find, except by the local user. */
export const noOwner = '';

/** Value of `owner` for the local user on the control socket, who sees every command; no remote caller gets it. */
const localUser = '*';

/** Creates an empty registry. */
export function createCommandRegistry(isRunning: (id: string) => boolean): CommandRegistry {
  const entries = new Map<string, Entry>();
  const isVisible = (owner: string, command: RegisteredCommand) =>
    owner === localUser || command.owner === owner;
  const ofOwner = (owner: string) =>
    [...entries.values()].map(({ command }) => command).filter((command) => isVisible(owner, command));
  // A name can be reused once its command has ended; the newest command wins.
  const named = (owner: string, name: string) => ofOwner(owner).findLast((one) => one.name === name);

  const position = (id: string, reader: string, stream?: Stream) => {
    const known = (key: string) => entries.get(id)?.positions.get(key) ?? 0;
    const streams = stream === undefined ? (['stdout', 'stderr'] as const) : [stream];
    const each = streams.map((one) => known(toKey(reader, one)));
    return Math.max(known(toKey(reader)), Math.min(...each));
  };

  return {
    add({ id, machine, command, cwd }, registration) {
      const { owner, name } = registration;
      const sameName = name === undefined ? undefined : named(owner, name);
      if (sameName && sameName.id !== id && isRunning(sameName.id)) throw nameInUse(sameName);
      const added = { id, machine, command, cwd, ...registration, secrets: new Set<string>() };
      entries.set(id, { command: { ...added, unreadInput: { chars: 0 } }, positions: new Map() });
    },
    moveToBackground(id) {
      const entry = entries.get(id);
      if (entry) entry.command = { ...entry.command, inBackground: true };
    },
    remove: (id) => void entries.delete(id),
    has: (id) => entries.has(id),
    find(owner, idOrName) {
      const byId = entries.get(idOrName)?.command;
      const found = byId && isVisible(owner, byId) ? byId : named(owner, idOrName);
      if (!found) throw jobNotFound(idOrName);
      return found;
    },
    // The local user also sees commands that a call waits for: a client that is interrupted does not always cancel it.
    list: (owner) =>
      ofOwner(owner).filter(({ id, inBackground }) => inBackground || (owner === localUser && isRunning(id))),
    position,
    advance(id, reader, { from, next, stream }) {
      const known = position(id, reader, stream);
      if (from <= known && next > known) entries.get(id)?.positions.set(toKey(reader, stream), next);
    },
  };
}

// Reading one stream leaves the other unread, so each has a cursor.
function toKey(reader: string, stream?: Stream): string {
  return stream === undefined ? reader : `${reader} ${stream}`;
}

function nameInUse({ id, name }: RegisteredCommand): NacreError {
  return new NacreError('invalid_request', `${id} is already running under the name ${name}.`, {
    hint: 'Choose another name, or stop that command first.',
  });
}
