import type { Enforcement, SandboxName, SupervisionLevel } from './isolation.ts';

/** Why namespaces cannot be used, and the next step. */
export interface NamespaceFault {
  /** `missing` if installing bubblewrap is enough, `forbidden` if it would not help. */
  readonly kind: 'missing' | 'forbidden';
  /** A clause, such as `bubblewrap is not installed`. */
  readonly reason: string;
  readonly fix: string;
}

/** Result of `Backend.report`: the capabilities of the worker's machine, as `nacre doctor` shows them. */
export interface MachineReport {
  readonly bash: { readonly path: string; readonly version: string };
  /** The `PATH` of commands. */
  readonly path: string;
  /** Where the environment of commands was read from, in words. */
  readonly loginEnvironment: string;
  readonly withheldEnv: readonly string[];
  /** The folder of FIFOs and spool files. */
  readonly folder: string;
  /** How processes are listed, such as from `/proc`. */
  readonly processTable: string;
  /** How reliably every process of a command is killed. */
  readonly supervision: SupervisionLevel;
  readonly sandbox: SandboxName;
  /** The mechanism that enforces `sandbox`. */
  readonly files: Enforcement['files'];
  /** The mechanism that could enforce the sandbox `workspace`; `strict` needs `namespace`. */
  readonly workspaceBy: Exclude<Enforcement['files'], 'off'> | null;
  /** Why commands do not run in namespaces of bubblewrap; null if they do. */
  readonly namespaceFault: NamespaceFault | null;
  /** The network access of commands. */
  readonly network: Enforcement['network'];
  readonly exec: Enforcement['exec'];
  /** A clause about what `exec: auto` enforces. */
  readonly execNote?: string | undefined;
  /** Whether Landlock can restrict commands, in words: `available`, or `not available` with the reason. */
  readonly landlock: string;
  /** Whether the optional package `@lydell/node-pty` is installed. */
  readonly pty: boolean;
  /** True if commands cannot reach nacre's own files: its sockets, settings, tokens and audit log. */
  readonly hidesOwnFiles: boolean;
  /** The requested isolation that cannot be enforced here, one sentence each. */
  readonly gaps: readonly string[];
}

/** The client name of `nacre doctor` when it tests a server; its commands are left out of `nacre learn`. */
export const trialClient = 'nacre doctor';

/** The result of testing a server over MCP with one harmless command. */
export interface ServerTrial {
  /** The negotiated protocol revision. */
  readonly protocol: string;
  readonly tools: readonly string[];
  /** Whether the command ran; otherwise `text` has the server's refusal. */
  readonly ran: boolean;
  readonly text: string;
  /** The failure code of the reply, such as `policy_denied`; undefined if the command ran. */
  readonly code: string | undefined;
  readonly durationMs: number;
}
