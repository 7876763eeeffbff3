import { NacreError } from '../../contract/failure.ts';
import type { ListedCommand } from '../../engine/commands/commands.ts';
import { askServers, type ReachedServer } from './reach-servers.ts';

/** A command of a running server. */
export interface ReachedCommand {
  readonly server: ReachedServer;
  readonly command: ListedCommand;
}

/** The command that a person means by its id or name; throws where there is none, and where there are several. */
export async function reachCommand(
  folder: string,
  words: readonly string[],
  door: string,
): Promise<ReachedCommand> {
  const word = oneWord(door, words);
  const { answered, failed, close } = await askServers<readonly ListedCommand[]>(folder, { method: 'list' });
  try {
    const all = answered.flatMap(({ server, result }) => result.map((command) => ({ server, command })));
    const found = choose(all, word) ?? fail(word, failed);
    for (const { server } of answered) if (server !== found.server) server.close();
    return found;
  } catch (error) {
    close();
    throw error;
  }
}

// An id is one command's alone. A name is first of all that of what runs, and then of what ran last.
function choose(all: readonly ReachedCommand[], word: string): ReachedCommand | undefined {
  const byId = all.find(({ command }) => command.id === word);
  if (byId) return byId;
  const named = all.filter(({ command }) => command.name === word);
  const running = named.filter(({ command }) => command.state.end === null);
  if (running.length > 1) throw ambiguous(word, running);
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
      hint: 'Use the id of the one that you mean.',
    },
  );
}

function fail(word: string, [first]: readonly NacreError[]): never {
  if (first) throw first;
  throw new NacreError('job_not_found', `No server has a command ${word}.`, { hint: 'nacre ps lists them.' });
}

function oneWord(door: string, words: readonly string[]): string {
  const [word, ...more] = words;
  if (word !== undefined && more.length === 0) return word;
  throw new NacreError('invalid_request', `nacre ${door} takes the id or the name of one command.`, {
    hint: 'nacre ps lists them.',
  });
}
