// Checks whether commands can be isolated. The engine has already tried; this finds out why it failed.
import { readFileSync } from 'node:fs';
import type { MachineReport } from '../../../contract/report.ts';
import type { ProcessAccess, SettingsAccess } from '../../door.ts';
import { findOnPath, installer } from '../../find-program.ts';
import { type Finding, ok } from './finding.ts';

type IsolationReport = Pick<MachineReport, 'supervision' | 'trials'>;
type IsolationDeps = Pick<SettingsAccess, 'settings'> & Pick<ProcessAccess, 'machine'>;

/** Checks `bwrap` and user namespaces. */
export function examineIsolation(report: IsolationReport, deps: IsolationDeps): readonly Finding[] {
  if (deps.machine.platform !== 'linux') return [onLinuxOnly('bubblewrap'), onLinuxOnly('namespaces')];
  const isOnHost = deps.settings.some(({ key, value }) => key === 'processes' && value === 'host');
  if (isOnHost) return [notTried('bubblewrap'), notTried('namespaces')];
  const path = deps.machine.env.PATH ?? '';
  return [examineBubblewrap(report, path), examineNamespaces(report, path)];
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

function examineBubblewrap({ supervision, trials }: IsolationReport, path: string): Finding {
  const check = 'bubblewrap';
  if (supervision === 'namespace') return ok(check, 'works; the sandbox is available');
  const place = findOnPath(path, 'bwrap');
  if (place === undefined) {
    const found = 'bwrap is not on the PATH, so there is no sandbox';
    return { check, status: 'warning', found, fix: `${installer(path)} bubblewrap` };
  }
  const found = `${place} cannot start a process here, so there is no sandbox`;
  return {
    check,
    status: 'warning',
    found,
    fix: sysctlFix() ?? findReason(trials.bubblewrap),
  };
}

function examineNamespaces({ supervision, trials }: IsolationReport, path: string): Finding {
  const check = 'namespaces';
  if (supervision !== 'group') return ok(check, 'commands run in PID namespaces, which end with nacre');
  const outcome = 'a process that clears its environment and leaves its session can survive';
  const fix = sysctlFix();
  if (fix !== undefined)
    return { check, status: 'warning', found: `user namespaces are not permitted: ${outcome}`, fix };
  const programs = ['bwrap', 'unshare'].filter((name) => findOnPath(path, name) !== undefined);
  if (programs.length === 0) {
    const found = `neither bwrap nor unshare is on the PATH to create namespaces: ${outcome}`;
    return { check, status: 'warning', found, fix: `${installer(path)} bubblewrap` };
  }
  const found = `${programs.join(' and ')} cannot create namespaces here: ${outcome}`;
  return { check, status: 'warning', found, fix: findReason(trials.unshare) };
}

function findReason(command: string): string {
  return `Run ${command} to see what is denied, and permit it; in a container, the seccomp profile often denies it.`;
}

/** The command that sets the sysctl which forbids user namespaces, if one does. */
function sysctlFix(): string | undefined {
  const [name, wanted] = sysctls.find(([file, , bad]) => readSysctl(file) === bad) ?? [];
  return name === undefined ? undefined : `sudo sysctl -w ${name.replace('/', '.')}=${wanted}`;
}

// The file below `/proc/sys`, the value that permits namespaces, and the value that forbids them.
const sysctls: readonly (readonly [string, string, string])[] = [
  ['kernel/unprivileged_userns_clone', '1', '0'],
  ['kernel/apparmor_restrict_unprivileged_userns', '0', '1'],
  ['user/max_user_namespaces', '15000', '0'],
];

function readSysctl(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
  } catch {
    return undefined;
  }
}
