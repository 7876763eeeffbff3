// Explains why commands cannot run in namespaces here, with the next step. It only proposes steps that would help.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { NamespaceFault } from '../../contract/report.ts';
import { type PackageSystem, thisSystem, toInstallCommand } from '../../support/install-command.ts';
import { findProgram } from './inspect.ts';

/** The facts that `explainFault` judges. */
export interface NamespaceFacts {
  readonly system: PackageSystem;
  /** The first line that `bwrap` prints when it fails; null if it is not installed. */
  readonly bubblewrapError: string | null;
  /** Whether `unshare` can create a user namespace; undefined if it is not installed. */
  readonly canUnshare: boolean | undefined;
  /** Values below /proc/sys, by their names. */
  readonly sysctls: Readonly<Record<string, string>>;
  /** The kind of container that nacre runs in. */
  readonly container: 'Docker' | 'Podman' | 'Kubernetes' | undefined;
  /** Whether this process has a seccomp filter, from /proc/self/status. */
  readonly hasSeccomp: boolean;
}

// The name below /proc/sys, the value that forbids user namespaces, the value that permits them, and whether root may.
const sysctls = [
  { name: 'kernel.unprivileged_userns_clone', forbids: '0', permits: '1', exceptRoot: true },
  { name: 'kernel.apparmor_restrict_unprivileged_userns', forbids: '1', permits: '0', exceptRoot: true },
  { name: 'user.max_user_namespaces', forbids: '0', permits: '15000', exceptRoot: false },
];

/** Explains why namespaces do not work. */
export function explainFault(facts: NamespaceFacts): NamespaceFault {
  const { system, bubblewrapError, canUnshare } = facts;
  if (system.platform !== 'linux')
    return {
      kind: 'forbidden',
      reason: 'namespaces exist only on Linux',
      fix: 'Run nacre in a Linux container or virtual machine.',
    };
  if (bubblewrapError === null && canUnshare !== false)
    return {
      kind: 'missing',
      reason: 'bubblewrap is not installed',
      fix: toInstallCommand('bubblewrap', system),
    };
  const forbidden = findProhibition(facts);
  if (forbidden) return forbidden;
  return {
    kind: 'forbidden',
    reason: `namespaces cannot be created here (${bubblewrapError ?? 'unshare fails'})`,
    fix: `Run ${bubblewrapError === null ? unshareTrial : bubblewrapTrial} to see what is denied, and permit it.`,
  };
}

function findProhibition(facts: NamespaceFacts): NamespaceFault | undefined {
  const { system, container, hasSeccomp } = facts;
  const found = sysctls.find(
    ({ name, forbids, exceptRoot }) => facts.sysctls[name] === forbids && !(exceptRoot && system.isRoot),
  );
  if (found) {
    const where = container === undefined ? '' : 'On the host of this container: ';
    return {
      kind: 'forbidden',
      reason: `user namespaces are forbidden here (${found.name}=${found.forbids})`,
      fix: `${where}${system.isRoot ? '' : 'sudo '}sysctl -w ${found.name}=${found.permits}`,
    };
  }
  if (container === undefined && !hasSeccomp) return undefined;
  if (container === undefined)
    return {
      kind: 'forbidden',
      reason: 'a seccomp filter of the process that started nacre forbids namespaces',
      fix: 'For a systemd unit, remove RestrictNamespaces and SystemCallFilter from it.',
    };
  return {
    kind: 'forbidden',
    reason: hasSeccomp
      ? `the seccomp profile of this container (${container}) forbids namespaces`
      : `this container (${container}) does not permit namespaces (${facts.bubblewrapError ?? 'unshare fails'})`,
    fix: `${containerFixes[container]}${system.isRoot ? ' Run nacre as an ordinary user in it.' : ''}`,
  };
}

const options =
  '--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined';
const containerFixes = {
  Docker: `Start the container with ${options}.`,
  Podman: 'Start the container with --security-opt seccomp=unconfined --security-opt unmask=ALL.',
  Kubernetes: 'Set seccompProfile.type to Unconfined and procMount to Unmasked in the securityContext.',
};

/** The smallest `bwrap` command as nacre runs it; run by hand, it prints why it fails. */
const bubblewrapTrial = 'bwrap --unshare-pid --bind / / --proc /proc true';
/** The smallest command that uses `unshare` as nacre does. */
const unshareTrial = 'unshare --user --pid --fork true';

/** Finds out why namespaces do not work, with trials and from /proc; `path` is the PATH of commands. */
export async function findNamespaceFault(path: string): Promise<NamespaceFault> {
  const system = thisSystem();
  const [bubblewrap, unshare] = await Promise.all(
    [bubblewrapTrial, unshareTrial].map((trial) => tryCommand(trial, path)),
  );
  return explainFault({
    system,
    bubblewrapError: bubblewrap === null ? null : bubblewrap || 'bwrap cannot start what nacre needs',
    canUnshare: unshare === null ? undefined : unshare === '',
    sysctls: Object.fromEntries(
      sysctls.map(({ name }) => [name, readText(`/proc/sys/${name.replace('.', '/')}`).trim()]),
    ),
    container: findContainer(),
    hasSeccomp: /^Seccomp:\s*2$/m.test(readText('/proc/self/status')),
  });
}

const trialMs = 5_000;

/** The first line that a failing command prints, '' for one that succeeds, null for one that is not installed. */
function tryCommand(command: string, path: string): Promise<string | null> {
  const [name = '', ...args] = command.split(' ');
  const program = findProgram(name, path);
  if (program === null) return Promise.resolve(null);
  return new Promise((resolve) => {
    execFile(program, args, { timeout: trialMs, env: { PATH: path } }, (error, _stdout, stderr) => {
      resolve(error === null ? '' : stderr.trim().split('\n')[0] || error.message);
    });
  });
}

function findContainer(): NamespaceFacts['container'] {
  if (existsSync('/var/run/secrets/kubernetes.io')) return 'Kubernetes';
  if (existsSync('/.dockerenv')) return 'Docker';
  return existsSync('/run/.containerenv') ? 'Podman' : undefined;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
