// `nacre show ID`: 1. the command is found in the history by its id or a prefix of it, 2. its records say who asked,
// what was decided and how it ended, 3. its output comes from a running server or from a recording.
import { readHistory } from '../../audit/history.ts';
import { readRecordsOf } from '../../audit/read-command.ts';
import { NacreError } from '../../contract/failure.ts';
import type { ServerFolder } from '../../servers/reach-servers.ts';
import type { Arguments, DisplayAccess, FlagAccess, IoAccess, PlaceAccess } from '../door.ts';
import { print } from '../print.ts';
import { chooseCommand } from './choose-command.ts';
import { findOutput } from './find-output.ts';
import { toShowText } from './to-show-text.ts';

type ShowDeps = FlagAccess<{ readonly json: boolean }> &
  IoAccess &
  DisplayAccess &
  Arguments &
  PlaceAccess &
  ServerFolder;

/** Prints everything that is known about one command. */
export async function showDoor(deps: ShowDeps): Promise<number> {
  const { io, flags, display, places } = deps;
  const command = chooseCommand(readHistory(places.audit.dir), onlyId(deps.words));
  const records = readRecordsOf(places.audit.dir, command);
  const output = await findOutput({ ...deps, recordingDir: places.recordingDir }, command.id);
  const text = flags.json
    ? `${JSON.stringify({ ...command, records, output: output ?? null }, null, 2)}\n`
    : toShowText({ command, records, output }, display);
  await print(io.stdout, text, io.interrupted);
  return 0;
}

function onlyId([id, ...more]: readonly string[]): string {
  if (id !== undefined && more.length === 0) return id;
  throw new NacreError(
    'invalid_request',
    'nacre show requires the id of one command, or the beginning of one.',
    {
      hint: 'nacre history lists past commands, and nacre ps the running ones.',
    },
  );
}
