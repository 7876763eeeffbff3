// What commands need of the machine: programs, namespaces, and places that can be written.
import { dirname } from 'node:path';
import type { MachineReport } from '../../../contract/report.ts';
import { quoteWord } from '../../../support/quote.ts';
import type { PlaceAccess, ProcessAccess, SettingsAccess } from '../../door.ts';
import { examineFolders } from './examine-folders.ts';
import { examineIsolation } from './examine-isolation.ts';
import { findOn, installer } from './find-program.ts';
import { type Finding, ok } from './finding.ts';

const oldestNode = [20, 19] as const;

/** Looks at everything that does not need the engine. */
export function examineMachine(deps: PlaceAccess & ProcessAccess & SettingsAccess): readonly Finding[] {
  return [examineNode(process.versions.node), examineGit(deps), ...examineFolders(deps)];
}

/** Looks at what the engine has found. */
export function examineReport(
  report: MachineReport,
  deps: Pick<ProcessAccess, 'machine' | 'program'> & Pick<SettingsAccess, 'settings'>,
): readonly Finding[] {
  return [
    ok('bash', `bash ${report.bash.version} at ${report.bash.path}`),
    ...examineIsolation(report, deps),
    report.landlock === 'available'
      ? ok('landlock', 'the kernel can hold commands to the listed programs (exec: enforce)')
      : {
          check: 'landlock',
          status: 'warning',
          found: `the kernel cannot hold commands to the listed programs: ${report.landlock}`,
          fix: report.landlock.includes('koffi')
            ? besides(deps, 'koffi')
            : 'Use Linux 5.19 or newer with landlock in its lsm= list.',
        },
    report.pty
      ? ok('terminal', '@lydell/node-pty is there for commands at a terminal')
      : {
          check: 'terminal',
          status: 'warning',
          found: 'the package for commands at a terminal is missing',
          fix: besides(deps, '@lydell/node-pty'),
        },
    examineEnforcement(report),
  ];
}

// Where this copy of nacre finds packages: beside it among the installed ones, or in its own clone.
function besides({ program }: Pick<ProcessAccess, 'program'>, name: string): string {
  const [, root] = /^(.*)[\\/]node_modules[\\/]nacre[\\/]/.exec(program.script) ?? [];
  if (root?.endsWith('/lib')) return `npm install --global ${name}`;
  return `npm install --prefix ${quoteWord(root ?? dirname(dirname(program.script)))} ${name}`;
}

/** Whether this Node is new enough. */
export function examineNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  if (isNew) return ok('node', `Node.js ${version}`);
  const found = `Node.js ${version} is older than ${oldestNode.join('.')}`;
  return { check: 'node', status: 'problem', found, fix: 'Install Node.js 22: https://nodejs.org' };
}

function examineGit({ machine }: ProcessAccess): Finding {
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

function examineEnforcement({ supervision, sandbox, network, exec, gaps }: MachineReport): Finding {
  const found = `supervision ${supervision}, sandbox ${sandbox}, network ${network}, listed programs ${exec}`;
  if (gaps.length === 0) return ok('enforcement', found);
  const isRoot = gaps.some((gap) => gap.startsWith('As root'));
  const fix = isRoot
    ? 'Run nacre as an ordinary user.'
    : 'Choose a sandbox (nacre init CLIENT --sandbox workspace), or read docs/guide/isolation.md on what remains.';
  return { check: 'enforcement', status: 'warning', found: `${found}; gaps: ${gaps.join('; ')}`, fix };
}
