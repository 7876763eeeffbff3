// Whether commands can be kept apart from the machine. The engine has tried; what stood in its way is looked for here.
import { readFileSync } from 'node:fs';
import type { MachineReport } from '../../../contract/report.ts';
import type { ProcessAccess, SettingsAccess } from '../../door.ts';
import { findOn, installer } from './find-program.ts';
import { type Finding, ok } from './finding.ts';

type IsolationDeps = Pick<SettingsAccess, 'settings'> & Pick<ProcessAccess, 'machine'>;

/** Looks at bubblewrap and at namespaces. */
export function examineIsolation(
  report: Pick<MachineReport, 'supervision'>,
  deps: IsolationDeps,
): readonly Finding[] {
  if (deps.machine.platform !== 'linux') return [onLinuxOnly('bubblewrap'), onLinuxOnly('namespaces')];
  const isOutside = deps.settings.some(({ key, value }) => key === 'processes' && value === 'host');
  if (isOutside) return [notTried('bubblewrap'), notTried('namespaces')];
  const path = deps.machine.env.PATH ?? '';
  return [examineBubblewrap(report, path), examineNamespaces(report, path)];
}

function onLinuxOnly(check: string): Finding {
  const found =
    'only Linux has them, so there are no sandboxes, and what leaves its process group can survive';
  return { check, status: 'warning', found, fix: 'Run nacre in a Linux container or virtual machine.' };
}

function notTried(check: string): Finding {
  const found = 'not tried, because processes: host keeps commands outside of every namespace';
  return { check, status: 'note', found, fix: 'Set processes to own.' };
}

function examineBubblewrap({ supervision }: Pick<MachineReport, 'supervision'>, path: string): Finding {
  const check = 'bubblewrap';
  if (supervision === 'namespace') return ok(check, 'works; sandboxes can be used');
  const place = findOn(path, 'bwrap');
  if (place === undefined) {
    const found = 'bwrap is not on the PATH, so there are no sandboxes';
    return { check, status: 'warning', found, fix: `${installer(path)} bubblewrap` };
  }
  const found = `${place} starts nothing here, so there are no sandboxes`;
  return {
    check,
    status: 'warning',
    found,
    fix: forbidden() ?? sayWhy('bwrap --unshare-pid --bind / / true'),
  };
}

function examineNamespaces({ supervision }: Pick<MachineReport, 'supervision'>, path: string): Finding {
  const check = 'namespaces';
  if (supervision !== 'group') return ok(check, 'commands run in pid namespaces that end with nacre');
  const outcome = 'what clears its environment and leaves its session can survive';
  const fix = forbidden();
  if (fix !== undefined)
    return { check, status: 'warning', found: `user namespaces are not permitted: ${outcome}`, fix };
  const programs = ['bwrap', 'unshare'].filter((name) => findOn(path, name) !== undefined);
  if (programs.length === 0) {
    const found = `nothing on the PATH makes namespaces, neither bwrap nor unshare: ${outcome}`;
    return { check, status: 'warning', found, fix: `${installer(path)} bubblewrap` };
  }
  const found = `${programs.join(' and ')} cannot make namespaces here: ${outcome}`;
  return { check, status: 'warning', found, fix: sayWhy('unshare --user --pid --fork true') };
}

function sayWhy(command: string): string {
  return `Run ${command} and permit what it names; in a container that is often its seccomp profile.`;
}

/** The command that sets the kernel's switch that forbids namespaces, if one does. */
function forbidden(): string | undefined {
  const [name, wanted] = switches.find(([file, , bad]) => readSwitch(file) === bad) ?? [];
  return name === undefined ? undefined : `sudo sysctl -w ${name.replace('/', '.')}=${wanted}`;
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
