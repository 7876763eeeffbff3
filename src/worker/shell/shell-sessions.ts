import { join } from 'node:path';
import type { JobSpec } from '../../contract/job.ts';
import type { SessionState } from '../../contract/session.ts';
import { quote, quoteOnOneLine } from '../../support/quote.ts';
import type { Environment } from '../machine/environment.ts';
import type { Started } from '../start/starter.ts';
import type { SessionLook } from './shell-memory.ts';
import { type ShellMeans, ShellSession } from './shell-session.ts';

/** A worker's persistent shells, by their keys. */
export interface ShellSessions {
  /** What a session has become and where it stands; undefined for one that has run nothing yet. */
  look(key: string): Promise<SessionLook | undefined>;
  /** `base` is what a new shell gets of the server's variables, where that is not what all get. */
  start(key: string, spec: JobSpec, base?: Environment | undefined): Promise<Started>;
  /** A command that begins with the state of a session, with what it takes to do so. */
  likeSession(spec: JobSpec): Promise<JobSpec>;
  /** Leaves a session's command to itself: it goes on, and the session is free. */
  detach(key: string): void;
  list(): readonly SessionState[];
  /** Ends a session with everything it has in the background, and forgets it; the command that it runs is ended first. */
  close(key: string, endCommand: (id: string) => Promise<unknown>): Promise<boolean>;
  closeAll(): Promise<void>;
}

/** What persistent shells are made of. */
export interface ShellSessionsMeans extends Omit<ShellMeans, 'folder'> {
  /** Folders of the sessions are made below it. */
  readonly folder: string;
  /** After this time without a command, and with nothing in the background, a session's processes end. */
  readonly idleMs: number;
}

interface Entry {
  readonly session: ShellSession;
  /** The command that it runs. */
  running: string | null;
  timer: NodeJS.Timeout | undefined;
  /** Resolves when its processes are not being ended. */
  resting: Promise<void>;
}

/** Keeps persistent shells. */
export function createShellSessions(means: ShellSessionsMeans): ShellSessions {
  const entries = new Map<string, Entry>();
  let made = 0;

  const add = (key: string): Entry => {
    const folder = join(means.folder, String(made++));
    const session = new ShellSession({ ...means, folder });
    const entry: Entry = { session, running: null, timer: undefined, resting: Promise.resolve() };
    entries.set(key, entry);
    return entry;
  };
  const restLater = (entry: Entry) => {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => void restNow(entry).catch(() => {}), means.idleMs).unref();
  };
  const release = (entry: Entry, id: string | null) => {
    if (entry.running !== id) return;
    entry.running = null;
    restLater(entry);
  };
  const restNow = async (entry: Entry) => {
    if ((await entry.session.isQuiet()) && entry.running === null) entry.resting = entry.session.rest();
    else restLater(entry);
  };

  return {
    look: async (key) => entries.get(key)?.session.look(),
    async start(key, spec, base) {
      const entry = entries.get(key) ?? add(key);
      entry.running = spec.id;
      clearTimeout(entry.timer);
      const free = () => release(entry, spec.id);
      try {
        await entry.resting;
        const started = await entry.session.start(spec, base);
        void started.process.exited.then(free);
        return started;
      } catch (error) {
        free();
        throw error;
      }
    },
    async likeSession(spec) {
      const { beginsAs, command } = spec;
      const state = beginsAs === undefined ? undefined : await entries.get(beginsAs)?.session.script();
      if (state === undefined || command.kind === 'argv') return spec;
      // On one line with the command, so that bash counts its lines as usual.
      const script = `shopt -s expand_aliases; eval -- ${quoteOnOneLine(state)} 2>/dev/null; eval -- ${quote(command.script)}`;
      return { ...spec, command: { kind: 'shell', script } };
    },
    detach(key) {
      const entry = entries.get(key);
      if (!entry) return;
      entry.session.detach();
      release(entry, entry.running);
    },
    list: () => [...entries].map(([key, entry]) => toState(key, entry)),
    async close(key, endCommand) {
      const entry = entries.get(key);
      if (!entry) return false;
      // From now on the key means another session: who waits in line does not begin in one that ends.
      entries.delete(key);
      if (entry.running !== null) await endCommand(entry.running);
      clearTimeout(entry.timer);
      await entry.resting;
      await entry.session.close();
      return true;
    },
    async closeAll() {
      const all = [...entries.values()];
      entries.clear();
      for (const { timer } of all) clearTimeout(timer);
      await Promise.all(all.map(({ session }) => session.close()));
    },
  };
}

function toState(key: string, { session, running }: Entry): SessionState {
  return { key, cwd: session.cwd, status: running !== null ? 'busy' : session.isOpen ? 'ready' : 'idle' };
}
