// Connects with the system's `ssh` and the user's configuration, so jump hosts, agents, hardware keys and host key
// checks behave as in a terminal.
import { homedir } from 'node:os';
import type { NacreError } from '../../contract/failure.ts';
import type { SshRoad } from '../../contract/machine.ts';
import { expandHome } from '../../support/expand-home.ts';
import { quote, quoteWord } from '../../support/quote.ts';
import type { FarEnd } from '../../wire/road.ts';
import { spawnFar } from '../../worker/road/spawn-far.ts';
import { toShown } from './far-messages.ts';
import type { FarDeps, RoadMachine } from './open-far.ts';
import { machineUnusable } from './road-errors.ts';

/** A host, and a configuration file of ssh by its absolute path. */
export type SshHost = Pick<SshRoad, 'host' | 'config'>;

/** A machine that `ssh` reaches. */
export function createSshMachine(name: string, road: SshRoad, { environment }: FarDeps): RoadMachine {
  const host = toSshHost(road.host, road.config, environment);
  // `explain` reads the messages of ssh, which are translated on some systems.
  const env = { ...environment, LC_ALL: 'C' };
  return {
    name,
    roots: ['~/.cache/nacre'],
    run: async (argv, isLarge) => spawnFar(toSshArgv(name, host, argv, isLarge), env),
    explain: (end) => explainSsh(name, host, end),
  };
}

/** The host of a road: `ssh -F` does not replace `~` itself. */
export function toSshHost(
  host: string,
  config: string | undefined,
  { HOME: home = homedir() }: Readonly<Record<string, string>>,
): SshHost {
  return { host, config: config === undefined ? undefined : expandHome(config, home) };
}

const options: readonly string[] = [
  'BatchMode=yes',
  'ConnectTimeout=8',
  'ServerAliveInterval=5',
  'ServerAliveCountMax=3',
  'RequestTTY=no',
  'RemoteCommand=none',
  'PermitLocalCommand=no',
  'ClearAllForwardings=yes',
  // This ssh process must exit with its stream (`ControlMaster=no`); it may still use a master connection that the user
  // has opened.
  'ControlMaster=no',
];

/** The command line of `ssh` that runs a program on a host. Login shells of any kind execute exactly `argv`. */
export function toSshArgv(
  name: string,
  { host, config }: SshHost,
  argv: readonly string[],
  isLarge = false,
): readonly [string, ...string[]] {
  return [
    'ssh',
    ...(config === undefined ? [] : ['-F', config]),
    // No agent or X11 forwarding: commands there must not get the user's keys or screen.
    ...['-T', '-a', '-x'],
    ...options.flatMap((option) => ['-o', option]),
    ...(isLarge ? ['-o', 'Compression=yes'] : []),
    '--',
    checkHost(name, host),
    // Every shell has `exec`, and reads words in single quotes in the same way.
    ['exec', ...argv.map(quote)].join(' '),
  ];
}

// `--` ends the options, but a ProxyCommand, which a shell executes, may contain the host name as %h.
function checkHost(name: string, host: string): string {
  if (/^[A-Za-z0-9_[][A-Za-z0-9_.:@%/[\]-]*$/.test(host)) return host;
  throw machineUnusable(
    name,
    `${JSON.stringify(host)} is not a valid host name for ssh`,
    'Use a host name, user@host, or a Host of your ssh configuration.',
  );
}

/** The code with which ssh reports its own failures. */
const sshFailed = 255;

/** The error for an ssh that could not connect; undefined if it is not ssh's own failure. */
export function explainSsh(
  name: string,
  { host, config }: SshHost,
  { code, stderr }: FarEnd,
): NacreError | undefined {
  if (code !== sshFailed && code !== null) return undefined;
  const ssh = `ssh ${config === undefined ? '' : `-F ${quoteWord(config)} `}`;
  const found = knownFailures.find(([pattern]) => pattern.test(stderr));
  if (!found && stderr === '') return undefined;
  const [, reason, hint] = found ?? [null, `ssh says: ${toShown(stderr)}`, 'SSH -v HOST shows why.'];
  return machineUnusable(
    name,
    reason,
    hint.replace('SSH ', () => ssh).replaceAll('HOST', () => host),
    stderr,
  );
}

type Failure = readonly [pattern: RegExp, reason: string, hint: string];

// Tried in this order, because a changed host key also prints "Host key verification failed".
const knownFailures: readonly Failure[] = [
  [
    /IDENTIFICATION HAS CHANGED|host key for [^\n]{1,300} has changed/i,
    'its host key has changed, so another machine may be impersonating it',
    'Ask its owner. If the change is expected, remove the old key with ssh-keygen -R and its name, then connect once with SSH HOST.',
  ],
  [
    /Host key verification failed|No [^\n]{1,40} host key is known/i,
    'its host key is not known',
    'Compare and accept the key at a terminal: SSH -o StrictHostKeyChecking=ask HOST true',
  ],
  [
    /Permission denied|Too many authentication failures|no more authentication methods/i,
    'it does not accept your key, and nacre cannot type a password',
    'Make SSH -o BatchMode=yes HOST true work first, with ssh-agent or an IdentityFile.',
  ],
  [
    /Could not resolve hostname|Name or service not known/i,
    'its host name cannot be resolved',
    'Check the name, or add a Host with this name to the ssh configuration.',
  ],
  [
    /Connection refused/i,
    'nothing listens on its ssh port',
    'Start sshd there, or check the port: SSH -v HOST',
  ],
  [
    /No route to host|Network is unreachable/i,
    'there is no route to it',
    'Check the network, VPN or jump host: SSH -v HOST',
  ],
  [
    /timed out|Timeout, server|did not properly respond/i,
    'it does not answer; it may be off',
    'Check that it is on and reachable: SSH -v HOST',
  ],
  [
    /Connection closed|Connection reset|kex_exchange_identification/i,
    'it closed the connection',
    'SSH -v HOST shows why.',
  ],
  [/ENOENT/, 'this machine has no ssh program', 'Install OpenSSH, such as the package openssh-client.'],
];
