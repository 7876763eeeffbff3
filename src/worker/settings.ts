import { changesModes } from '../contract/changes.ts';
import { execModes, sandboxNames, supervisionLevels } from '../contract/isolation.ts';
import { defineSettings } from '../settings/define.ts';
import { environmentPattern, environmentWords } from '../settings/environment-pattern.ts';
import { s } from '../settings/schema.ts';

// A host name, `*.` and a host name, or an address; an IPv6 address with a port is in brackets.
const hostPattern = s
  .text()
  .max(300)
  .regex(
    /^(?:(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?(?::(?:\d{1,5}|\*))?|\[[0-9A-Fa-f:.]+\](?::(?:\d{1,5}|\*))?|[0-9A-Fa-f]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)$/,
  );

// A port, or a port of the sandbox and one of 127.0.0.1; the digits allow 1 to 65535. YAML reads `3000` as a number.
const number = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])';
const portEntry = s
  .text()
  .regex(new RegExp(`^${number}(?::${number})?$`))
  .orNumber(1, 65_535);

/** Settings for how commands run, how their output is kept, and what they can see. */
export const workerSettings = defineSettings({
  ringBytes: s.int().min(4_096).max(67_108_864).default(1_048_576).meta({
    env: 'NACRE_RING_BYTES',
    flag: '--ring-bytes',
    description: 'Bytes of output kept in memory per command; older output is moved to disk.',
    project: 'lower',
  }),
  spoolBytes: s.int().min(65_536).max(1_099_511_627_776).default(268_435_456).meta({
    env: 'NACRE_SPOOL_BYTES',
    flag: '--spool-bytes',
    description: 'Bytes of output kept on disk per command; a command that writes more is killed.',
    project: 'lower',
  }),
  spoolTotalBytes: s.int().min(65_536).max(1_099_511_627_776).default(2_147_483_648).meta({
    env: 'NACRE_SPOOL_TOTAL_BYTES',
    flag: '--spool-total-bytes',
    description:
      'Bytes of output kept on disk for all commands together; when they are used up, the output of the commands that ended first is removed.',
    project: 'lower',
  }),
  memoryBytes: s.int().min(16_777_216).max(1_125_899_906_842_624).optional().meta({
    env: 'NACRE_MEMORY_BYTES',
    flag: '--memory-bytes',
    description: 'Bytes of memory that each process of a command may use.',
    unset: 'no limit',
    project: 'lower',
  }),
  treeMemoryBytes: s.int().min(16_777_216).max(1_125_899_906_842_624).optional().meta({
    env: 'NACRE_TREE_MEMORY_BYTES',
    flag: '--tree-memory-bytes',
    description: 'Bytes of memory that all processes of a command may use together.',
    unset: 'no limit',
    project: 'lower',
  }),
  maxProcesses: s.int().min(4).max(4_194_304).optional().meta({
    env: 'NACRE_MAX_PROCESSES',
    flag: '--max-processes',
    description: 'Processes and threads that a command may have at one time.',
    unset: 'no limit',
    project: 'lower',
  }),
  cpuSeconds: s.int().min(1).max(31_536_000).optional().meta({
    env: 'NACRE_CPU_SECONDS',
    flag: '--cpu-seconds',
    description: 'Seconds of CPU time that each process of a command may use.',
    unset: 'no limit',
    project: 'lower',
  }),
  fileBytes: s.int().min(1_024).max(1_125_899_906_842_624).optional().meta({
    env: 'NACRE_FILE_BYTES',
    flag: '--file-bytes',
    description: 'Maximum size in bytes of each file that a command writes.',
    unset: 'no limit',
    project: 'lower',
  }),
  drainMs: s.int().min(0).max(5_000).default(100).meta({
    env: 'NACRE_DRAIN_MS',
    flag: '--drain-ms',
    description:
      'Milliseconds to wait for more output after a command has ended, if another process still has its stdout or stderr open.',
  }),
  killGraceMs: s.int().min(0).max(60_000).default(2_000).meta({
    env: 'NACRE_KILL_GRACE_MS',
    flag: '--kill-grace-ms',
    description: 'Milliseconds between SIGTERM and SIGKILL when a command is stopped.',
  }),
  outlive: s.choice(['on', 'auto', 'off']).default('auto').meta({
    env: 'NACRE_OUTLIVE',
    flag: '--outlive',
    description:
      'Background commands and persistent shells keep running when the server ends, and the same client finds them again. auto is on in nacre mcp and nacre serve, unless the worker that keeps them cannot be started there, and off elsewhere.',
    project: 'stricter',
  }),
  orphanMs: s.int().min(1_000).max(2_147_483_647).default(86_400_000).meta({
    env: 'NACRE_ORPHAN_MS',
    flag: '--orphan-ms',
    description:
      'Milliseconds for which a background command or persistent shell is kept while no server is connected to it.',
    project: 'lower',
  }),
  stateDir: s.text().min(1).optional().meta({
    env: 'NACRE_STATE_DIR',
    flag: '--state-dir',
    description: 'State folder, for spools, the audit log and caches.',
    unset: '$XDG_STATE_HOME/nacre, or ~/.local/state/nacre; without a home, nacre-UID in $TMPDIR or /tmp',
    path: true,
  }),
  bash: s.text().min(1).optional().meta({
    env: 'NACRE_BASH',
    flag: '--bash',
    description: 'Path of the bash that runs commands; version 4.4 or newer.',
    unset: 'the first bash on the PATH',
    path: true,
  }),
  loginEnv: s.choice(['auto', 'always', 'never']).default('auto').meta({
    env: 'NACRE_LOGIN_ENV',
    flag: '--login-env',
    description:
      "Whether commands get the login shell's environment; auto uses it if PATH has only system directories.",
  }),
  envPass: s.list(environmentPattern).default([]).meta({
    env: 'NACRE_ENV_PASS',
    flag: '--env-pass',
    description: 'Variables passed to commands even if they look like secrets.',
    accepts: environmentWords,
    project: 'intersect',
  }),
  envWithhold: s.list(environmentPattern).default([]).meta({
    env: 'NACRE_ENV_WITHHOLD',
    flag: '--env-withhold',
    description: 'Variables withheld from commands in addition to those that look like secrets.',
    accepts: environmentWords,
    project: 'add',
  }),
  sandbox: s.choice(sandboxNames).default('off').meta({
    env: 'NACRE_SANDBOX',
    flag: '--sandbox',
    description:
      'Limits what commands can change: workspace allows writes only in the workspace, strict also hides the home directory.',
    project: 'stricter',
  }),
  changes: s.choice(changesModes).default('direct').meta({
    env: 'NACRE_CHANGES',
    flag: '--changes',
    description:
      'How commands change files of the workspace: direct changes them at once, track at the end of the command, so that it can be undone, hold only when the changes are applied.',
    project: 'stricter',
  }),
  changesBytes: s.int().min(1_048_576).max(1_125_899_906_842_624).default(5_368_709_120).meta({
    env: 'NACRE_CHANGES_BYTES',
    flag: '--changes-bytes',
    description:
      'Bytes of changed files that are kept for undo; beyond that, the oldest changes are removed.',
    project: 'lower',
  }),
  changesDays: s.int().min(1).max(3_650).default(30).meta({
    env: 'NACRE_CHANGES_DAYS',
    flag: '--changes-days',
    description: 'Days after which changes that are kept for undo, or held, are removed.',
    project: 'lower',
  }),
  changesFileBytes: s.int().min(1_048_576).max(1_125_899_906_842_624).default(1_073_741_824).meta({
    env: 'NACRE_CHANGES_FILE_BYTES',
    flag: '--changes-file-bytes',
    description:
      'The largest file that a command may change while its changes are tracked or held, because the whole file is copied; a command that changes a larger one is killed.',
    project: 'lower',
  }),
  changesLarge: s.choice(['refuse', 'direct']).default('refuse').meta({
    env: 'NACRE_CHANGES_LARGE',
    flag: '--changes-large',
    description:
      'How a tracked command that was killed because of changes_file_bytes runs the next time: refuse kills it again, direct lets it change files directly, without undo.',
  }),
  workspace: s.list(s.text().min(1)).default([]).meta({
    env: 'NACRE_WORKSPACE',
    flag: '--workspace',
    description: 'Directories that stay writable in a sandbox.',
    accepts: 'a comma-separated list of directories',
    unset: 'the working directory of the command',
    path: true,
  }),
  homeShow: s.list(s.text().min(1)).max(1_000).default([]).meta({
    env: 'NACRE_HOME_SHOW',
    flag: '--home-show',
    description:
      'Files and folders of the home directory that commands in the sandbox workspace can read, in addition to known tools and caches.',
    accepts: 'a comma-separated list of paths, such as .npmrc or .config/pip',
    project: 'intersect',
  }),
  unprotected: s.list(s.text().min(1)).max(1_000).default([]).meta({
    env: 'NACRE_UNPROTECTED',
    flag: '--unprotected',
    description:
      'Paths in the workspace that commands may change, in a sandbox and under a list of programs, although programs outside run them or read settings from them; * for all.',
    accepts: 'a comma-separated list of paths, such as .git/config or .vscode',
    project: 'intersect',
  }),
  network: s.choice(['on', 'off']).default('off').meta({
    env: 'NACRE_NETWORK',
    flag: '--network',
    description: 'Whether commands in a sandbox can reach the network.',
    project: 'stricter',
  }),
  networkAllow: s.list(hostPattern).max(1_000).default([]).meta({
    env: 'NACRE_NETWORK_ALLOW',
    flag: '--network-allow',
    description:
      'Hosts that commands in a sandbox can reach through a proxy while network is off; on ports 80 and 443 unless the entry names a port.',
    accepts:
      'a comma-separated list of hosts, such as example.com, *.example.com, example.com:8443 or 192.0.2.1:*',
    project: 'intersect',
  }),
  ports: s.list(portEntry).max(100).default([]).meta({
    env: 'NACRE_PORTS',
    flag: '--ports',
    description:
      'Ports of commands in a sandbox that are opened on 127.0.0.1 as soon as a command listens on them.',
    accepts: 'a comma-separated list of ports, such as 3000, or 3000:8080 for port 8080 of 127.0.0.1',
    project: 'intersect',
  }),
  processes: s.choice(['host', 'own']).default('own').meta({
    env: 'NACRE_PROCESSES',
    flag: '--processes',
    description:
      'Which processes commands can see and signal: all processes of the machine (host), or only their own.',
    project: 'stricter',
  }),
  supervisionRequire: s.choice(supervisionLevels).default('group').meta({
    env: 'NACRE_SUPERVISION_REQUIRE',
    flag: '--supervision-require',
    description:
      'Lowest supervision level at which commands may run; if the machine offers less, every command is refused.',
    project: 'stricter',
  }),
  keep: s
    .list(s.text().regex(/^[^\s/]{1,255}$/))
    .default([])
    .meta({
      env: 'NACRE_KEEP',
      flag: '--keep',
      description: 'Daemons that may keep running after the command that started them, until nacre ends.',
      accepts: 'a comma-separated list of program names, such as gpg-agent',
      project: 'intersect',
    }),
  exec: s.choice(execModes).default('auto').meta({
    env: 'NACRE_EXEC',
    flag: '--exec',
    description:
      'Whether the kernel executes only the programs in ALLOWED_COMMANDS: auto does if the list has no program that runs others, such as make or npm; where the kernel cannot, enforce refuses commands, and auto and report run them.',
    project: 'stricter',
  }),
  warmShells: s.int().min(0).max(16).default(2).meta({
    env: 'NACRE_WARM_SHELLS',
    flag: '--warm-shells',
    description: 'Number of shells to start in advance.',
  }),
  sessionIdleMs: s.int().min(1_000).max(86_400_000).default(1_800_000).meta({
    env: 'NACRE_SESSION_IDLE_MS',
    flag: '--session-idle-ms',
    description:
      'Milliseconds without a command after which a persistent shell without background processes is ended; its state is kept for the next command.',
  }),
});
