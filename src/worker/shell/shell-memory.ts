import type { Place, SessionFacts } from '../../contract/facts.ts';
import type { Restoration } from '../../contract/session.ts';
import { canonicalOrGiven } from '../../support/canonical-or-given.ts';
import { keepPlace } from './keep-place.ts';
import {
  isCredible,
  nothingKnown,
  type ShellState,
  toFingerprint,
  toRestoration,
  toRestoreScript,
  toSessionFacts,
  toShellState,
} from './shell-state.ts';
import type { PrintedState } from './shell-status.ts';

/** What a session has become, and where it stands. */
export interface SessionLook {
  readonly session: SessionFacts;
  readonly ownPlace: Place;
}

/** What is known of a session's shell: what it has told of itself, and what came of its directory since. */
export class ShellMemory {
  readonly #begins: string;
  #state: ShellState | null = null;
  /** What the first shell was like before any command. */
  #fresh: ShellState | null = null;
  #fingerprint: string | null = null;
  #facts: SessionFacts | null = null;
  readonly #placeOf = keepPlace();
  /** Where it stands, as it was looked at for the command that comes next. */
  #place: Place | null = null;
  /** True when another directory has the path of the one that the shell stands in. */
  #mustMove = false;

  /** Nothing is known but where it would begin. */
  constructor(begins: string) {
    this.#begins = begins;
  }

  /** The last that is known; null before the first command. */
  get state(): ShellState | null {
    return this.#state;
  }

  /** Where it stands, or where it would begin. */
  get cwd(): string {
    return this.#state?.cwd ?? this.#begins;
  }

  /** Takes what a shell tells; false for one that is not to be given another order. */
  learn(cwd: string, printed: PrintedState): boolean {
    const fingerprint = toFingerprint(cwd, printed);
    // Most commands change nothing: then all that was made of it still holds.
    if (fingerprint === this.#fingerprint) return true;
    const state = toShellState(cwd, printed);
    const credible = isCredible(state);
    const isFit = credible && !state.spoilt;
    this.#fingerprint = isFit ? fingerprint : null;
    if (credible) {
      this.#state = state;
      this.#facts = null;
    }
    return isFit;
  }

  /** Notes that no command has run yet. */
  noteFresh(): void {
    this.#fresh = this.#state;
  }

  /** What policy has to know; undefined before the first command. */
  async look(): Promise<SessionLook | undefined> {
    if (!this.#state) return undefined;
    this.#facts ??= toSessionFacts(this.#state, this.#fresh);
    const { place, isReplaced } = await this.#placeOf(this.#state.cwd);
    this.#place = place;
    this.#mustMove ||= isReplaced;
    return { session: this.#facts, ownPlace: place };
  }

  /** What brings another shell into that state. */
  toScript(state: ShellState): string {
    return toRestoreScript(state, this.#fresh ?? nothingKnown(state.cwd));
  }

  /** What has come back of a state in a new shell that has told its own. */
  whatCameBack(before: ShellState, reason: Restoration['reason']): Restoration {
    return toRestoration(before, this.#state ?? before, reason);
  }

  /** The same for a new shell that could only be brought to the directory. */
  onlyTheDirectory(reason: Restoration['reason']): Restoration {
    const nothing = nothingKnown(this.cwd);
    return { ...toRestoration(nothing, nothing, reason), lost: ['everything but the directory'] };
  }

  /** The directory in which the shell stands now; null where that has no path any more. */
  standsIn(): string | null {
    const mustMove = this.#mustMove;
    this.#mustMove = false;
    if (mustMove) return null;
    // One that was deleted leaves another one, where the shell does not stand.
    const looked = this.#place?.asked === this.cwd ? this.#place.path : undefined;
    this.#place = null;
    return looked ?? canonicalOrGiven(this.cwd);
  }
}
