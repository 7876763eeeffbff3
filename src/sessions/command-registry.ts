import type { Command } from '../contract/command.ts';
import type { Decision } from '../contract/decision.ts';
import { NacreError } from '../contract/failure.ts';
import type { Cursor, JobSpec, Stream } from '../contract/job.ts';
import type { Screen } from '../contract/screen.ts';

/** Whose a command is, and how it may be called. */
export interface Belonging {
  /** Only this owner can see it. */
  readonly owner: string;
  /** A word by which its owner can call it beside its id. */
  readonly name?: string | undefined;
  /** True for what goes on after its call; what runs within one call is not in lists. */
  readonly goesOn?: boolean | undefined;
  /** Judges its input, where that would run as commands; absent where it may be anything. */
  readonly inputJudge?: InputJudge | undefined;
  /** What its terminal shows, where it has one. */
  readonly screen?: Screen | undefined;
}

/** Judges what is about to be typed into a shell. */
export interface InputJudge {
  /** True when only listed programs may run. */
  readonly onlyListed: boolean;
  judge(text: string): Decision;
  /** Notes what has been typed: a shell remembers. */
  typed(text: string): void;
}

/** A command that can be asked about. */
export interface KeptCommand extends Belonging {
  readonly id: string;
  readonly command: Command;
  readonly cwd: string;
  /** What was typed into it and must not be shown. */
  readonly secrets: Set<string>;
  /** How much was typed into it that it has not taken yet. */
  readonly untaken: { chars: number };
}

/** Every command that can still be asked about, by owner, id and name, and how far each reader has read. */
export interface CommandBook {
  /** Throws when another running command of the owner has the name. */
  add(spec: Pick<JobSpec, 'id' | 'command' | 'cwd'>, belonging: Belonging): void;
  /** A command that ran within a call goes on after it. */
  goOn(id: string): void;
  remove(id: string): void;
  /** Throws `job_not_found` for what is unknown and for what is another's. */
  find(owner: string, idOrName: string): KeptCommand;
  /** The owner's commands that go on after their calls, oldest first. */
  list(owner: string): readonly KeptCommand[];
  /** How far a reader has read both streams, or the one that is named. */
  position(id: string, reader: string, stream?: Stream): Cursor;
  /** Notes that a reader has read from one position to another; what would leave a gap is not noted. */
  advance(id: string, reader: string, read: ReadPart): void;
}

/** What a reader has read: both streams, or the one that is named. */
export interface ReadPart {
  readonly from: Cursor;
  readonly next: Cursor;
  readonly stream?: Stream | undefined;
}

interface Page {
  command: KeptCommand;
  readonly positions: Map<string, Cursor>;
}

/** Who may see every command: the person whose server it is. No door calls its callers so. */
const everyone = '*';

/** Makes an empty book. */
export function createCommandBook(isRunning: (id: string) => boolean): CommandBook {
  const pages = new Map<string, Page>();
  const isTheirs = (owner: string, command: KeptCommand) => owner === everyone || command.owner === owner;
  const ofOwner = (owner: string) =>
    [...pages.values()].map(({ command }) => command).filter((command) => isTheirs(owner, command));
  // A name may be used again when its command has ended: then it means the newest.
  const named = (owner: string, name: string) => ofOwner(owner).findLast((one) => one.name === name);

  const position = (id: string, reader: string, stream?: Stream) => {
    const known = (key: string) => pages.get(id)?.positions.get(key) ?? 0;
    return Math.max(known(toKey(reader)), known(toKey(reader, stream)));
  };

  return {
    add({ id, command, cwd }, belonging) {
      const holder = belonging.name === undefined ? undefined : named(belonging.owner, belonging.name);
      if (holder && isRunning(holder.id)) throw nameTaken(holder);
      const kept = { id, command, cwd, ...belonging, secrets: new Set<string>(), untaken: { chars: 0 } };
      pages.set(id, { command: kept, positions: new Map() });
    },
    goOn(id) {
      const page = pages.get(id);
      if (page) page.command = { ...page.command, goesOn: true };
    },
    remove: (id) => void pages.delete(id),
    find(owner, idOrName) {
      const byId = pages.get(idOrName)?.command;
      const found = byId && isTheirs(owner, byId) ? byId : named(owner, idOrName);
      if (!found) throw notFound(idOrName);
      return found;
    },
    list: (owner) => ofOwner(owner).filter((command) => command.goesOn),
    position,
    advance(id, reader, { from, next, stream }) {
      const known = position(id, reader, stream);
      if (from <= known && next > known) pages.get(id)?.positions.set(toKey(reader, stream), next);
    },
  };
}

// Who reads one stream alone has not seen the other.
function toKey(reader: string, stream?: Stream): string {
  return stream === undefined ? reader : `${reader} ${stream}`;
}

function notFound(idOrName: string): NacreError {
  return new NacreError('job_not_found', `There is no command ${idOrName}.`, {
    hint: 'List the commands to see their ids; one that ended long ago may have been cleaned up.',
  });
}

function nameTaken({ id, name }: KeptCommand): NacreError {
  return new NacreError('invalid_request', `${id} is running under the name ${name} already.`, {
    hint: 'Choose another name, or stop that command first.',
  });
}
