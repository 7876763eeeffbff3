import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { NacreError } from '../../contract/failure.ts';
import { didYouMean } from '../../settings/nearest.ts';
import { escapeControls, toOneLine } from '../../support/escape-controls.ts';

/** Finds the command with this id, or the only one whose id begins with it, with or without a prefix such as `cmd_`. */
export function chooseCommand(commands: readonly CommandSummary[], wanted: string): CommandSummary {
  const exact = commands.find(({ id }) => id === wanted);
  if (exact) return exact;
  const begun = commands.filter(({ id }) => id.startsWith(wanted) || afterPrefix(id).startsWith(wanted));
  const [only, ...more] = begun;
  if (only === undefined || wanted === '') throw notFound(commands, wanted);
  if (more.length > 0) throw ambiguous(begun, wanted);
  return only;
}

function afterPrefix(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}

const mostShown = 5;
// Comparing a word with every id of a long log would take seconds.
const mostCompared = 1_000;

function ambiguous(found: readonly CommandSummary[], wanted: string): NacreError {
  const shown = found.slice(-mostShown).map(({ id, command }) => `${id} (${toOneLine(command)})`);
  const rest = found.length > mostShown ? `, and ${found.length - mostShown} more` : '';
  const message = `${found.length} commands have an id that begins with ${escapeControls(wanted)}: ${shown.join(', ')}${rest}.`;
  return new NacreError('invalid_request', message, { hint: 'Add more characters of the id.' });
}

function notFound(commands: readonly CommandSummary[], wanted: string): NacreError {
  const ids = commands.slice(-mostCompared).map(({ id }) => id);
  const message = `The audit log has no command ${escapeControls(wanted)}.${didYouMean(wanted, ids)}`;
  return new NacreError('job_not_found', message, {
    hint: 'nacre history lists past commands, and nacre ps the running ones.',
  });
}
