import type { Enforcement } from '../../contract/isolation.ts';
import type { JobSpec, ProtectedUse } from '../../contract/job.ts';
import type { SessionEnd } from '../../contract/session.ts';
import type { ChangingCommand, FinishedChanges } from '../changes/changes-store.ts';
import type { ExecEnforcement } from '../exec/choose-exec-guard.ts';
import type { DenialEvidence } from '../exec/find-denied.ts';
import type { FifoPool } from '../io/fifo-pool.ts';
import type { LimitEnforcer } from '../limits/limit-enforcer.ts';
import type { ResourceWatch } from '../limits/resource-watch.ts';
import type { Environment } from '../machine/environment.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import type { ProcessTree } from '../processes/process-tree.ts';
import type { Rooms } from '../room/rooms.ts';
import type { LandlockSandbox } from '../sandbox/landlock-sandbox.ts';
import type { PtyBinary } from '../terminal/load-pty.ts';
import type { StartedProcess } from './start-process.ts';

/** The dependencies of every `Starter`. */
export interface StartDeps {
  readonly bashPath: string;
  readonly fifos: FifoPool;
  readonly table: ProcessTable;
  readonly env: Environment;
  /** `NACRE_INSTANCE` with the name of this server, for every process that it starts. */
  readonly instance: Environment;
  /** The PATH of commands. */
  readonly path: string;
  readonly limitEnforcer: LimitEnforcer;
  /** Names of daemons that may stay after their command (`KeptDaemons`). */
  readonly keep: readonly string[];
  /** Set if Landlock enforces the sandbox `workspace`, because namespaces cannot. */
  readonly landlock?: LandlockSandbox | undefined;
  /** Loads `@lydell/node-pty`; rejects if it is not installed. */
  loadPty(): Promise<PtyBinary>;
  /** Where `openScript` puts the script of a job. */
  scriptPath(id: string): string;
}

/** The result of `Starter.start`. */
export interface Started {
  readonly process: StartedProcess;
  readonly tree: ProcessTree;
  readonly enforcement: Enforcement;
  /** The hosts that the `NetworkProxy` has refused so far. */
  readonly deniedHosts?: (() => readonly string[]) | undefined;
  /** Finds the programs that the kernel refused to execute. */
  readonly deniedPrograms?: ((evidence: DenialEvidence) => readonly string[]) | undefined;
  /** Finds what happened to paths that the sandbox protects, from the end of the command's stderr. */
  readonly protectedUse?: ((stderr: string) => ProtectedUse | undefined) | undefined;
  readonly watch: ResourceWatch;
  /** The layer that receives its changes, if they are tracked or held. */
  readonly layer?: JobLayer | undefined;
  /** For a command in a persistent shell: how it left the shell. Its background processes keep running. */
  readonly session?: Promise<SessionEnd> | undefined;
}

/** The layer of one command. */
export interface JobLayer {
  /** A sentence for the reply if the layer is on top of held changes of earlier commands. */
  readonly note?: string | undefined;
  /** Called just before the command runs. */
  begin(): void;
  /**
   * Called when the command has ended: ends its processes, and keeps or applies its changes. After SIGXFSZ, because it changed
   * a file that is too large to be copied, they are only held.
   */
  finish(isTooLarge: boolean): Promise<FinishedChanges | undefined>;
}

/** Options of `Starter.start`. */
export interface StartOptions {
  /** The list of the command's caller, as the kernel enforces it. */
  readonly exec: ExecEnforcement;
  /** nacre's own folders that the command may see (`withVisibleFolders`). */
  readonly visibleFolders?: readonly string[] | undefined;
  /** The server's variables that this command gets, if they differ from the default. */
  readonly baseEnv?: Environment | undefined;
  /** The command whose changes a layer receives; without it changes are made directly. */
  readonly layered?: ChangingCommand | undefined;
}

/** One way to start commands: `GroupStarter` or `SupervisedStarter`. */
export interface Starter {
  readonly level: Enforcement['level'];
  /** Whether a started shell waits for `StartedProcess.launchMessage` before it runs the command. */
  waitsForLaunchMessage(exec: ExecEnforcement): boolean;
  /** Whether commands cannot reach nacre's own files. */
  readonly hidesOwnFiles: boolean;
  /** Sentences for `Enforcement.gaps`: what this starter does not enforce. */
  gaps(exec: ExecEnforcement): readonly string[];
  /** The rooms of connections; undefined if this starter has none. */
  readonly rooms: Rooms | undefined;
  start(spec: JobSpec, options: StartOptions): Promise<Started>;
  /** Removes the room of a connection once its commands have ended. */
  closeRoom(key: string): Promise<void>;
  close(): Promise<void>;
}
