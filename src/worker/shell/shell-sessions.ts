import { join } from 'node:path';
import type { JobSpec } from '../../contract/job.ts';
import type { SessionState } from '../../contract/session.ts';
import { quote, quoteOnOneLine } from '../../support/quote.ts';
import type { Environment } from '../machine/environment.ts';
import type { Started } from '../start/starter.ts';
import type { SessionSnapshot } from './reported-state.ts';
import { ShellSession, type ShellSessionDeps } from './shell-session.ts';

/** A worker's persistent shells, by key. */
export interface ShellSessions {
  /** State and directory of a session, for policy; undefined for one that has run nothing yet. */
  snapshot(key: string): Promise<SessionSnapshot | undefined>;
  /** Starts a command in a session; `base` replaces the server's variables in a shell that is started for it. */
  start(key: string, spec: JobSpec, base?: Environment | undefined): Promise<Started>;
  /** Prepends a session's state to a command that begins with it (`beginsAs`) but runs outside of it. */
  withSessionState(spec: JobSpec): Promise<JobSpec>;
  /** Detaches a session's running command: it keeps running, and the session is free. */
  detach(key: string): void;
  list(): readonly SessionState[];
  /** Stops the running command through `endCommand`, ends everything in the background, and forgets the session. */
  close(key: string, endCommand: (id: string) => Promise<unknown>): Promise<boolean>;
  closeAll(): Promise<void>;
}

/** What persistent shells need. */
export interface ShellSessionsDeps extends Omit<ShellSessionDeps, 'folder'> {
  /** Parent of the sessions' folders. */
  readonly folder: string;
  /** After this time without a command, and with nothing in the background, a session's processes are ended. */
  readonly idleMs: number;
}

interface Entry {
  readonly session: ShellSession;
  /** Id of the running command. */
  running: string | null;
  idleTimer: NodeJS.Timeout | undefined;
  /** Resolves when the session's idle processes are not being ended. */
  goingIdle: Promise<void>;
}

/** Creates the registry of persistent shells. */
export function createShellSessions(deps: ShellSessionsDeps): ShellSessions {
  const entries = new Map<string, Entry>();
  let made = 0;

  const add = (key: string): Entry => {
    const folder = join(deps.folder, String(made++));
    const session = new ShellSession({ ...deps, folder });
    const entry: Entry = { session, running: null, idleTimer: undefined, goingIdle: Promise.resolve() };
    entries.set(key, entry);
    return entry;
  };
  const scheduleIdle = (entry: Entry) => {
    clearTimeout(entry.idleTimer);
    entry.idleTimer = setTimeout(() => void goIdle(entry).catch(() => {}), deps.idleMs).unref();
  };
  const release = (entry: Entry, id: string | null) => {
    if (entry.running !== id) return;
    entry.running = null;
    scheduleIdle(entry);
  };
  const goIdle = async (entry: Entry) => {
    if ((await entry.session.isQuiet()) && entry.running === null) entry.goingIdle = entry.session.goIdle();
    else scheduleIdle(entry);
  };

  return {
    snapshot: async (key) => entries.get(key)?.session.snapshot(),
    async start(key, spec, base) {
      const entry = entries.get(key) ?? add(key);
      entry.running = spec.id;
      clearTimeout(entry.idleTimer);
      const free = () => release(entry, spec.id);
      try {
        await entry.goingIdle;
        const started = await entry.session.start(spec, base);
        void started.process.exited.then(free);
        return started;
      } catch (error) {
        free();
        throw error;
      }
    },
    async withSessionState(spec) {
      const { beginsAs, command } = spec;
      const state = beginsAs === undefined ? undefined : await entries.get(beginsAs)?.session.restoreScript();
      if (state === undefined || command.kind === 'argv') return spec;
      // One line with the command, so that `$LINENO` is 1 on the command's first line.
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
      // Delete first: a command that waits for its turn must not start in a session that is being closed.
      entries.delete(key);
      if (entry.running !== null) await endCommand(entry.running);
      clearTimeout(entry.idleTimer);
      await entry.goingIdle;
      await entry.session.close();
      return true;
    },
    async closeAll() {
      const all = [...entries.values()];
      entries.clear();
      for (const { idleTimer } of all) clearTimeout(idleTimer);
      await Promise.all(all.map(({ session }) => session.close()));
    },
  };
}

function toState(key: string, { session, running }: Entry): SessionState {
  return { key, cwd: session.cwd, status: running !== null ? 'busy' : session.isOpen ? 'ready' : 'idle' };
}
