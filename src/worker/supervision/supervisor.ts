import type { Enforcement, Isolation, SupervisionLevel } from '../../contract/isolation.ts';
import { type BubblewrapOptions, toBubblewrapCommand } from '../sandbox/bubblewrap.ts';
import { type SandboxPlan, toNetwork } from '../sandbox/sandbox-plan.ts';

/** A program, `bwrap` or `unshare`, that runs a keeper in a pid namespace, where no process can survive the server. */
export interface Supervisor {
  readonly level: Exclude<SupervisionLevel, 'group'>;
  /** The number of nacre's processes in the namespace: init and keeper, or a keeper that is init. */
  readonly ownProcesses: number;
  /** Whether setuid programs such as `sudo` still gain rights. */
  keepsSetuid(deps: { readonly isRoot: boolean }): boolean;
  /** Sentences for `Enforcement.gaps`: what it does not enforce with this isolation. */
  gaps(deps: { readonly isRoot: boolean }, isolation: Pick<Isolation, 'sandbox'>): readonly string[];
  /** The command line, up to the program that it runs. */
  toCommand(plan: SandboxPlan, options?: BubblewrapOptions): readonly [string, ...string[]];
}

/** The gap without `bwrap`, which alone can hide files. */
export const filesShown = "nacre's own files are not hidden from commands.";

/** All supervisors, best first; `chooseStarter` finds out which of them work on this machine. */
export const supervisors: readonly Supervisor[] = [
  {
    level: 'namespace',
    ownProcesses: 2,
    keepsSetuid: ({ isRoot }) => isRoot,
    // In a sandbox even root has no capabilities (`--cap-drop ALL`).
    gaps: ({ isRoot }, { sandbox }) =>
      isRoot && sandbox === 'off'
        ? ["A command that runs as root can unmount the mounts that hide nacre's own files."]
        : [],
    toCommand: toBubblewrapCommand,
  },
  {
    level: 'unshare',
    ownProcesses: 1,
    keepsSetuid: ({ isRoot }) => isRoot,
    gaps: () => [filesShown],
    // Descriptors need no option: the keeper, which is the init process here, inherits all of them.
    toCommand: ({ isRoot }) => [
      'setpriv',
      '--pdeathsig',
      'KILL',
      'unshare',
      ...(isRoot ? [] : ['--user', '--map-current-user']),
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
    ],
  },
];

const lateSockets =
  'Unix sockets that other programs open outside /tmp and /run after the sandbox was created can be reached.';

/** Summarises what is enforced for a command, as `Enforcement` in its `JobState`. */
export function toEnforcement(
  level: SupervisionLevel,
  isolation: Isolation,
  more: Pick<Enforcement, 'setuid' | 'exec' | 'gaps' | 'discardsTmp'>,
): Enforcement {
  const network = toNetwork(isolation);
  return {
    level,
    sandbox: isolation.sandbox,
    network,
    files: toFiles(level, isolation),
    processes: level === 'group' ? 'host' : 'own',
    ...more,
    // In a sandbox there are no capabilities that a setuid program could gain.
    setuid: more.setuid && isolation.sandbox === 'off',
    gaps: [...more.gaps, ...(network === 'on' || level !== 'namespace' ? [] : [lateSockets])],
  };
}

/** The mechanism that restricts the files of a command at a level. */
export function toFiles(
  level: SupervisionLevel,
  { sandbox }: Pick<Isolation, 'sandbox'>,
): Enforcement['files'] {
  if (sandbox === 'off') return 'off';
  return level === 'namespace' ? 'namespace' : 'landlock';
}
