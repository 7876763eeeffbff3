/** How certain it is that nothing of a command survives, from least to most. */
export const supervisionLevels = ['group', 'unshare', 'namespace'] as const;

/** One rung of the ladder. */
export type SupervisionLevel = (typeof supervisionLevels)[number];

/** What a command may do to the machine, from loose to strict. */
export const sandboxNames = ['off', 'workspace', 'strict'] as const;

/** One isolation profile. */
export type SandboxName = (typeof sandboxNames)[number];

/** Whether the kernel is to hold commands to the listed programs: not, where it can, or else nothing runs. */
export const execModes = ['off', 'report', 'enforce'] as const;

/** One of these. */
export type ExecMode = (typeof execModes)[number];

/** What the settings ask for. */
export interface Isolation {
  readonly sandbox: SandboxName;
  readonly network: 'on' | 'off';
  /** Hosts that a command in a sandbox reaches although its network is off. */
  readonly networkAllow: readonly string[];
  /** Whether a command sees only processes that it started itself, or all of the machine's. */
  readonly processes: 'own' | 'host';
  /** Directories that stay writable in a sandbox; empty means the working directory. */
  readonly workspace: readonly string[];
}

/** What one command asks for beside the settings. */
export interface AskedIsolation {
  /** Refused when it is looser than that of the settings. */
  readonly sandbox?: SandboxName | undefined;
  /** Canonical directories that stay writable where the settings name none. */
  readonly workspace?: readonly string[] | undefined;
}

/** What was really enforced on a command; whatever was not stands in the gaps. */
export interface Enforcement {
  readonly level: SupervisionLevel;
  readonly sandbox: SandboxName;
  /** `filtered` where a proxy lets through what is listed and nothing else. */
  readonly network: 'on' | 'off' | 'filtered';
  readonly processes: 'own' | 'host';
  /** False where sudo, su and other setuid programs cannot gain rights. */
  readonly setuid: boolean;
  /** Whether the kernel itself executes nothing but what is listed. */
  readonly exec: 'off' | 'enforced';
  readonly gaps: readonly string[];
}
