import type { Place, SessionFacts } from '../../contract/facts.ts';
import type { Restoration } from '../../contract/session.ts';
import { tryRealpath } from '../../support/try-realpath.ts';
import type { SessionPlace } from './session-place.ts';
import {
  emptyState,
  isPlausible,
  type ShellState,
  toFingerprint,
  toRestoration,
  toRestoreScript,
  toSessionFacts,
  toShellState,
} from './shell-state.ts';
import type { PrintedState } from './shell-status.ts';
import { createDirectoryTracker, type TrackedDirectory } from './track-directory.ts';

/** The state of a session's shell and its directory, as `inspect` returns them to policy. */
export interface SessionSnapshot {
  readonly session: SessionFacts;
  readonly ownPlace: Place;
}

/** The last state that a session's shell reported, and whether its directory has changed since. */
export class ReportedState {
  readonly #startDirectory: string;
  readonly #sandboxed: Pick<SessionPlace, 'isPrivate'>;
  #state: ShellState | null = null;
  #fresh: ShellState | null = null;
  #fingerprint: string | null = null;
  /** Made from `#state` when first needed. */
  #facts: SessionFacts | null = null;
  readonly #trackDirectory = createDirectoryTracker();
  /** The shell's directory as `snapshot` found it for the next command. */
  #place: Place | null = null;
  /** True when the path of the shell's directory has another inode by now. */
  #isReplaced = false;

  constructor(startDirectory: string, sandboxed: Pick<SessionPlace, 'isPrivate'>) {
    this.#startDirectory = startDirectory;
    this.#sandboxed = sandboxed;
  }

  /** The last state; `null` before the first command. */
  get state(): ShellState | null {
    return this.#state;
  }

  /** The shell's directory, or the one in which it would start. */
  get cwd(): string {
    return this.#state?.cwd ?? this.#startDirectory;
  }

  /** Records what a shell printed; returns `false` if the shell must not get another request. */
  update(cwd: string, printed: PrintedState): boolean {
    const fingerprint = toFingerprint(cwd, printed);
    // Most commands change nothing, so that `#facts` stays valid.
    if (fingerprint === this.#fingerprint) return true;
    const state = toShellState(cwd, printed);
    const plausible = isPlausible(state);
    const isUsable = plausible && !state.tampered;
    this.#fingerprint = isUsable ? fingerprint : null;
    if (plausible) {
      this.#state = state;
      this.#facts = null;
    }
    return isUsable;
  }

  /** Remembers the current state as that of a fresh shell, with which `toScript` compares. */
  markFresh(): void {
    this.#fresh = this.#state;
  }

  /** Facts for policy; `undefined` before the first command. */
  async snapshot(): Promise<SessionSnapshot | undefined> {
    if (!this.#state) return undefined;
    this.#facts ??= toSessionFacts(this.#state, this.#fresh);
    const { place, isReplaced } = await this.#resolve(this.#state.cwd);
    this.#place = place;
    this.#isReplaced ||= isReplaced;
    return { session: this.#facts, ownPlace: place };
  }

  async #resolve(cwd: string): Promise<TrackedDirectory> {
    if (this.#sandboxed.isPrivate(cwd)) return { place: { asked: cwd, path: cwd }, isReplaced: false };
    return this.#trackDirectory(cwd);
  }

  /** A script that restores `state` in a new shell. */
  toScript(state: ShellState): string {
    return toRestoreScript(state, this.#fresh ?? emptyState(state.cwd));
  }

  /** Compares `before` with what a new shell reported after running its restore script. */
  compareWith(before: ShellState, reason: Restoration['reason']): Restoration {
    return toRestoration(before, this.#state ?? before, reason);
  }

  /** The `Restoration` of a new shell in which only the directory could be restored. */
  directoryOnly(reason: Restoration['reason']): Restoration {
    const nothing = emptyState(this.cwd);
    return { ...toRestoration(nothing, nothing, reason), lost: ['everything but the directory'] };
  }

  /** Canonical path of the shell's directory; `null` when it has no path any more. Consumes the result of `snapshot`. */
  currentDirectory(): string | null {
    const isReplaced = this.#isReplaced;
    this.#isReplaced = false;
    // After `rm` and `mkdir` the path names a new directory; the shell's cwd is still the deleted one.
    if (isReplaced) return null;
    const known = this.#place?.asked === this.cwd ? this.#place.path : undefined;
    this.#place = null;
    return known ?? tryRealpath(this.cwd);
  }
}
