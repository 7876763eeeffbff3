/** The state of a persistent shell after a command, in `JobEnd.session`. */
export interface SessionEnd {
  /** The working directory of the shell, or of the one that will replace it. */
  readonly cwd: string;
  /** True if the command ended its shell, for example by `exit`; the next command gets a new one. */
  readonly shellEnded: boolean;
  /** False if the shell did not run the command, because open() of the files for its output failed. */
  readonly ran: boolean;
  /** The state that was restored into a new shell before the command; null if the shell was still running. */
  readonly restored: Restoration | null;
}

/** The state that a new shell got from the previous one, as counts for `SessionEnd.restored`. */
export interface Restoration {
  /**
   * Why there is a new shell: the previous one ended, was closed while idle, moved to the background with its command,
   * or had a layer of its own.
   */
  readonly reason: 'ended' | 'idle' | 'moved' | 'layer';
  readonly variables: number;
  readonly functions: number;
  readonly aliases: number;
  /** The state that could not be restored, in words. */
  readonly lost: readonly string[];
}

/** The current state of a persistent shell. */
export interface SessionState {
  readonly key: string;
  readonly cwd: string | null;
  readonly status: 'ready' | 'busy' | 'idle';
}
