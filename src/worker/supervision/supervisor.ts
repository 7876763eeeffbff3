import type { Enforcement, Isolation, SupervisionLevel } from '../../contract/isolation.ts';
import { type SandboxPlan, toBubblewrapArguments } from '../sandbox/bubblewrap.ts';
import { toNetwork } from '../sandbox/to-network.ts';
import type { Roof } from './namespace-tree.ts';

/** A way to start a shell so that nothing it starts can survive us. */
export interface Supervisor {
  readonly level: Exclude<SupervisionLevel, 'group'>;
  readonly roof: Roof;
  /** Whether setuid programs still gain rights. */
  keepsSetuid(means: { readonly isRoot: boolean }): boolean;
  /** What it cannot promise a command of such an isolation, in sentences. */
  gaps(means: { readonly isRoot: boolean }, isolation: Pick<Isolation, 'sandbox'>): readonly string[];
  /** The program and its arguments, up to the one it is to run. */
  toArguments(plan: SandboxPlan): readonly [string, ...string[]];
  /** What makes the first process of the namespace hold a descriptor open, to stand before all other arguments. */
  toHolding(fd: number): readonly string[];
}

/** What holds wherever bubblewrap does not stand between a command and the file system. */
export const filesShown = "nacre's own files are not hidden from commands.";

/** The supervisors, from the best down. Which of them work here is found out by starting something. */
export const supervisors: readonly Supervisor[] = [
  {
    level: 'namespace',
    roof: { residents: 2 },
    keepsSetuid: ({ isRoot }) => isRoot,
    // In a sandbox even root has no rights left.
    gaps: ({ isRoot }, { sandbox }) =>
      isRoot && sandbox === 'off' ? ["As root a command can undo what hides nacre's own files from it."] : [],
    toArguments: (plan) => ['bwrap', ...toBubblewrapArguments(plan)],
    toHolding: (fd) => ['--sync-fd', String(fd)],
  },
  {
    level: 'unshare',
    roof: { residents: 1 },
    keepsSetuid: ({ isRoot }) => isRoot,
    gaps: () => [filesShown],
    toArguments: ({ isRoot }) => [
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
    // All that it starts inherits all that it has.
    toHolding: () => [],
  },
];

const lateSockets =
  'Unix sockets that other programs open outside /tmp and /run after the sandbox was made can be reached.';

/** What holds for a command that was started at a level. */
export function toEnforcement(
  level: SupervisionLevel,
  isolation: Isolation,
  more: Pick<Enforcement, 'setuid' | 'exec' | 'gaps'>,
): Enforcement {
  const network = toNetwork(isolation);
  return {
    level,
    sandbox: isolation.sandbox,
    network,
    processes: level === 'group' ? 'host' : 'own',
    ...more,
    // In a sandbox even root has no rights left that a program could gain.
    setuid: more.setuid && isolation.sandbox === 'off',
    gaps: [...more.gaps, ...(network === 'on' ? [] : [lateSockets])],
  };
}
