/** How reliably every process of a command is killed: process group, pid namespace by unshare(1), or by bubblewrap. */
export const supervisionLevels = ['group', 'unshare', 'namespace'] as const;

/** One of `supervisionLevels`. */
export type SupervisionLevel = (typeof supervisionLevels)[number];

/** The values of the `sandbox` setting, from loose to strict. */
export const sandboxNames = ['off', 'workspace', 'strict'] as const;

/** One of `sandboxNames`. */
export type SandboxName = (typeof sandboxNames)[number];

/**
 * How Landlock restricts commands to the listed programs, from loose to strict: `off`; `auto` where it can and the list is
 * closed; `report` where it can; `enforce`, or run nothing.
 */
export const execModes = ['off', 'auto', 'report', 'enforce'] as const;

/** One of `execModes`. */
export type ExecMode = (typeof execModes)[number];

/** The programs that commands may run, as far as the kernel can enforce them. */
export interface ExecList {
  /** The listed programs, by name or path. */
  readonly names: readonly string[];
  /** Programs and folders of programs that the listed ones are known to execute. */
  readonly helpers: { readonly names: readonly string[]; readonly folders: readonly string[] };
  /**
   * Listed programs that run arbitrary other programs, or that nacre does not know; the list is closed if there are
   * none.
   */
  readonly open: readonly string[];
}

/** The isolation that the settings ask for. */
export interface Isolation {
  readonly sandbox: SandboxName;
  readonly network: 'on' | 'off';
  /** Hosts that a sandboxed command can reach even with `network: 'off'`. */
  readonly networkAllow: readonly string[];
  /** Whether a command sees only its own processes or all processes of the machine. */
  readonly processes: 'own' | 'host';
  /** Directories that are writable in a sandbox; if empty, the command's `cwd` is. */
  readonly workspace: readonly string[];
  /** Paths in the home directory that the sandbox `workspace` shows in addition to known tools and caches. */
  readonly homeShow: readonly string[];
  /** Paths in the workspace that stay writable although programs outside of the sandbox run them; `*` for all. */
  readonly unprotected: readonly string[];
}

/** The isolation that one command asks for in addition to the settings. */
export interface RequestedIsolation {
  /** Refused if it is looser than the `sandbox` setting. */
  readonly sandbox?: SandboxName | undefined;
  /** Canonical directories that are writable if `Isolation.workspace` is empty. */
  readonly workspace?: readonly string[] | undefined;
  /** Without a sandbox: uses the sandbox `workspace`, but with the network. */
  readonly confined?: boolean | undefined;
}

/** The isolation that was actually enforced on a command; `gaps` lists what was not. */
export interface Enforcement {
  readonly level: SupervisionLevel;
  readonly sandbox: SandboxName;
  /** The mechanism that enforces `sandbox` on files: mounts in a namespace, or Landlock, which leaves more gaps. */
  readonly files: 'off' | 'landlock' | 'namespace';
  /** `filtered` if a proxy allows only the hosts in `networkAllow`. */
  readonly network: 'on' | 'off' | 'filtered';
  readonly processes: 'own' | 'host';
  /** False if sudo, su and other setuid programs cannot gain privileges. */
  readonly setuid: boolean;
  /** Whether Landlock refuses execve() of programs that are not listed. */
  readonly exec: 'off' | 'enforced';
  /** True if /tmp is not that of the connection, so that nothing in it is kept; absent otherwise. */
  readonly discardsTmp?: boolean | undefined;
  readonly gaps: readonly string[];
}
