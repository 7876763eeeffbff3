// Refs and remotes whose name begins with a dash. Most commands of git refuse to create one, but not all, and other programs would
// read the name as an option: `git fetch $(git tag)`.
import type { ProgramCall } from '../options/program-call.ts';
import { prefixOf, wordText } from '../words/arg.ts';
import { stdinText } from './option-effects.ts';
import type { Effect } from './program.ts';

/** Refuses a call that may create a ref or a remote whose name begins with a dash. */
export function misnamed(call: ProgramCall): Effect[] {
  const transfers = call.args.some(({ text }) => text !== undefined && /^(?:fetch|pull|push)$/.test(text));
  const at = call.args.find((arg, index) => {
    const text = prefixOf(arg);
    if (!text.includes('-') || /\s/.test(text)) return false;
    return names.test(text) || (transfers && target.test(text)) || isRemote(call, text, index);
  });
  const read = call.args.some(({ text }) => text === '--stdin') && names.test(stdinText(call));
  if (at === undefined && !read) return [];
  const reason = 'other programs would read a name that begins with - as an option';
  return [{ does: 'refuse', at: at ?? call.self, rule: 'file_name', reason }];
}

/** A ref such as `refs/tags/--x`, and a section `remote.--x` of the settings. */
const names = /(?:^|[\s:+])refs\/(?:[^\s:]{0,200}\/)?-|^(?:remote|branch)\.-/;

/** The target of `HEAD:--x`. */
const target = /^[^-:][^:]*:(?:[^:]{0,200}\/)?-/;

/** The name of a new remote: an operand after `--`, or the value of `git clone --origin`. */
function isRemote({ args }: ProgramCall, text: string, index: number): boolean {
  if (/^--origin=-|^-o-/.test(text)) return true;
  const before = wordText(args[index - 1]);
  if (!text.startsWith('-')) return false;
  if (before === '--origin' || (before === '-o' && args.some((arg) => arg.text === 'clone'))) return true;
  const words = args.slice(0, index).map(wordText);
  return words.includes('remote') && words.includes('--');
}
