import { z } from 'zod';
import { execModes, sandboxNames, supervisionLevels } from '../contract/isolation.ts';
import { defineSettings } from '../settings/define.ts';
import { environmentPattern, environmentWords } from '../settings/environment-pattern.ts';

// A name, *. and a name, or an address; an IPv6 address with a port stands in brackets.
const hostPattern = z
  .string()
  .max(300)
  .regex(
    /^(?:(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?(?::(?:\d{1,5}|\*))?|\[[0-9A-Fa-f:.]+\](?::(?:\d{1,5}|\*))?|[0-9A-Fa-f]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)$/,
  );

/** How commands are run and captured, and what they get to see. */
export const workerSettings = defineSettings({
  ringBytes: z.int().min(4_096).max(67_108_864).default(1_048_576).meta({
    env: 'NACRE_RING_BYTES',
    flag: '--ring-bytes',
    description: 'Bytes of output kept in memory per command; the rest is spooled.',
    project: 'lower',
  }),
  spoolBytes: z.int().min(65_536).max(1_099_511_627_776).default(268_435_456).meta({
    env: 'NACRE_SPOOL_BYTES',
    flag: '--spool-bytes',
    description: 'Bytes of output kept on disk per command; at this limit the command is ended.',
    project: 'lower',
  }),
  spoolTotalBytes: z.int().min(65_536).max(1_099_511_627_776).default(2_147_483_648).meta({
    env: 'NACRE_SPOOL_TOTAL_BYTES',
    flag: '--spool-total-bytes',
    description: 'Bytes of output kept on disk for all commands together.',
    project: 'lower',
  }),
  memoryBytes: z.int().min(16_777_216).max(1_125_899_906_842_624).optional().meta({
    env: 'NACRE_MEMORY_BYTES',
    flag: '--memory-bytes',
    description: 'Bytes of memory that each process of a command may have.',
    unset: 'no limit',
    project: 'lower',
  }),
  treeMemoryBytes: z.int().min(16_777_216).max(1_125_899_906_842_624).optional().meta({
    env: 'NACRE_TREE_MEMORY_BYTES',
    flag: '--tree-memory-bytes',
    description: 'Bytes of memory that all processes of a command may have together.',
    unset: 'no limit',
    project: 'lower',
  }),
  maxProcesses: z.int().min(4).max(4_194_304).optional().meta({
    env: 'NACRE_MAX_PROCESSES',
    flag: '--max-processes',
    description: 'Processes and threads that a command may have at one time.',
    unset: 'no limit',
    project: 'lower',
  }),
  cpuSeconds: z.int().min(1).max(31_536_000).optional().meta({
    env: 'NACRE_CPU_SECONDS',
    flag: '--cpu-seconds',
    description: 'Seconds of CPU time that each process of a command may use.',
    unset: 'no limit',
    project: 'lower',
  }),
  fileBytes: z.int().min(1_024).max(1_125_899_906_842_624).optional().meta({
    env: 'NACRE_FILE_BYTES',
    flag: '--file-bytes',
    description: 'Bytes that a file may have that a command writes.',
    unset: 'no limit',
    project: 'lower',
  }),
  drainMs: z.int().min(0).max(5_000).default(100).meta({
    env: 'NACRE_DRAIN_MS',
    flag: '--drain-ms',
    description:
      'How long output is still awaited after a command has ended and something holds its streams.',
  }),
  killGraceMs: z.int().min(0).max(60_000).default(2_000).meta({
    env: 'NACRE_KILL_GRACE_MS',
    flag: '--kill-grace-ms',
    description: 'How long a command has between SIGTERM and SIGKILL.',
  }),
  stateDir: z.string().min(1).optional().meta({
    env: 'NACRE_STATE_DIR',
    flag: '--state-dir',
    description: 'Directory for spools, the audit log and caches.',
    unset: '$XDG_STATE_HOME/nacre, or ~/.local/state/nacre',
    path: true,
  }),
  bash: z.string().min(1).optional().meta({
    env: 'NACRE_BASH',
    flag: '--bash',
    description: 'The bash that runs commands, version 4.4 or newer.',
    unset: 'the first bash on the PATH',
    path: true,
  }),
  loginEnv: z.enum(['auto', 'always', 'never']).default('auto').meta({
    env: 'NACRE_LOGIN_ENV',
    flag: '--login-env',
    description: "Whether commands get the login shell's environment; auto takes it when the PATH is bare.",
  }),
  envPass: z.array(environmentPattern).default([]).meta({
    env: 'NACRE_ENV_PASS',
    flag: '--env-pass',
    description: 'Variables that commands get although their names look like secrets.',
    accepts: environmentWords,
    project: 'intersect',
  }),
  envWithhold: z.array(environmentPattern).default([]).meta({
    env: 'NACRE_ENV_WITHHOLD',
    flag: '--env-withhold',
    description: 'Variables withheld from commands beside those whose names look like secrets.',
    accepts: environmentWords,
    project: 'add',
  }),
  sandbox: z.enum(sandboxNames).default('off').meta({
    env: 'NACRE_SANDBOX',
    flag: '--sandbox',
    description:
      'What commands may do to the machine: workspace writes only there, strict also hides the home directory.',
    project: 'stricter',
  }),
  workspace: z.array(z.string().min(1)).default([]).meta({
    env: 'NACRE_WORKSPACE',
    flag: '--workspace',
    description: 'Directories that stay writable in a sandbox.',
    accepts: 'a comma-separated list of directories',
    unset: 'the working directory of the command',
    path: true,
  }),
  network: z.enum(['on', 'off']).default('off').meta({
    env: 'NACRE_NETWORK',
    flag: '--network',
    description: 'Whether commands in a sandbox reach the network.',
    project: 'stricter',
  }),
  networkAllow: z.array(hostPattern).max(1_000).default([]).meta({
    env: 'NACRE_NETWORK_ALLOW',
    flag: '--network-allow',
    description:
      'Hosts that commands in a sandbox reach while its network is off, through a proxy; without a port 80 and 443.',
    accepts: 'a comma-separated list of hosts, such as example.com, *.example.com, example.com:8443 or 192.0.2.1:*',
    project: 'intersect',
  }),
  processes: z.enum(['host', 'own']).default('own').meta({
    env: 'NACRE_PROCESSES',
    flag: '--processes',
    description: "Whether commands see and signal only processes that they started, or all of the machine's.",
    project: 'stricter',
  }),
  supervisionRequire: z.enum(supervisionLevels).default('group').meta({
    env: 'NACRE_SUPERVISION_REQUIRE',
    flag: '--supervision-require',
    description: 'The least certainty that nothing of a command survives; below it nothing runs.',
    project: 'stricter',
  }),
  keep: z
    .array(z.string().regex(/^[^\s/]{1,255}$/))
    .default([])
    .meta({
      env: 'NACRE_KEEP',
      flag: '--keep',
      description: 'Daemons that may stay after the command that started them, until nacre ends.',
      accepts: 'a comma-separated list of program names, such as gpg-agent',
      project: 'intersect',
    }),
  exec: z.enum(execModes).default('off').meta({
    env: 'NACRE_EXEC',
    flag: '--exec',
    description:
      'Whether the kernel executes only what ALLOWED_COMMANDS lists: report runs without it where it cannot, enforce refuses.',
    project: 'stricter',
  }),
  warmShells: z.int().min(0).max(16).default(2).meta({
    env: 'NACRE_WARM_SHELLS',
    flag: '--warm-shells',
    description: 'Shells that wait for commands, started ahead of need.',
  }),
  sessionIdleMs: z.int().min(1_000).max(86_400_000).default(1_800_000).meta({
    env: 'NACRE_SESSION_IDLE_MS',
    flag: '--session-idle-ms',
    description:
      'Milliseconds without a command after which a persistent shell with nothing in the background is ended; its state is kept for the next command.',
  }),
});
