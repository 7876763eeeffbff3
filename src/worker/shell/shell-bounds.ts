/** Bounds on a shell that misbehaves; tests use tighter ones. */
export interface ShellBounds {
  /** A shell that takes longer to report or restore its state is killed. */
  readonly restoreMs: number;
  /** A host process that does not report its shell's exit within this time is killed. */
  readonly exitReportMs: number;
  /** A shell that owes a reply is first checked after this time: it may be waiting for the next request instead. */
  readonly firstCheckMs: number;
  /** A shell that prints more than this between two messages is killed. */
  readonly maxStateBytes: number;
}

/** Far above what shells need on a loaded machine. */
export const defaultShellBounds: ShellBounds = {
  restoreMs: 10_000,
  exitReportMs: 2_000,
  firstCheckMs: 500,
  maxStateBytes: 67_108_864,
};
