import type { Enforcement } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { SessionEnd } from '../../contract/session.ts';
import type { ExecChoice } from '../exec/choose-exec-guard.ts';
import type { FifoPool } from '../io/fifo-pool.ts';
import type { LimitEnforcer } from '../limits/limit-enforcer.ts';
import type { ResourceWatch } from '../limits/resource-watch.ts';
import type { Environment } from '../machine/environment.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import type { ProcessTree } from '../processes/process-tree.ts';
import type { PtyBinary } from '../terminal/load-pty.ts';
import type { StartedProcess } from './start-process.ts';

/** What every starter needs. */
export interface StartDeps {
  readonly bashPath: string;
  readonly fifos: FifoPool;
  readonly table: ProcessTable;
  readonly env: Environment;
  /** The variable that identifies this server in every process that it starts. */
  readonly instance: Environment;
  /** The PATH of commands. */
  readonly path: string;
  readonly limitEnforcer: LimitEnforcer;
  /** Names of daemons that may stay after their command. */
  readonly keep: readonly string[];
  /** The exec guard, and the gaps that it leaves. */
  readonly execChoice: ExecChoice;
  /** Loads the native module for terminals; rejects if it is not installed. */
  loadPty(): Promise<PtyBinary>;
  /** Where to put a long script for a moment. */
  scriptPath(id: string): string;
}

/** A command that was started. */
export interface Started {
  readonly process: StartedProcess;
  readonly tree: ProcessTree;
  readonly enforcement: Enforcement;
  /** The hosts that a filtered network has refused so far. */
  readonly deniedHosts?: (() => readonly string[]) | undefined;
  readonly watch: ResourceWatch;
  /** For a command in a persistent shell: how it left the shell. Its background processes keep running. */
  readonly session?: Promise<SessionEnd> | undefined;
}

/** What a start needs in addition to the command. */
export interface StartOptions {
  /** nacre's own folders that the command may see. */
  readonly visibleFolders?: readonly string[] | undefined;
  /** The server's variables that this command gets, if they differ from the default. */
  readonly baseEnv?: Environment | undefined;
}

/** One way to start commands. */
export interface Starter {
  readonly level: Enforcement['level'];
  readonly exec: Enforcement['exec'];
  /** Whether a started shell waits for its order, so that nothing of the command runs before. */
  readonly waitsForOrder: boolean;
  /** Whether commands cannot reach nacre's own files. */
  readonly hidesOwnFiles: boolean;
  /** Sentences about what this way of starting does not enforce. */
  readonly gaps: readonly string[];
  start(spec: JobSpec, options?: StartOptions): Promise<Started>;
  close(): Promise<void>;
}
