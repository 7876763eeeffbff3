import type { SandboxName } from './isolation.ts';
import type { Limits } from './limits.ts';
import type { MachineReport } from './report.ts';

/** The name of the machine that nacre runs on, as in `on: local`. */
export const localMachine = 'local';

/** A machine to run commands on, as the user's settings describe it. */
export interface MachineSettings {
  /** Its key in the setting `machines`. */
  readonly name: string;
  readonly road: RoadSettings;
  /** The purpose of the machine in one line, for models and people. */
  readonly description?: string | undefined;
  /** How long background commands keep running there while the connection is lost. */
  readonly orphanMs: number;
  /** Programs that may run there. If absent, the general list applies. */
  readonly allow?: readonly string[] | undefined;
  /** Programs from the project's file, if `allow` is absent; a program must also be in the general list. */
  readonly projectAllow?: readonly string[] | undefined;
  /** `none` if commands there must not write files. */
  readonly fileWrites?: 'none' | undefined;
  /** Directories there that commands may run in; `~/` is the home directory there. If absent, the general setting applies. */
  readonly cwdRoots?: readonly string[] | undefined;
  /** Directories from the project's file that narrow `cwdRoots`: a command must run in a directory that both lists allow. */
  readonly projectRoots?: readonly string[] | undefined;
  readonly sandbox?: SandboxName | undefined;
  readonly limits: Limits;
  /** The named tokens that may use it; if absent, all of them. */
  readonly tokens?: readonly string[] | undefined;
}

/** The machines in the settings. */
export interface Machines {
  /** The machine for commands without `on`; `local` by default. */
  readonly defaultName: string;
  /** Every machine except this one. */
  readonly others: readonly MachineSettings[];
  /** True if callers other than the local user may run commands on this machine. */
  readonly isLocalOffered: boolean;
  /** Named tokens that may run commands on this machine; if absent, all of them. */
  readonly localTokens?: readonly string[] | undefined;
}

/** The result of connecting to a machine. */
export interface MachineExamination extends OfferedMachine {
  readonly road: RoadSettings['kind'] | 'none';
  readonly isReachable: boolean;
  /** Why it cannot be used, and the next step. */
  readonly problem?: string | undefined;
  readonly hint?: string | undefined;
  /** Such as `linux x64`. */
  readonly platform?: string | undefined;
  readonly home?: string | undefined;
  readonly worker?: string | undefined;
  /** The time until the worker answered. */
  readonly connectMs?: number | undefined;
  /** The round-trip time of one call. */
  readonly latencyMs?: number | undefined;
  /** The number of commands that run there for this user. */
  readonly jobs?: number | undefined;
  readonly report?: MachineReport | undefined;
}

/** A machine that a caller can choose. */
export interface OfferedMachine {
  readonly name: string;
  readonly description?: string | undefined;
}

/** How a machine is reached. */
export type RoadSettings =
  | SshRoad
  | ContainerRoad
  | DevcontainerRoad
  | KubernetesRoad
  | SlurmRoad
  | ProgramRoad;

/** A machine that the system's `ssh` reaches, with the user's own configuration. */
export interface SshRoad {
  readonly kind: 'ssh';
  /** Any name that `ssh` accepts; never begins with a dash. */
  readonly host: string;
  /** Another configuration file (`ssh -F`), as an absolute path. */
  readonly config?: string | undefined;
}

/** A container of Docker or Podman: a new one per connection, or one that exists. */
export interface ContainerRoad {
  readonly kind: 'docker' | 'podman';
  /** The engine's address, as in `DOCKER_HOST`; that of the environment by default. */
  readonly host?: string | undefined;
  /** The image of a new container; absent if `container` is present. */
  readonly image?: string | undefined;
  /** The name or id of a container that exists; it is not removed. */
  readonly container?: string | undefined;
  readonly pull: 'missing' | 'always' | 'never';
  readonly network: 'none' | 'bridge';
  /** `workspace` mounts the server's directory at the same path. */
  readonly mount: 'workspace' | 'none';
  /** More mounts. */
  readonly mounts: readonly MountSettings[];
  readonly memoryBytes?: number | undefined;
  /** In thousandths of a processor. */
  readonly cpuMillis?: number | undefined;
  readonly maxProcesses?: number | undefined;
  /** The user inside, by name or number; the owner of the workspace by default. */
  readonly user?: string | undefined;
  /** Variables of the container. */
  readonly env: Readonly<Record<string, string>>;
  readonly isReadOnly: boolean;
}

/** A folder on the engine's host that is mounted into a container. */
export interface MountSettings {
  readonly source: string;
  readonly target: string;
  readonly isReadOnly: boolean;
}

/** The container that the project's `devcontainer.json` describes. */
export interface DevcontainerRoad {
  readonly kind: 'devcontainer';
  readonly engine: 'docker' | 'podman';
}

/** A pod of a Kubernetes cluster, one per connection. */
export interface KubernetesRoad {
  readonly kind: 'kubernetes';
  /** The context in the kubeconfig; the current one by default. */
  readonly context?: string | undefined;
  /** The kubeconfig as an absolute path; `KUBECONFIG` or ~/.kube/config by default. */
  readonly kubeconfig?: string | undefined;
  readonly namespace?: string | undefined;
  readonly image: string;
  /** Quantities as Kubernetes writes them, such as `500m` and `4Gi`. */
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
  /** Kubernetes ends the pod after this time (`activeDeadlineSeconds`). */
  readonly deadlineSeconds: number;
  readonly runtimeClass?: string | undefined;
  readonly serviceAccount?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/** An allocation of Slurm, one per connection. */
export interface SlurmRoad {
  readonly kind: 'slurm';
  /** The login node, which `ssh` reaches; absent if `srun` runs on this machine. */
  readonly login?: string | undefined;
  /** Another configuration file of `ssh`, as an absolute path. */
  readonly config?: string | undefined;
  readonly partition?: string | undefined;
  readonly account?: string | undefined;
  readonly gres?: string | undefined;
  readonly cpus?: number | undefined;
  /** As Slurm writes it, such as `4G`. */
  readonly memory?: string | undefined;
  readonly timeSeconds: number;
}

/** A program whose stdin and stdout are the stream to the worker. */
export interface ProgramRoad {
  readonly kind: 'program';
  readonly argv: readonly [string, ...string[]];
}
