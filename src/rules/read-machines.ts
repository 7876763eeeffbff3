import { NacreError } from '../contract/failure.ts';
import {
  type ContainerRoad,
  localMachine,
  type MachineSettings,
  type Machines,
  type MountSettings,
  type RoadSettings,
} from '../contract/machine.ts';
import type { MachineEntry } from '../machines/settings.ts';
import { presets } from '../policy/presets.ts';
import type { ResolvedSettings } from '../settings/resolve-candidates.ts';
import type { allSettings } from './all-settings.ts';
import { describeRoad } from './describe-road.ts';
import { narrowMachine } from './narrow-machine.ts';

/** The part of the settings that describes machines. */
export type MachineSources = Pick<ResolvedSettings<typeof allSettings>, 'values' | 'limits' | 'project'>;

const tenMinutes = 600_000;
const hour = 3_600;

/** Reads the setting `machines`, narrowed by the project's file; undefined if there are none. Throws for an entry without a road. */
export function readMachines(sources: MachineSources): Machines | undefined {
  const { values, limits } = sources;
  const own = Object.entries(values.machines);
  const narrowing = limits.machines ?? {};
  for (const [name, entry] of Object.entries(narrowing)) checkNarrowing(name, entry, values.machines);
  checkDefault(values.defaultMachine, values.machines, narrowing);
  if (own.length === 0) return undefined;
  const { defaultMachine = localMachine } = values;
  const local = values.machines[localMachine];
  if (local) checkLocal(local);
  const others = own
    .filter(([name]) => name !== localMachine && narrowing[name]?.hidden !== true)
    .map(([name, entry]) => narrowMachine(toMachine(name, entry), narrowing[name], sources));
  const isLocalOffered =
    (defaultMachine === localMachine || local !== undefined) && narrowing[localMachine]?.hidden !== true;
  return { defaultName: defaultMachine, others, isLocalOffered, localTokens: local?.tokens };
}

function toMachine(name: string, entry: MachineEntry): MachineSettings {
  const { preset, allow } = entry;
  const implied = preset === undefined ? undefined : presets[preset];
  const limits = entry.limits ?? {};
  const road = toRoad(name, entry);
  return {
    name,
    road,
    description: entry.description ?? describeRoad(road),
    orphanMs: entry.orphan_ms ?? tenMinutes,
    allow:
      implied || allow ? [...new Set([...(implied?.allowedCommands ?? []), ...(allow ?? [])])] : undefined,
    fileWrites: implied?.fileWrites,
    cwdRoots: entry.cwd_roots,
    sandbox: entry.sandbox,
    limits: {
      memoryBytes: limits.memory_bytes,
      treeMemoryBytes: limits.tree_memory_bytes,
      maxProcesses: limits.max_processes,
      cpuSeconds: limits.cpu_seconds,
      fileBytes: limits.file_bytes,
    },
    tokens: entry.tokens,
  };
}

const roadNames = ['ssh', 'docker', 'podman', 'devcontainer', 'kubernetes', 'slurm', 'program'] as const;

function toRoad(name: string, entry: MachineEntry): RoadSettings {
  const given = roadNames.filter((road) => entry[road] !== undefined);
  const [road, ...more] = given;
  if (road === undefined || more.length > 0)
    throw invalid(
      name,
      `it has ${given.length === 0 ? 'no road' : `the roads ${given.join(' and ')}`}; give it exactly one of ${roadNames.join(', ')}`,
    );
  if (entry.ssh_config !== undefined && road !== 'ssh')
    throw invalid(name, 'ssh_config belongs to a machine with ssh, or inside slurm');
  const { ssh, docker, podman, devcontainer, kubernetes, slurm, program } = entry;
  if (ssh !== undefined) return { kind: 'ssh', host: ssh, config: entry.ssh_config };
  if (docker) return toContainer(name, 'docker', docker);
  if (podman) return toContainer(name, 'podman', podman);
  if (devcontainer) return { kind: 'devcontainer', engine: devcontainer };
  if (kubernetes) return toKubernetes(name, kubernetes);
  if (slurm) return toSlurm(slurm);
  const [first = '', ...rest] = program ?? [];
  if (first === '') throw invalid(name, 'program must begin with the path or name of a program');
  return { kind: 'program', argv: [first, ...rest] };
}

function toContainer(
  name: string,
  kind: 'docker' | 'podman',
  entry: NonNullable<MachineEntry['docker']>,
): ContainerRoad {
  const { image, container, host, user } = entry;
  if ((image === undefined) === (container === undefined))
    throw invalid(name, `${kind} needs either image, for a new container, or container, for one that exists`);
  if (container !== undefined) {
    const only = [
      'pull',
      'network',
      'mount',
      'mounts',
      'memory',
      'cpus',
      'pids',
      'env',
      'read_only',
    ] as const;
    const [found] = only.filter((field) => entry[field] !== undefined);
    if (found !== undefined)
      throw invalid(name, `${kind}.${found} applies to a new container, and ${container} exists already`);
  }
  return {
    ...{ kind, host, image, container, user },
    pull: entry.pull ?? 'missing',
    network: entry.network ?? 'bridge',
    mount: entry.mount ?? 'workspace',
    mounts: (entry.mounts ?? []).map(toMount),
    memoryBytes: entry.memory === undefined ? undefined : toBytes(entry.memory),
    cpuMillis: entry.cpus === undefined ? undefined : Math.round(Number(entry.cpus) * 1_000),
    maxProcesses: entry.pids,
    env: toVariables(entry.env),
    isReadOnly: entry.read_only ?? false,
  };
}

function toKubernetes(name: string, entry: NonNullable<MachineEntry['kubernetes']>): RoadSettings {
  const { image, context, kubeconfig, namespace, cpu, memory } = entry;
  const deadlineSeconds = toSeconds(entry.deadline, hour);
  if (deadlineSeconds < 60) throw invalid(name, 'kubernetes.deadline must be at least 60s');
  return {
    ...{ kind: 'kubernetes', image, context, kubeconfig, namespace, cpu, memory, deadlineSeconds },
    ...{ runtimeClass: entry.runtime_class, serviceAccount: entry.service_account },
    env: toVariables(entry.env),
  };
}

function toSlurm(entry: NonNullable<MachineEntry['slurm']>): RoadSettings {
  const { login, partition, account, gres, cpus, memory, ssh_config: config } = entry;
  const timeSeconds = toSeconds(entry.time, hour);
  return { kind: 'slurm', login, config, partition, account, gres, cpus, memory, timeSeconds };
}

function toMount(text: string): MountSettings {
  const [source = '', target = '', mode] = text.split(':');
  return { source, target, isReadOnly: mode === 'ro' };
}

function toVariables(entries: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}

const sizes: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** Bytes of `512m` or `2g`, as Docker counts them. */
function toBytes(text: string): number {
  const [, digits = '', letter = ''] = /^([\d.]+)\s*([a-z]?)/i.exec(text) ?? [];
  return Math.round(Number(digits) * (sizes[letter.toLowerCase()] ?? 1));
}

const durations: Readonly<Record<string, number>> = { s: 1, m: 60, min: 60, h: 3_600, d: 86_400 };

function toSeconds(text: string | undefined, fallback: number): number {
  const [, digits = '', suffix = 's'] = /^(\d+)([a-z]*)$/.exec(text ?? '') ?? [];
  return digits === '' ? fallback : Number(digits) * (durations[suffix] ?? 1);
}

function checkDefault(
  name: string | undefined,
  own: Readonly<Record<string, MachineEntry>>,
  narrowing: Readonly<Record<string, MachineEntry>>,
): void {
  if (name === undefined || name === localMachine) return;
  if (!Object.hasOwn(own, name))
    throw new NacreError('settings_invalid', `default_machine: machines has no entry ${name}.`, {
      hint: `Add ${name} to machines in the user file, or remove default_machine; nothing was started.`,
    });
  if (narrowing[name]?.hidden === true)
    throw new NacreError(
      'settings_invalid',
      `The project file hides ${name}, which is the default machine.`,
      {
        hint: `Remove hidden from machines.${name} in the project file, or do not use nacre there.`,
      },
    );
}

/** This machine has no road, and its lists are the general settings. */
function checkLocal(entry: MachineEntry): void {
  const [other] = Object.keys(entry).filter((field) => field !== 'tokens');
  if (other !== undefined)
    throw invalid(
      localMachine,
      `local is this machine, so ${other} has no meaning there; it can only have tokens`,
    );
}

const narrowing = new Set(['allow', 'cwd_roots', 'sandbox', 'limits', 'hidden']);

function checkNarrowing(
  name: string,
  entry: MachineEntry,
  own: Readonly<Record<string, MachineEntry>>,
): void {
  const [other] = Object.keys(entry).filter((field) => !narrowing.has(field));
  if (other !== undefined)
    throw invalid(
      name,
      `a project file cannot set ${other}; it can only narrow a machine, with ${[...narrowing].join(', ')}`,
    );
  // Several people may use a project; for those without the machine, there is nothing to narrow.
  if (name === localMachine && Object.keys(own).length > 0 && entry.hidden !== true)
    throw invalid(
      name,
      'a project file can only hide local here; use the general settings to narrow this machine',
    );
}

function invalid(name: string, problem: string): NacreError {
  return new NacreError('settings_invalid', `machines.${name}: ${problem}.`, {
    hint: 'Correct this entry; nothing was started.',
  });
}
