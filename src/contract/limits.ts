/** Resource limits of a command; an absent field means no limit. */
export interface Limits {
  /** Bytes of data and anonymous memory (`RLIMIT_DATA`) per process. */
  readonly memoryBytes?: number | undefined;
  /** Bytes of memory for all its processes together. */
  readonly treeMemoryBytes?: number | undefined;
  /** Processes and threads at one time. */
  readonly maxProcesses?: number | undefined;
  /** Seconds of CPU time (`RLIMIT_CPU`) per process. */
  readonly cpuSeconds?: number | undefined;
  /** Size in bytes (`RLIMIT_FSIZE`) of any file that a process writes. */
  readonly fileBytes?: number | undefined;
}

/** The resources that a command's process tree has used; null where they could not be measured. */
export interface Resources {
  /** CPU time of all processes, including those that exited and were reaped. */
  readonly cpuMs: number | null;
  /** The highest sum of resident memory that was sampled; pages shared by two processes count twice. */
  readonly peakMemoryBytes: number | null;
  /** The highest number of processes that was sampled. */
  readonly processes: number | null;
  /** Bytes that its processes read, from files, pipes and terminals alike. */
  readonly readBytes: number | null;
  /** Bytes that its processes wrote, likewise. */
  readonly writtenBytes: number | null;
}
