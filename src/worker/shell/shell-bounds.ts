/** Bounds on a shell that misbehaves; tests use tighter ones. */
export interface ShellBounds {
  /** A shell that takes longer to report or restore its state is killed. */
  readonly restoreMs: number;
  /** A host process that does not report its shell's exit within this time is killed. */
  readonly exitReportMs: number;
  /**
   * Delay of the first check by `watchForReader` for a shell that waits for the next request without having replied.
   */
  readonly firstCheckMs: number;
  /** A shell that prints more than this without a NUL is killed (`StatusReader`). */
  readonly maxStateBytes: number;
}

/** The `ShellBounds` of a server: far above what shells need on a loaded machine. */
export const defaultShellBounds: ShellBounds = {
  restoreMs: 10_000,
  exitReportMs: 2_000,
  firstCheckMs: 500,
  maxStateBytes: 67_108_864,
};
