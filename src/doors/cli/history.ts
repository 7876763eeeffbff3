// `nacre history`: past commands from the audit log.
import { resolve } from 'node:path';
import { readHistory } from '../../audit/history.ts';
import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { NacreError } from '../../contract/failure.ts';
import { tryRealpath } from '../../support/try-realpath.ts';
import type { DisplayAccess, FlagAccess, IoAccess, PlaceAccess } from '../door.ts';
import { failedExit } from '../exit-codes.ts';
import { print, toErrorText } from '../print.ts';
import { parseSince } from './parse-since.ts';
import { showCommands } from './show-commands.ts';

interface Flags {
  readonly json: boolean;
  readonly grep?: string | undefined;
  readonly failed: boolean;
  readonly cwd?: string | undefined;
  readonly since?: string | undefined;
  readonly limit: number;
}

/** Prints the last `--limit` commands, oldest first. */
export async function historyDoor(deps: HistoryDeps): Promise<number> {
  const { io, flags, places } = deps;
  try {
    const commands = readHistory(places.audit.dir).filter(createFilter(flags)).slice(-flags.limit);
    if (!flags.json) await showCommands(commands, deps);
    else
      for (const command of commands) await print(io.stdout, `${JSON.stringify(command)}\n`, io.interrupted);
    return 0;
  } catch (error) {
    await print(io.stderr, toErrorText(error));
    return failedExit;
  }
}

type HistoryDeps = FlagAccess<Flags> & IoAccess & DisplayAccess & PlaceAccess;

function createFilter({ grep, failed, cwd, since }: Flags): (command: CommandSummary) => boolean {
  const pattern = grep === undefined ? undefined : toPattern(grep);
  // Records have canonical paths; `tryRealpath` returns a directory that no longer exists as given.
  const place = cwd === undefined ? undefined : tryRealpath(resolve(cwd));
  const time = since === undefined ? '' : parseSince(since);
  return (command) =>
    (pattern === undefined || pattern.test(command.command)) &&
    (!failed || !['completed', 'running', 'skipped'].includes(command.outcome)) &&
    (place === undefined || command.cwd === place || command.cwd?.startsWith(`${place}/`) === true) &&
    command.time >= time;
}

function toPattern(text: string): RegExp {
  try {
    return new RegExp(text, 'i');
  } catch (cause) {
    throw new NacreError('invalid_request', `--grep: ${(cause as Error).message}.`, {
      hint: 'Use JavaScript regular expression syntax, with \\ before special characters that should match literally.',
      cause,
    });
  }
}
