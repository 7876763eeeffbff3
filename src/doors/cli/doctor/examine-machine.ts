// Checks what commands need on this machine: programs, namespaces and writable folders.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { MachineReport } from '../../../contract/report.ts';
import { thisSystem, toInstallCommand } from '../../../support/install-command.ts';
import { quoteWord } from '../../../support/quote.ts';
import type { PlaceAccess, ProcessAccess, SettingsAccess } from '../../door.ts';
import { findOnPath } from '../../find-program.ts';
import { examineFolders } from './examine-folders.ts';
import { examineIsolation } from './examine-isolation.ts';
import { type Finding, ok } from './finding.ts';

const oldestNode = [20, 19] as const;

/** Checks Node, `git` and folders, which needs no engine. */
export function examineMachine(deps: PlaceAccess & ProcessAccess & SettingsAccess): readonly Finding[] {
  return [examineNode(process.versions.node), examineGit(deps), ...examineFolders(deps)];
}

/** Checks the `MachineReport` of the engine. */
export function examineReport(
  report: MachineReport,
  deps: Pick<ProcessAccess, 'machine' | 'program'> & Pick<SettingsAccess, 'settings'>,
): readonly Finding[] {
  return [
    ok('bash', `bash ${report.bash.version} at ${report.bash.path}`),
    ...examineIsolation(report, deps),
    report.landlock === 'available'
      ? ok('landlock', 'the kernel can enforce the list of programs (exec), and a file sandbox')
      : {
          check: 'landlock',
          status: 'warning',
          found: `the kernel cannot enforce the list of programs or a file sandbox: ${report.landlock}`,
          fix: isInstalled(deps, 'koffi')
            ? 'Use Linux 5.19 or newer with landlock in its lsm= list.'
            : installBeside(deps, 'koffi'),
        },
    report.pty
      ? ok('terminal', '@lydell/node-pty is installed, for commands that need a terminal')
      : {
          check: 'terminal',
          status: 'warning',
          found: '@lydell/node-pty is not installed, so commands cannot have a terminal',
          fix: installBeside(deps, '@lydell/node-pty'),
        },
    examineEnforcement(report, deps),
  ];
}

// A package must be where this copy of nacre resolves imports: next to it in `node_modules`, or in its own checkout.
function installBeside({ program }: Pick<ProcessAccess, 'program'>, name: string): string {
  const [, root] = /^(.*)[\\/]node_modules[\\/]nacre[\\/]/.exec(program.script) ?? [];
  if (root?.endsWith('/lib')) return `npm install --global ${name}`;
  return `npm install --prefix ${quoteWord(root ?? dirname(dirname(program.script)))} ${name}`;
}

function isInstalled({ program }: Pick<ProcessAccess, 'program'>, name: string): boolean {
  try {
    createRequire(program.script).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Checks that the Node version is at least `oldestNode`. */
export function examineNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isRecent = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  if (isRecent) return ok('node', `Node.js ${version}`);
  const found = `Node.js ${version} is older than ${oldestNode.join('.')}`;
  return { check: 'node', status: 'problem', found, fix: 'Install Node.js 22: https://nodejs.org' };
}

function examineGit({ machine }: ProcessAccess): Finding {
  const path = machine.env.PATH ?? '';
  const git = findOnPath(path, 'git');
  if (git !== undefined) return ok('git', git);
  return {
    check: 'git',
    status: 'warning',
    found: 'git is not on the PATH; most agents need it',
    fix: toInstallCommand('git', thisSystem()),
  };
}

function examineEnforcement(
  { supervision, sandbox, files, workspaceBy, network, exec, execNote, gaps }: MachineReport,
  { machine }: Pick<ProcessAccess, 'machine'>,
): Finding {
  const by = files === 'landlock' ? ' (landlock)' : '';
  const found = `supervision ${supervision}, sandbox ${sandbox}${by}, network ${network}, listed programs ${exec}${execNote === undefined ? '' : ` (exec auto: ${execNote})`}`;
  if (gaps.length === 0) return ok('enforcement', found);
  // Without a sandbox, root keeps its capabilities and can undo most restrictions.
  const fix =
    machine.isRoot && sandbox === 'off'
      ? 'Run nacre as an ordinary user.'
      : sandbox === 'off' && workspaceBy !== null
        ? 'Use a sandbox (nacre init CLIENT --sandbox workspace), or see docs/guide/isolation.md for the remaining gaps.'
        : 'See docs/guide/isolation.md for these gaps.';
  return { check: 'enforcement', status: 'warning', found: `${found}; gaps: ${gaps.join('; ')}`, fix };
}
