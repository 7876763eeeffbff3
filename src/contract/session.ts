/** What a persistent shell adds to the end of a command. */
export interface SessionEnd {
  /** Where the shell stands now, or where the next one will. */
  readonly cwd: string;
  /** True when the command has ended its own shell; the next command gets a new one. */
  readonly shellEnded: boolean;
  /** False when the shell could not open the files for the command's output, and did not begin it. */
  readonly ran: boolean;
  /** What was brought back before the command, because its shell was a new one; null for a shell that went on. */
  readonly restored: Restoration | null;
}

/** What a new shell got of the one before it. */
export interface Restoration {
  /** Why there is a new shell: the last one has ended, was idle, or went on with a command in the background. */
  readonly reason: 'ended' | 'idle' | 'moved';
  readonly variables: number;
  readonly functions: number;
  readonly aliases: number;
  /** What was not brought back, in words. */
  readonly lost: readonly string[];
}

/** A persistent shell as it is now. */
export interface SessionState {
  readonly key: string;
  readonly cwd: string | null;
  readonly status: 'ready' | 'busy' | 'idle';
}
