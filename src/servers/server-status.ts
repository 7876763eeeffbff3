import type { MachineReport } from '../contract/report.ts';

/** A running server as `nacre status --json` prints it. */
export interface ServerStatus {
  readonly pid: number;
  /** The part of its audit files' names that is its own; null if it cannot run commands. */
  readonly instance: string | null;
  readonly version: string;
  readonly door: string;
  /** The address that it listens on; null for a server on stdin and stdout. */
  readonly address: string | null;
  readonly started_at: string;
  readonly cwd: string;
  /** The names of the clients that use it now. */
  readonly clients: readonly string[];
  readonly preset: string | null;
  /** The programs that agents may run; `*` is every program. */
  readonly allowed: readonly string[];
  /** The programs that apps may run over HTTP; null for a server without HTTP. */
  readonly apps_allowed: readonly string[] | null;
  /** The sandbox, supervision and network of commands; null if the server cannot run any, for the reason in `problem`. */
  readonly sandbox: MachineReport['sandbox'] | null;
  readonly supervision: MachineReport['supervision'] | null;
  readonly network: MachineReport['network'] | null;
  readonly problem: string | null;
  /** How many commands run now. */
  readonly running: number;
}
