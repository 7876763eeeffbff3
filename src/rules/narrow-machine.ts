import { sandboxNames } from '../contract/isolation.ts';
import type { Limits } from '../contract/limits.ts';
import type { MachineSettings } from '../contract/machine.ts';
import type { MachineEntry } from '../machines/settings.ts';
import { narrowList } from '../settings/tighten.ts';
import type { MachineSources } from './read-machines.ts';

/** Applies the general settings and the project's file to a machine: lists get shorter, limits lower, the sandbox stricter. */
export function narrowMachine(
  machine: MachineSettings,
  entry: MachineEntry | undefined,
  { values, project }: MachineSources,
): MachineSettings {
  const allow =
    machine.allow && narrowList(narrowList(machine.allow, project.allowedCommands, '*'), entry?.allow, '*');
  const sandbox = strictest([machine.sandbox ?? values.sandbox, project.sandbox, entry?.sandbox]);
  const limits = Object.fromEntries(
    limitKeys.map(([name, key]) => [
      name,
      lowest([machine.limits[name] ?? values[name], project[name], entry?.limits?.[key]]),
    ]),
  );
  const fileWrites = machine.fileWrites ?? (project.fileWrites === 'none' ? 'none' : undefined);
  const projectAllow = machine.allow ? undefined : entry?.allow;
  return { ...machine, allow, projectAllow, sandbox, limits, fileWrites, projectRoots: entry?.cwd_roots };
}

const limitKeys = [
  ['memoryBytes', 'memory_bytes'],
  ['treeMemoryBytes', 'tree_memory_bytes'],
  ['maxProcesses', 'max_processes'],
  ['cpuSeconds', 'cpu_seconds'],
  ['fileBytes', 'file_bytes'],
] as const satisfies readonly (readonly [keyof Limits, string])[];

function strictest(names: readonly (MachineSettings['sandbox'] | undefined)[]) {
  const ranks = names.map((name) => (name === undefined ? 0 : sandboxNames.indexOf(name)));
  return sandboxNames[Math.max(...ranks)];
}

function lowest(numbers: readonly (number | undefined)[]): number | undefined {
  const given = numbers.filter((one) => one !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}
