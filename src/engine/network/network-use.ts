import { type Command, showCommand } from '../../contract/command.ts';
import type { FoundProgram } from '../../contract/decision.ts';

// Programs that connect to other hosts with any arguments.
const always = new Set([
  ...['curl', 'wget', 'aria2c', 'http', 'ssh', 'scp', 'sftp', 'ftp', 'telnet', 'nc', 'ncat', 'ping'],
  ...['host', 'dig', 'nslookup', 'gh', 'npx', 'pnpx', 'bunx', 'uvx', 'apt', 'apt-get', 'apk', 'dnf', 'yum'],
]);

const packages =
  /\s(?:i|ci|add|create|dlx|exec|info|init|install|outdated|publish|search|up|update|view|x)\b/;
const downloads = /\s(?:add|download|fetch|get|install|lock|publish|search|sync|update)\b/;

// Programs that connect only for some subcommands, with a pattern for the text of the invocation.
const sometimes: Readonly<Record<string, RegExp>> = {
  git: /\s(?:clone|fetch|ls-remote|pull|push|submodule)\b/,
  npm: packages,
  pnpm: packages,
  bun: packages,
  yarn: /yarn\s*$|\s(?:add|create|dlx|info|install|up|upgrade)\b/,
  pip: downloads,
  pip3: downloads,
  python: /\s-m\s+pip\s/,
  python3: /\s-m\s+pip\s/,
  uv: downloads,
  poetry: downloads,
  cargo: downloads,
  go: downloads,
  gem: downloads,
  bundle: downloads,
  composer: /\s(?:create-project|install|require|update)\b/,
  docker: /\s(?:build|login|pull|push|run)\b/,
  podman: /\s(?:build|login|pull|push|run)\b/,
  rsync: /\S:/,
};

const loopback = /\blocalhost\b|\b127\.\d|\[?::1\b|\b0\.0\.0\.0\b/;

/** Programs of a command that connect to other hosts, by base name; those that name a loopback address are left out. */
export function networkProgramsOf(command: Command, programs: readonly FoundProgram[]): readonly string[] {
  const text = showCommand(command);
  return programs.flatMap(({ name, pos }) => {
    const program = name.slice(name.lastIndexOf('/') + 1);
    const isKnown = always.has(program) || Object.hasOwn(sometimes, program);
    return isKnown && connects(program, textFrom(text, pos)) ? [program] : [];
  });
}

function connects(program: string, text: string): boolean {
  return !loopback.test(text) && (sometimes[program]?.test(text) ?? true);
}

const maxInvocationChars = 2_000;

// The text up to the next operator; an operator inside quotes only shortens the text that is searched for a subcommand.
function textFrom(text: string, pos: number): string {
  const [invocation = ''] = /^[^;|&\n]*/.exec(text.slice(pos, pos + maxInvocationChars)) ?? [];
  return invocation;
}

// Messages of resolvers, of connect() and of the programs that report them. sudo's "unable to resolve host" is no match.
const unresolved =
  /could not resolve (?:host|proxy)|temporary failure (?:in name resolution|resolving)|name or service not known|nodename nor servname|no address associated with hostname|unable to resolve host address|failed to lookup address|nameresolutionerror|unknownhostexception|dial tcp: lookup|\beai_again\b|\benotfound\b/i;
const unreachable = /network is unreachable|\benetunreach\b|no route to host|\behostunreach\b/i;
const refused =
  /connection refused|\beconnrefused\b|(?:couldn't|could not) connect to server|failed to connect to/i;

/** Whether output says that a host was not found or not reached; a refused loopback connection does not count. */
export function reportsNoNetwork(output: string): boolean {
  if (unresolved.test(output) || unreachable.test(output)) return true;
  return (
    refused.test(output) && output.split('\n').some((line) => refused.test(line) && !loopback.test(line))
  );
}

const noSocket =
  /\b(?:bind|connect|listen) eacces\b|socket: permission denied|connecting to .{1,200}? failed: permission denied|\bsocket\.py\b[\s\S]{0,1000}permissionerror/i;

/** Like `reportsNoNetwork`, for a sandbox that allows no sockets at all: loopback counts as well. */
export function reportsNoSockets(output: string): boolean {
  return reportsNoNetwork(output) || refused.test(output) || noSocket.test(output);
}

/** Exit codes of programs that report an unknown or unreachable host only by exit code. */
export const noNetworkExitCodes: Readonly<Record<string, readonly number[]>> = {
  curl: [6, 7],
  wget: [4],
  ssh: [255],
};
