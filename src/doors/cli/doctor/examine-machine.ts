// What commands need of the machine: programs, namespaces, places that can be written, and room in them.
import { accessSync, constants, existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { MachineReport } from '../../../contract/report.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import type { Assembly } from '../../door.ts';
import { type Finding, ok } from './finding.ts';

const oldestNode = [20, 19] as const;

/** Looks at everything that does not need the engine. */
export function examineMachine(assembly: Assembly): readonly Finding[] {
  return [examineNode(process.versions.node), examineGit(assembly), ...examineFolders(assembly)];
}

/** Looks at what the engine has found. */
export function examineReport(report: MachineReport, { machine }: Assembly): readonly Finding[] {
  const install = installer(machine.env.PATH ?? '');
  return [
    ok('bash', `bash ${report.bash.version} at ${report.bash.path}`),
    examineBubblewrap(report, install),
    examineNamespaces(report),
    report.landlock === 'available'
      ? ok('landlock', 'the kernel can hold commands to the listed programs (exec: enforce)')
      : {
          check: 'landlock',
          status: 'warning',
          found: `the kernel cannot hold commands to the listed programs: ${report.landlock}`,
          fix: 'Use a kernel of 5.13 or newer with landlock in its lsm= list, and npm install koffi beside nacre.',
        },
    report.pty
      ? ok('terminal', '@lydell/node-pty is there for commands at a terminal')
      : {
          check: 'terminal',
          status: 'warning',
          found: 'the package for commands at a terminal is missing',
          fix: 'npm install @lydell/node-pty',
        },
    examineEnforcement(report),
  ];
}

/** Whether this Node is new enough. */
export function examineNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  if (isNew) return ok('node', `Node.js ${version}`);
  const found = `Node.js ${version} is older than ${oldestNode.join('.')}`;
  return { check: 'node', status: 'problem', found, fix: 'Install Node.js 22: https://nodejs.org' };
}

function examineGit({ machine }: Assembly): Finding {
  const path = machine.env.PATH ?? '';
  const git = findOn(path, 'git');
  if (git !== undefined) return ok('git', git);
  return {
    check: 'git',
    status: 'warning',
    found: 'git is not on the PATH; most agents want it',
    fix: `${installer(path)} git`,
  };
}

function examineBubblewrap({ supervision, gaps }: MachineReport, install: string): Finding {
  if (supervision === 'namespace') return ok('bubblewrap', 'works; sandboxes can be used');
  const found = `does not work here, so there are no sandboxes: ${gaps[0] ?? 'it is not installed'}`;
  return { check: 'bubblewrap', status: 'warning', found, fix: `${install} bubblewrap` };
}

function examineNamespaces({ supervision }: MachineReport): Finding {
  if (supervision !== 'group') return ok('namespaces', 'commands run in pid namespaces that end with nacre');
  const [name, wanted] = switches.find(([file, , bad]) => readSwitch(file) === bad) ?? [];
  const fix =
    name === undefined ? 'Let this user make user namespaces.' : `sudo sysctl -w ${toKey(name)}=${wanted}`;
  const found =
    'user namespaces are not permitted: what clears its environment and leaves its session can survive';
  return { check: 'namespaces', status: 'warning', found, fix };
}

// The file, the value that permits namespaces, and the one that does not.
const switches: readonly (readonly [string, string, string])[] = [
  ['kernel/unprivileged_userns_clone', '1', '0'],
  ['kernel/apparmor_restrict_unprivileged_userns', '0', '1'],
  ['user/max_user_namespaces', '15000', '0'],
];

function readSwitch(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function toKey(name: string): string {
  return name.replace('/', '.');
}

function examineEnforcement({ supervision, sandbox, network, exec, gaps }: MachineReport): Finding {
  const found = `supervision ${supervision}, sandbox ${sandbox}, network ${network}, listed programs ${exec}`;
  if (gaps.length === 0) return ok('enforcement', found);
  const isRoot = gaps.some((gap) => gap.startsWith('As root'));
  const fix = isRoot
    ? 'Run nacre as an ordinary user.'
    : 'Choose a sandbox (nacre init CLIENT --sandbox workspace), or read docs/guide/isolation.md on what remains.';
  return { check: 'enforcement', status: 'warning', found: `${found}; gaps: ${gaps.join('; ')}`, fix };
}

function examineFolders({ places, settings }: Assembly): readonly Finding[] {
  const dir = places.stateDir;
  const folders = [dir, places.audit.dir].map(examineFolder);
  return [...folders, examineRoom(dir, settings)];
}

function examineFolder(path: string): Finding {
  const probe = join(path, `.doctor-${process.pid}`);
  try {
    makeFolder(path);
    writeFileSync(probe, '');
    rmSync(probe);
    return ok('folder', `${path} can be written`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const fix = `Make it yours (sudo chown -R "$USER" ${path}), or name another with NACRE_STATE_DIR or NACRE_AUDIT_DIR.`;
    return { check: 'folder', status: 'problem', found: `${path} cannot be written: ${reason}`, fix };
  }
}

function examineRoom(path: string, settings: Assembly['settings']): Finding {
  const wanted = ['spool_total_bytes', 'audit_max_bytes'].map((key) =>
    Number(settings.find((one) => one.key === key)?.value),
  );
  const [spool = 0, audit = 0] = wanted;
  const free = freeBytes(path);
  const quotas = `output up to ${toGiB(spool)} and audit records up to ${toGiB(audit)} may be kept`;
  if (free === undefined || free >= spool + audit)
    return ok(
      'quotas',
      `${quotas}; ${free === undefined ? 'the room is not known' : `${toGiB(free)} are free`}`,
    );
  const fix = 'Make room, or lower NACRE_SPOOL_TOTAL_BYTES and NACRE_AUDIT_MAX_BYTES.';
  return {
    check: 'quotas',
    status: 'warning',
    found: `${quotas}, but only ${toGiB(free)} are free at ${path}`,
    fix,
  };
}

function freeBytes(path: string): number | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      const { bavail, bsize } = statfsSync(folder);
      return bavail * bsize;
    } catch {
      if (folder === dirname(folder)) return undefined;
    }
  }
}

function toGiB(bytes: number): string {
  return `${(bytes / 1_073_741_824).toFixed(1)} GiB`;
}

/** Where a program is on a PATH. */
export function findOn(path: string, name: string): string | undefined {
  return path
    .split(':')
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return existsSync(path);
  } catch {
    return false;
  }
}

const installers = {
  'apt-get': 'sudo apt-get install',
  dnf: 'sudo dnf install',
  pacman: 'sudo pacman -S',
  apk: 'sudo apk add',
  zypper: 'sudo zypper install',
  brew: 'brew install',
};

function installer(path: string): string {
  const [, words] = Object.entries(installers).find(([name]) => findOn(path, name) !== undefined) ?? [];
  return words ?? 'Install';
}
