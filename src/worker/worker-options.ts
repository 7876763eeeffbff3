import type { ChangesMode } from '../contract/changes.ts';
import type { Isolation } from '../contract/isolation.ts';
import type { Limits } from '../contract/limits.ts';
import type { ExecOptions } from './exec/choose-exec-guard.ts';
import type { Environment } from './machine/environment.ts';
import type { LoginEnvMode } from './machine/login-environment.ts';
import type { ProcessTable } from './processes/process-table.ts';
import type { ShellBounds } from './shell/shell-bounds.ts';
import type { StarterOptions } from './start/choose-starter.ts';
import type { PtyBinary } from './terminal/load-pty.ts';

/** Options of a worker: the settings of `settings.ts`, and facts about the server's process. */
export interface WorkerOptions extends StarterOptions, Isolation, Limits, ExecOptions {
  readonly stateDir: string;
  /** The `cwd`, home directory and environment of the server's process. */
  readonly cwd: string;
  readonly home: string;
  readonly environment: Environment;
  readonly table: ProcessTable;
  readonly bash: string | undefined;
  readonly loginEnv: LoginEnvMode;
  readonly envPass: readonly string[];
  readonly envWithhold: readonly string[];
  readonly ringBytes: number;
  readonly spoolBytes: number;
  readonly spoolTotalBytes: number;
  readonly drainMs: number;
  readonly killGraceMs: number;
  /** Names of daemons that may stay after the command that started them (`KeptDaemons`). */
  readonly keep: readonly string[];
  /** How often to check whether such daemons still run; 1 s by default. */
  readonly keepPollMs?: number | undefined;
  /** nacre's own folders, in addition to `stateDir`, that no command should read. */
  readonly ownFiles: readonly string[];
  /** How commands change files; a call may ask for a stricter way. */
  readonly changes: ChangesMode;
  /** The bytes and the days beyond which the oldest kept changes are removed. */
  readonly changesBytes: number;
  readonly changesDays: number;
  /** The largest file that a command with a layer may write. */
  readonly changesFileBytes: number;
  /** Whether a tracked command that changed a larger file may change files directly when it is run again. */
  readonly changesLarge?: 'refuse' | 'direct' | undefined;
  /** The size of the `KeeperPool`. */
  readonly warmShells: number;
  /** After this time without a command a persistent shell's processes end; its state is kept. */
  readonly sessionIdleMs: number;
  /** Bounds on a persistent shell that misbehaves; tests use tighter ones. */
  readonly shellBounds?: Partial<ShellBounds> | undefined;
  /** Replaces the loading of `@lydell/node-pty`, in tests. */
  readonly loadPty?: (() => Promise<PtyBinary>) | undefined;
  /** The folder with the logs of commands that outlive the connection, one folder per command; absent if there are none. */
  readonly keptFolder?: string | undefined;
  /** The umask of commands, if this process has another one. */
  readonly umask?: number | undefined;
  /** False if cgroups must not be used; tests check what is enforced without them. */
  readonly cgroups?: boolean | undefined;
}
