// `nacre history`: the commands that ran, from the audit log.
import { resolve } from 'node:path';
import { readHistory } from '../../audit/history.ts';
import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { NacreError } from '../../contract/failure.ts';
import { canonicalOrGiven } from '../../support/canonical-or-given.ts';
import type { FlagAccess, IoAccess, PlaceAccess } from '../door.ts';
import { failedExit } from '../exit-codes.ts';
import { toSentences, write } from '../say.ts';
import { toCommandRow } from './to-command-row.ts';
import { toTime } from './to-time.ts';

interface Flags {
  readonly json: boolean;
  readonly grep?: string | undefined;
  readonly failed: boolean;
  readonly cwd?: string | undefined;
  readonly since?: string | undefined;
  readonly limit: number;
}

/** Shows the newest commands, oldest first. */
export async function historyDoor({
  io,
  flags,
  places,
}: FlagAccess<Flags> & IoAccess & PlaceAccess): Promise<number> {
  try {
    const wanted = toWanted(flags);
    for (const command of readHistory(places.audit.dir).filter(wanted).slice(-flags.limit))
      await write(
        io.stdout,
        flags.json ? `${JSON.stringify(command)}\n` : toCommandRow(command),
        io.interrupted,
      );
    return 0;
  } catch (error) {
    await write(io.stderr, toSentences(error));
    return failedExit;
  }
}

function toWanted({ grep, failed, cwd, since }: Flags): (command: CommandSummary) => boolean {
  const pattern = grep === undefined ? undefined : toPattern(grep);
  // Records tell the directory behind all links; one that is gone by now can still be asked for.
  const place = cwd === undefined ? undefined : canonicalOrGiven(resolve(cwd));
  const time = since === undefined ? '' : toTime(since);
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
      hint: 'Use the syntax of JavaScript, and \\ before a character that should stand for itself.',
      cause,
    });
  }
}
