/** How much of the machine a command may use; what is not set is not limited. */
export interface Limits {
  /** Bytes of memory (data and anonymous mappings) that each process may have. */
  readonly memoryBytes?: number | undefined;
  /** Bytes of memory that all its processes may have together. */
  readonly treeMemoryBytes?: number | undefined;
  /** Processes and threads that it may have at one time. */
  readonly maxProcesses?: number | undefined;
  /** Seconds of CPU time that each process may use. */
  readonly cpuSeconds?: number | undefined;
  /** Bytes that a file may have that a process writes. */
  readonly fileBytes?: number | undefined;
}

/** What a command's whole tree has used; null where nobody could look, never a guess. */
export interface Resources {
  /** CPU time of all processes, those that have ended and were waited for included. */
  readonly cpuMs: number | null;
  /** The most memory that was seen resident at one time, each process for itself: what two share counts twice. */
  readonly peakMemoryBytes: number | null;
  /** The most processes that were seen at one time. */
  readonly processes: number | null;
  /** Bytes that its processes read and wrote, from and to files, pipes and terminals alike. */
  readonly readBytes: number | null;
  readonly writtenBytes: number | null;
}
