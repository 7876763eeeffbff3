// Checks whether commands can be isolated. The engine has already tried, and reports why it failed.
import type { MachineReport } from '../../../contract/report.ts';
import type { ProcessAccess, SettingsAccess } from '../../door.ts';
import { type Finding, ok } from './finding.ts';

type IsolationReport = Pick<MachineReport, 'supervision' | 'namespaceFault' | 'workspaceBy' | 'landlock'>;
type IsolationDeps = Pick<SettingsAccess, 'settings'> & Pick<ProcessAccess, 'machine'>;

/** Checks `bwrap` and user namespaces, and which sandboxes they or Landlock make possible. */
export function examineIsolation(report: IsolationReport, deps: IsolationDeps): readonly Finding[] {
  if (deps.machine.platform !== 'linux')
    return [onLinuxOnly('bubblewrap'), onLinuxOnly('namespaces'), onLinuxOnly('sandbox')];
  const isOnHost = deps.settings.some(({ key, value }) => key === 'processes' && value === 'host');
  if (isOnHost) return [notTried('bubblewrap'), notTried('namespaces'), examineSandbox(report)];
  return [examineBubblewrap(report), examineNamespaces(report), examineSandbox(report)];
}

function onLinuxOnly(check: string): Finding {
  const found =
    'available only on Linux; without them there is no sandbox, and a process that leaves its process group can survive';
  return { check, status: 'warning', found, fix: 'Run nacre in a Linux container or virtual machine.' };
}

function notTried(check: string): Finding {
  const found = 'not tried, because processes: host runs commands outside of every namespace';
  return { check, status: 'note', found, fix: 'Set processes to own.' };
}

function examineBubblewrap({ namespaceFault }: IsolationReport): Finding {
  const check = 'bubblewrap';
  if (namespaceFault === null) return ok(check, 'works');
  const { reason, fix } = namespaceFault;
  return { check, status: 'warning', found: reason, fix };
}

function examineNamespaces({ supervision, namespaceFault }: IsolationReport): Finding {
  const check = 'namespaces';
  if (supervision !== 'group') return ok(check, 'commands run in PID namespaces, which end with nacre');
  const found = `commands do not run in PID namespaces, because ${namespaceFault?.reason ?? 'none can be created'}: a process that clears its environment and leaves its session can survive`;
  return { check, status: 'warning', found, fix: namespaceFault?.fix };
}

function examineSandbox({ workspaceBy, namespaceFault, landlock }: IsolationReport): Finding {
  const check = 'sandbox';
  const fix = namespaceFault?.fix ?? 'Set processes to own.';
  if (workspaceBy === 'namespace') return ok(check, 'workspace and strict are available');
  if (workspaceBy === 'landlock')
    return {
      check,
      status: 'note',
      found:
        'workspace is available, enforced by Landlock: writes only in the workspace and temporary folders, home directories cannot be read except for tools and caches, and without network no sockets at all; strict and network_allow need namespaces',
      fix: `${fix.replace(/\.$/, '')}; docs/guide/isolation.md lists the gaps of Landlock.`,
    };
  const found = `no sandbox is available: ${namespaceFault?.reason ?? 'processes: host runs commands outside of every namespace'}, and Landlock is ${landlock}`;
  return { check, status: 'warning', found, fix };
}

/** Checks whether changes of commands can be tracked or held in this directory; if not, `changes: track` and `hold` refuse every command. */
export function examineChanges(
  fault: string | null,
  { settings }: Pick<SettingsAccess, 'settings'>,
): Finding {
  const check = 'changes';
  if (fault === null) return ok(check, 'commands can be tracked, held and undone in this directory');
  const found = fault.replace(/ Nothing was run\.$/, '').replace(/\.$/, '');
  const fix =
    'Run nacre in the folder of a project, on Linux with user namespaces; docs/guide/changes.md lists what is needed.';
  const mode = settings.find(({ key }) => key === 'changes')?.value ?? 'direct';
  if (mode === 'direct') return { check, status: 'note', found, fix };
  return {
    check,
    status: 'problem',
    found: `${found}, so changes: ${mode} refuses every command`,
    fix: `${fix} Or set changes to direct.`,
  };
}
