import type { Isolation } from '../contract/isolation.ts';
import type { Limits } from '../contract/limits.ts';
import type { ExecWish } from './exec/choose-exec-guard.ts';
import type { Environment } from './machine/environment.ts';
import type { LoginEnvMode } from './machine/login-environment.ts';
import type { ProcessTable } from './processes/process-table.ts';
import type { ShellBounds } from './shell/shell-bounds.ts';
import type { StarterOptions } from './start/choose-starter.ts';
import type { PtyBinary } from './terminal/load-pty.ts';

/** Worker options: the settings of `settings.ts`, and what the process of the server found. */
export interface WorkerOptions extends StarterOptions, Isolation, Limits, ExecWish {
  readonly stateDir: string;
  /** The server's working directory, home directory and environment. */
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
  /** Names of daemons that may stay after the command that started them. */
  readonly keep: readonly string[];
  /** How often to check whether such daemons still run; 1 s by default. */
  readonly keepPollMs?: number | undefined;
  /** nacre's own folders, in addition to `stateDir`, that no command should read. */
  readonly ownFiles: readonly string[];
  /** How many shells to start ahead of need. */
  readonly warmShells: number;
  /** After this time without a command a persistent shell's processes end; its state is kept. */
  readonly sessionIdleMs: number;
  /** Bounds on a persistent shell that misbehaves; tests use tighter ones. */
  readonly shellBounds?: Partial<ShellBounds> | undefined;
  /** Loads the native module for terminals, in place of the installed package. */
  readonly loadPty?: (() => Promise<PtyBinary>) | undefined;
  /** False if cgroups must not be used; tests check what is enforced without them. */
  readonly cgroups?: boolean | undefined;
}
