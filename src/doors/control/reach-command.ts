import { NacreError } from '../../contract/failure.ts';
import type { ListedCommand } from '../../engine/commands/commands.ts';
import { askServers, type ReachedServer, type ServerFolder } from '../../servers/reach-servers.ts';

/** A command, and a connection to the server that runs it. */
export interface ReachedCommand {
  readonly server: ReachedServer;
  readonly command: ListedCommand;
}

/** Finds the command with the id or name in `words`; throws if there is none, or if several run under the name. */
export async function reachCommand(
  folder: ServerFolder,
  words: readonly string[],
  subcommand: string,
): Promise<ReachedCommand> {
  const idOrName = onlyWord(words, subcommand);
  const { replies, failed, close } = await askServers<readonly ListedCommand[]>(folder, { method: 'list' });
  try {
    const all = replies.flatMap(({ server, result }) => result.map((command) => ({ server, command })));
    const found = choose(all, idOrName) ?? fail(idOrName, failed);
    for (const { server } of replies) if (server !== found.server) server.close();
    return found;
  } catch (error) {
    close();
    throw error;
  }
}

// An id is unique. A name selects the running command of that name or, if none runs, the one that started last.
function choose(all: readonly ReachedCommand[], idOrName: string): ReachedCommand | undefined {
  const byId = all.find(({ command }) => command.id === idOrName);
  if (byId) return byId;
  const named = all.filter(({ command }) => command.name === idOrName);
  const running = named.filter(({ command }) => command.state.end === null);
  if (running.length > 1) throw ambiguous(idOrName, running);
  const [newest] = named.toSorted((one, other) => startOf(other).localeCompare(startOf(one)));
  return running[0] ?? newest;
}

function startOf({ command }: ReachedCommand): string {
  return command.state.startedAt;
}

function ambiguous(name: string, found: readonly ReachedCommand[]): NacreError {
  const ids = found.map(({ command }) => command.id).join(', ');
  return new NacreError(
    'invalid_request',
    `${found.length} commands are running under the name ${name}: ${ids}.`,
    {
      hint: 'Use the id of one of them.',
    },
  );
}

function fail(idOrName: string, [first]: readonly NacreError[]): never {
  if (first) throw first;
  throw new NacreError('job_not_found', `No server has a command ${idOrName}.`, {
    hint: 'nacre ps lists them.',
  });
}

function onlyWord(words: readonly string[], subcommand: string): string {
  const [word, ...more] = words;
  if (word !== undefined && more.length === 0) return word;
  throw new NacreError('invalid_request', `nacre ${subcommand} requires the id or the name of one command.`, {
    hint: 'nacre ps lists them.',
  });
}
