import type { Enforcement, SandboxName, SupervisionLevel } from './isolation.ts';

/** What a worker found on its machine, for people. */
export interface MachineReport {
  readonly bash: { readonly path: string; readonly version: string };
  /** The PATH that commands get. */
  readonly path: string;
  /** Where the environment was taken from, in words. */
  readonly loginEnvironment: string;
  readonly withheldEnv: readonly string[];
  /** Where pipes and spools are. */
  readonly folder: string;
  /** How processes are found. */
  readonly processTable: string;
  /** How certain it is that nothing of a command survives. */
  readonly supervision: SupervisionLevel;
  readonly sandbox: SandboxName;
  /** What commands have of the network. */
  readonly network: Enforcement['network'];
  readonly exec: Enforcement['exec'];
  /** Whether the kernel could hold commands to a list of programs, in words. */
  readonly landlock: string;
  /** Whether the optional package for terminals is there. */
  readonly pty: boolean;
  /** Whether commands cannot reach nacre's own files: its sockets, settings, tokens and the audit log. */
  readonly hidesOwnFiles: boolean;
  /** What is not enforced here, in words. */
  readonly gaps: readonly string[];
}

/** The name under which nacre tries its own server; what it asks for is nobody's work. */
export const trialClient = 'nacre doctor';

/** What became of one call to a server over MCP. */
export interface ServerTrial {
  /** The protocol revision that was agreed on. */
  readonly protocol: string;
  readonly tools: readonly string[];
  /** Whether the harmless command ran; what the server said in its place stands in `text`. */
  readonly ran: boolean;
  readonly text: string;
  readonly durationMs: number;
}
