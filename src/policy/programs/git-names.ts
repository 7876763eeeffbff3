// A ref or remote whose name begins with a dash becomes an option of other programs: `git fetch $(git tag)`. Most commands of git
// refuse to create one, but not all.
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, prefixOf, wordText } from '../words/arg.ts';
import { stdinText } from './option-effects.ts';
import type { Effect } from './program.ts';

/** Refuses a call that may create a ref or a remote whose name begins with a dash. */
export function refuseDashNames(call: ProgramCall): Effect[] {
  const { args } = call;
  const at = args.find((arg, index) => isMisnamed(prefixOf(arg), args, index));
  const read = args.some(({ text }) => text === '--stdin') && names.test(stdinText(call));
  if (at === undefined && !read) return [];
  const reason = 'other programs would read a name that begins with - as an option';
  return [{ does: 'refuse', at: at ?? call.self, rule: 'file_name', reason }];
}

// Called for every option that a word might become, so the usual words are decided without a pattern.
function isMisnamed(text: string, args: readonly Arg[], index: number): boolean {
  if (text.startsWith('-')) return args.some(namesRemote) && isRemote(args, text, index);
  if (!text.includes('/-') && !text.includes(':-') && !text.includes('.-')) return false;
  return !/\s/.test(text) && (names.test(text) || (target.test(text) && args.some(transfers)));
}

function namesRemote({ text }: Arg): boolean {
  return text === 'remote' || text === 'clone';
}

/** A ref such as `refs/tags/--x`, and a section `remote.--x` of the settings. */
const names = /(?:^|[\s:+])refs\/(?:[^\s:]{0,200}\/)?-|^(?:remote|branch)\.-/;

/** The target of `HEAD:--x`. */
const target = /^[^-:][^:]*:(?:[^:]{0,200}\/)?-/;

function transfers({ text }: Arg): boolean {
  return text === 'fetch' || text === 'pull' || text === 'push';
}

/** Returns true for the name of a new remote: an operand after `--`, or the value of `git clone --origin`. */
function isRemote(args: readonly Arg[], text: string, index: number): boolean {
  if (/^--origin=-|^-o-/.test(text)) return true;
  const before = wordText(args[index - 1]);
  if (!text.startsWith('-')) return false;
  if (before === '--origin' || (before === '-o' && args.some((arg) => arg.text === 'clone'))) return true;
  const words = args.slice(0, index).map(wordText);
  return words.includes('remote') && words.includes('--');
}
