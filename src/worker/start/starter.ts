import type { Enforcement } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { SessionEnd } from '../../contract/session.ts';
import type { Watch } from '../limits/create-watch.ts';
import type { Environment } from '../machine/environment.ts';
import type { ProcessTree } from '../processes/process-tree.ts';
import type { StartedProcess } from './start-process.ts';

/** A command that runs, with its processes in view and what is enforced on it. */
export interface Started {
  readonly process: StartedProcess;
  readonly tree: ProcessTree;
  readonly enforcement: Enforcement;
  /** The hosts that it was refused so far, where its network is filtered. */
  readonly deniedHosts?: (() => readonly string[]) | undefined;
  readonly watch: Watch;
  /** For a command in a persistent shell: how it left the shell. What such a command leaves running lives on. */
  readonly session?: Promise<SessionEnd> | undefined;
}

/** What a start needs beyond the command. */
export interface StartOptions {
  /** Folders of nacre's own that the command may look into. */
  readonly shows?: readonly string[] | undefined;
  /** The server's variables that this command gets, where they are others than usual. */
  readonly base?: Environment | undefined;
}

/** One way to start commands. */
export interface Starter {
  readonly level: Enforcement['level'];
  readonly exec: Enforcement['exec'];
  /** Whether nothing of a command runs before it gets its order. */
  readonly waits: boolean;
  /** Whether commands cannot reach nacre's own files. */
  readonly hidesOwnFiles: boolean;
  /** What this way cannot promise, in sentences. */
  readonly gaps: readonly string[];
  start(spec: JobSpec, options?: StartOptions): Promise<Started>;
  close(): Promise<void>;
}
