// Names of files and commit messages in code. In a sed script, `s|x|$name|` runs commands if the name is `|e`. The name of a file
// contains no slash, so it cannot end a text between slashes; a path and a message can.
import { type Arg, foreignText, type Piece } from '../words/arg.ts';
import type { DelimitedText } from './sed-script.ts';

/**
 * Returns true if a name in a sed script may end the pattern or replacement around it. The positions of `texts` count each unknown
 * part of the script as one character.
 */
export function mayEndText({ pieces }: Arg, texts: readonly DelimitedText[]): boolean {
  let at = 0;
  for (const piece of pieces) {
    const kind = typeof piece === 'string' ? undefined : nameIn(piece);
    const place = at;
    if (kind !== undefined && texts.some((text) => place >= text.from && place < text.to && ends(text, kind)))
      return true;
    at += typeof piece === 'string' ? piece.length : 1;
  }
  return false;
}

/** Returns true if the word contains the name of a file or ref, or a commit message. */
export function containsName({ pieces }: Arg): boolean {
  return pieces.some((piece) => typeof piece !== 'string' && nameIn(piece) !== undefined);
}

function ends({ delimiter }: DelimitedText, kind: 'name' | 'path'): boolean {
  return kind === 'path' || delimiter !== '/';
}

/** Returns `name` for the name of a file, `path` for a path or a message, which may contain a slash, and undefined for other text. */
function nameIn(piece: Exclude<Piece, string>): 'name' | 'path' | undefined {
  const { hole, text, from, operand, outside } = piece;
  if (hole === 'glob') return text.includes('/') ? 'path' : 'name';
  if (hole !== 'unknown' || outside === true || from?.includes(foreignText) !== true) return undefined;
  if (/^\$(?:OLD)?PWD$/.test(text)) return undefined;
  const command = /^(?:\$\(|`)\s*(\S.*)/s.exec(text)?.[1];
  if (command === undefined) return operand === true ? 'name' : undefined;
  if (operand !== true) return printsMessages.test(command) ? 'path' : undefined;
  if (printsNoNames.test(command)) return undefined;
  return printsPaths.test(command) ? 'path' : 'name';
}

const printsMessages = /^git\b.{0,80}\b(?:log|show|shortlog|reflog|stash|tag|branch|for-each-ref|notes)\b/s;

/** Programs that print no names of files: dates, hashes, names of machines, the current folder. */
const printsNoNames =
  /^(?:arch|date|hostname|id|mktemp|nproc|pwd|tty|uname|wc|which|whoami|(?:md5|sha\d+)sum|git (?:hash-object|log|merge-base|rev-list|show|write-tree)|git rev-parse(?!.*--(?:abbrev-ref|symbolic))|(?:basename|dirname|realpath) +["'`$({]*(?:PWD|pwd|git rev-parse --show-toplevel))\b/s;

const printsPaths =
  /^(?:find|fd|fdfind|rg|grep|ag|du|realpath|readlink|dirname|git\b.{0,80}\b(?:branch|diff\S*|for-each-ref|grep|ls-\S+|name-rev|rev-parse|status|symbolic-ref|worktree))\b/s;
