import { type ChangesMode, stricterChanges } from '../../contract/changes.ts';
import { showCommand } from '../../contract/command.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { ChangingCommand } from '../changes/changes-store.ts';

/** For the reply to a command that outlives its call or is at a terminal, and so cannot be tracked. */
const notTracked =
  'This command runs in the background or at a terminal, so it changes files directly: its changes are not tracked and cannot be undone.';

/** For the reply to a command that was ended before because of a large file. */
const tooLargeForLayer =
  'This command changed a file larger than changes_file_bytes when it was run before, so it changes files directly now: its changes are not tracked and cannot be undone.';

const namedEntries = 3;

/** A sentence for the caller of a command that ran on top of the held changes of the commands `ids`, the oldest first. */
export function noteOnStack(ids: readonly string[]): string | undefined {
  if (ids.length === 0) return undefined;
  const more = ids.length > namedEntries ? ` and ${ids.length - namedEntries} more` : '';
  const named = `${ids.slice(-namedEntries).reverse().join(', ')}${more}`;
  return `This command ran on top of the held changes of ${named}, which are not in the workspace; nacre changes lists them. Apply held changes from the oldest to the newest, or discard them from the newest to the oldest: first those of this command, then nacre discard ${ids.at(-1)}.`;
}

/** A sentence for the caller if the changes of a command were to be tracked, but are made directly. */
export function noteOnDirect(
  { changes = {} }: Pick<JobSpec, 'changes'>,
  setting: ChangesMode,
  isTooLarge = false,
): string | undefined {
  if (stricterChanges(changes.mode, setting) !== 'track') return undefined;
  if (changes.isLasting) return notTracked;
  return isTooLarge ? tooLargeForLayer : undefined;
}

/** The command whose changes a layer receives, by the stricter of the setting and the request; undefined for `direct`. */
export function toLayered(
  { id, command, changes = {} }: Pick<JobSpec, 'id' | 'command' | 'changes'>,
  setting: ChangesMode,
  isTooLarge = false,
): ChangingCommand | undefined {
  const { owner, asksUser, isLasting = false } = changes;
  const mode = stricterChanges(changes.mode, setting) ?? 'direct';
  // Other programs need the files of a development server while it runs.
  if (mode === 'direct' || (mode === 'track' && (isLasting || isTooLarge))) return undefined;
  return { id, mode, owner, asksUser, text: showCommand(command) };
}
