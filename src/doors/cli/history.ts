// `nacre history`: past commands from the audit log.
import { resolve } from 'node:path';
import { readHistory } from '../../audit/history.ts';
import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { NacreError } from '../../contract/failure.ts';
import { tryRealpath } from '../../support/try-realpath.ts';
import type { FlagAccess, IoAccess, PlaceAccess } from '../door.ts';
import { failedExit } from '../exit-codes.ts';
import { print, toErrorText } from '../print.ts';
import { parseSince } from './parse-since.ts';
import { toCommandRow } from './to-command-row.ts';

interface Flags {
  readonly json: boolean;
  readonly grep?: string | undefined;
  readonly failed: boolean;
  readonly cwd?: string | undefined;
  readonly since?: string | undefined;
  readonly limit: number;
}

/** Prints the last `--limit` commands, oldest first. */
export async function historyDoor({
  io,
  flags,
  places,
}: FlagAccess<Flags> & IoAccess & PlaceAccess): Promise<number> {
  try {
    const isWanted = createFilter(flags);
    for (const command of readHistory(places.audit.dir).filter(isWanted).slice(-flags.limit))
      await print(
        io.stdout,
        flags.json ? `${JSON.stringify(command)}\n` : toCommandRow(command),
        io.interrupted,
      );
    return 0;
  } catch (error) {
    await print(io.stderr, toErrorText(error));
    return failedExit;
  }
}

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
