import { join } from 'node:path';
import type { ClosedSession } from '../../contract/backend.ts';
import type { JobSpec, JobState } from '../../contract/job.ts';
import type { SessionState } from '../../contract/session.ts';
import { quote, quoteOnOneLine } from '../../support/quote.ts';
import type { Started } from '../start/starter.ts';
import type { SessionSnapshot } from './reported-state.ts';
import { type ShellHostOptions, ShellSession, type ShellSessionDeps } from './shell-session.ts';

/** Dependencies of `ShellSessions`. */
export interface ShellSessionsDeps extends Omit<ShellSessionDeps, 'folder'> {
  readonly folder: string;
  /** After this time without a command, and with nothing in the background, a session's processes are ended. */
  readonly idleMs: number;
}

interface Entry {
  readonly session: ShellSession;
  running: string | null;
  idleTimer: NodeJS.Timeout | undefined;
  /** The last `goIdle` of the session; a command waits for it. */
  goingIdle: Promise<void>;
}

/** A worker's persistent shells, by key. */
export class ShellSessions {
  readonly #deps: ShellSessionsDeps;
  readonly #entries = new Map<string, Entry>();
  #created = 0;

  constructor(deps: ShellSessionsDeps) {
    this.#deps = deps;
  }

  /** State and directory of a session, for policy; `undefined` for one that has run nothing yet. */
  async snapshot(key: string): Promise<SessionSnapshot | undefined> {
    return this.#entries.get(key)?.session.snapshot();
  }

  /** Starts a command in a session; `options` apply to a shell that is started for it. */
  async start(key: string, spec: JobSpec, options: ShellHostOptions): Promise<Started> {
    const entry = this.#entries.get(key) ?? this.#add(key);
    entry.running = spec.id;
    clearTimeout(entry.idleTimer);
    const free = () => this.#release(entry, spec.id);
    try {
      await entry.goingIdle;
      const started = await entry.session.start(spec, options);
      void started.process.exited.then(free);
      return started;
    } catch (error) {
      free();
      throw error;
    }
  }

  /** Prepends a session's state to a command that begins with it (`beginsAs`) but runs outside of it. */
  async withSessionState(spec: JobSpec): Promise<JobSpec> {
    const { beginsAs, command } = spec;
    const entry = beginsAs === undefined ? undefined : this.#entries.get(beginsAs);
    const state = await entry?.session.restoreScript();
    if (state === undefined || command.kind === 'argv') return spec;
    // The state and the command are on one line, so that `$LINENO` is 1 on the command's first line.
    const script = `shopt -s expand_aliases; eval -- ${quoteOnOneLine(state)} 2>/dev/null; eval -- ${quote(command.script)}`;
    return { ...spec, command: { kind: 'shell', script } };
  }

  /** Detaches a session's running command: it keeps running, and the session is free. */
  detach(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.session.detach();
    this.#release(entry, entry.running);
  }

  list(): readonly SessionState[] {
    return [...this.#entries].map(([key, entry]) => toState(key, entry));
  }

  /** Stops the running command through `endCommand`, ends everything in the background, and forgets the session. */
  async close(
    key: string,
    endCommand: (id: string) => Promise<JobState | undefined>,
  ): Promise<ClosedSession | null> {
    const entry = this.#entries.get(key);
    if (!entry) return null;
    // `delete` first: a command that waits for its turn must not start in a session that is being closed.
    this.#entries.delete(key);
    const ended = entry.running === null ? undefined : await endCommand(entry.running);
    clearTimeout(entry.idleTimer);
    await entry.goingIdle;
    return { survivors: [...(ended?.end?.survivors ?? []), ...(await entry.session.close())] };
  }

  async closeAll(): Promise<void> {
    const all = [...this.#entries.values()];
    this.#entries.clear();
    for (const { idleTimer } of all) clearTimeout(idleTimer);
    await Promise.all(all.map(({ session }) => session.close()));
  }

  #add(key: string): Entry {
    const folder = join(this.#deps.folder, String(this.#created++));
    const session = new ShellSession({ ...this.#deps, folder });
    const entry: Entry = { session, running: null, idleTimer: undefined, goingIdle: Promise.resolve() };
    this.#entries.set(key, entry);
    return entry;
  }

  #release(entry: Entry, id: string | null): void {
    if (entry.running !== id) return;
    entry.running = null;
    this.#scheduleIdle(entry);
  }

  #scheduleIdle(entry: Entry): void {
    clearTimeout(entry.idleTimer);
    const goIdle = () => void this.#goIdle(entry).catch(() => {});
    entry.idleTimer = setTimeout(goIdle, this.#deps.idleMs).unref();
  }

  async #goIdle(entry: Entry): Promise<void> {
    const isIdle = (await entry.session.isQuiet()) && entry.running === null;
    if (isIdle) entry.goingIdle = entry.session.goIdle();
    else this.#scheduleIdle(entry);
  }
}

function toState(key: string, { session, running }: Entry): SessionState {
  return { key, cwd: session.cwd, status: running !== null ? 'busy' : session.isOpen ? 'ready' : 'idle' };
}
