// Decides whether a word that a program prints may begin with a dash. Another program would read such a word as an option, which may run
// code: `git fetch "$(cat f)"`. Names of files and refs do not begin with a dash, because a list allows no command that creates one.
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, type Piece, prefixOf, wordText } from '../words/arg.ts';
import { hasOptionWord, isOperand } from '../words/output.ts';

/** Returns true if no word of the output begins with a dash. */
export function printsOperands(call: ProgramCall): boolean {
  const printer = printers.get(call.name);
  return printer?.(call) === true && !call.args.some(holdsOption);
}

/** Returns true if a word begins with a dash after a blank in the argument, which may be a prefix, suffix or separator of the output. */
function holdsOption({ text }: Arg): boolean {
  return text?.includes('-') === true && /\s-/.test(text);
}

type Printer = (call: ProgramCall) => boolean;

/** A filter that prints whole lines, or words, of its input; `isKept` returns true if its arguments keep the beginning of words. */
function filter(isKept: (words: readonly string[]) => boolean = () => true): Printer {
  return ({ args, stdin }) =>
    stdin !== 'none' && isOperand(stdin) && args.every(isKnown) && isKept(args.map(wordText));
}

const table: readonly (readonly [names: string, printer: Printer])[] = [
  ['arch hostname id nproc pwd tty uname whoami', () => true],
  ['ls dir du wc md5sum sha1sum sha256sum sha512sum cksum which', fromNames],
  ['mktemp', (call) => fromNames(call) && call.args.every((arg) => isTemporary(prefixOf(arg)))],
  ['realpath basename dirname', (call) => fromNames(call) && !call.args.some(endsInOption)],
  ['readlink', (call) => fromNames(call) && call.args.some(({ text }) => /^-[a-z]*[fem]/.test(text ?? ''))],
  ['date', ({ args }) => args.some((arg) => isDateFormat(wordText(arg)))],
  ['find', ({ args }) => !args.some((arg) => /^-f?printf/.test(prefixOf(arg))) && !isOptionLike(args[0])],
  ['fd fdfind', ({ args }) => !args.some((arg) => /^--format|^-[a-zA-Z]*[xX]|^--exec/.test(prefixOf(arg)))],
  ['grep egrep fgrep rg ag', listsFiles],
  ['cat tac sort uniq head shuf', filter((words) => words.every((word) => /^-|^\d+$/.test(word)))],
  ['tail', filter((words) => words.every((word) => /^-(?!c|-b)|^\d+$/.test(word)))],
  ['tr', filter(([first, ...rest]) => separates(first === '-d' ? rest : [first ?? '', ...rest]))],
  ['cut', filter((words) => /^-d? ?[/ ]? ?-f ?\d/.test(words.join(' ').replace(/^-d ?(.) /, '-d$1 ')))],
  [
    'awk gawk mawk',
    filter(([program]) => /^(?:[^{}"]*)\{\s*print\s+\$(?:\d+|NF)[\s;]*\}\s*$/.test(program ?? '')),
  ],
  ['sed', filter((words) => cutsNames(words.filter((word) => !/^-[nEr]$/.test(word))))],
  ['echo', ({ args }) => args.every(isPlainWord)],
  ['printf', ({ args: [format, ...words] }) => isFormat(wordText(format)) && words.every(isPlainWord)],
  ['git', ({ args }) => gitPrintsOperands(args)],
];

const printers: ReadonlyMap<string, Printer> = new Map(
  table.flatMap(([names, printer]) => names.split(' ').map((name) => [name, printer] as const)),
);

function isKnown({ text }: Arg): boolean {
  return text !== undefined;
}

/** For programs that print their operands, or names of files in them; after `--` an operand may begin with a dash. */
function fromNames({ args }: ProgramCall): boolean {
  return args.every((arg) => !/^--(?:$|time-style|sep)/.test(prefixOf(arg)) && !isOptionLike(arg));
}

/** Returns true for an argument of `mktemp` after which no printed path begins with a dash. */
function isTemporary(word: string): boolean {
  return /^(?:[^-]|-[duqt]{1,4}$|-p(?!-)|--(?:directory|dry-run|quiet)$|--(?:tmpdir|suffix)(?:$|=(?!-)))/.test(
    word,
  );
}

/** Returns true for a path whose last part, or part below another folder, begins with a dash, and for a word such as `-a --x`. */
function endsInOption({ text }: Arg, index: number, args: readonly Arg[]): boolean {
  if (text?.includes('-') !== true) return false;
  return text.includes('/-') || (text.startsWith('-') && args.slice(0, index).some(isOperandWord));
}

function isOperandWord({ text }: Arg): boolean {
  return text?.startsWith('-') !== true;
}

/** Returns true if the word is unknown and may begin with a dash. */
function isOptionLike(arg: Arg | undefined): boolean {
  return arg !== undefined && arg.text === undefined && !isSafe(arg.pieces[0]);
}

function isSafe(piece: Piece | undefined): boolean {
  if (typeof piece !== 'object') return true;
  return piece.hole !== 'unknown' || piece.operand === true || piece.outside === true;
}

/**
 * Returns true unless `date` may print a word that begins with a dash: `%z` prints `-0500`, `%Z` a name from TZ, `%t` and `%n` begin a new
 * word. Without a format it prints the name of the time zone.
 */
function isDateFormat(word: string): boolean {
  if (/^(?:-I\w*|--iso-8601(?:=\w+)?|--rfc-3339=\w+)$/.test(word)) return true;
  return /^\+(?:%[-_0^#]?[a-mo-su-yA-Y]|[\w.:/,@+ ])(?:%[-_0^#]?[a-mo-su-yA-Y]|[\w.:/,@+-]| (?!-))*$/.test(
    word,
  );
}

function listsFiles(call: ProgramCall): boolean {
  const words = call.args.map(wordText);
  if (words.some((word) => /^--(?:label|path-separator)/.test(word))) return false;
  const lists = words.some((word) => /^-[a-zA-Z]*[lL][a-zA-Z]*$|^--files/.test(word));
  if (lists) return true;
  const isPicked = words.some((word) => /^-[a-zA-Z]*[ore]|^--only/.test(word));
  return !isPicked && words.filter((word) => !word.startsWith('-')).length === 1 && filter()(call);
}

function separates(sets: readonly string[]): boolean {
  return sets.every((set) => /^(?:\\[ntr0]|[\s*]|\[:space:\])*$/.test(set));
}

/** Returns true if each `sed` script only removes the end of a name, the folders before it, or the mark before a branch. */
function cutsNames(scripts: readonly string[]): boolean {
  return scripts.length > 0 && scripts.every((script) => harmlessCuts.some((cut) => cut.test(script)));
}

const harmlessCuts = [
  /^s([/|,#])[^\n]*(?:\.\*|\$)\1\1g?$/,
  /^s([|,#])[^\n]*\/\1\1$/,
  /^s([/|,#])\^\[?[ *\s]*(?:\[:space:\])?\]?\*?\1\1$/,
  /^(?:\d+|\$)?(?:,(?:\d+|\$))?[pdq]$/,
];

function isPlainWord(arg: Arg): boolean {
  return (
    arg.pieces.every((piece) => (typeof piece === 'string' ? !hasOptionWord(piece) : isSafe(piece))) ||
    /^-[neE]+$/.test(wordText(arg))
  );
}

function isFormat(format: string): boolean {
  return /^(?:[\w./:=@, ]|%s|%d|\\n|\\0|\\t)+$/.test(format);
}

/** Options of git that limit its output to hashes, times, names of files and names of refs. */
const namedByGit =
  /^--(?:name-only|name-status|format=(?:%(?:[HhTtPpDdS]|[ac]t|n)|[\s,])+|pretty=(?:format:)?(?:%(?:[HhTtPpS]|[ac]t|n)|[\s,])+)$/;
const refFormat =
  /^--format=(?:%\((?:refname|objectname|upstream|committerdate|creatordate)(?::\w+)?\)|[\s])+$/;

/** Options that choose commits and their order, but print nothing else. */
const walksHistory =
  /^(?:-(?:\d+|n\d*|s|i|E|F|z|S.*|G.*)|--(?:no-patch|all|branches|tags|remotes|not|count|reverse|no-merges|merges|first-parent|topo-order|date-order|author-date-order|follow|no-show-signature|no-color|no-decorate|no-notes|parents|children|objects|timestamp|left-right|left-only|right-only|cherry-pick|cherry-mark|cherry|abbrev-commit|no-abbrev-commit|ancestry-path|full-history|simplify-merges|simplify-by-decoration|merge|no-renames|find-renames|root|pickaxe-regex|pickaxe-all|no-ext-diff|relative|(?:max-count|skip|since|until|before|after|author|committer|grep|date|diff-filter|abbrev|max-parents|min-parents|branches|tags|remotes|glob|exclude|relative)=.*))$/s;

const printedByGit: Readonly<Record<string, (words: readonly string[]) => boolean>> = {
  'rev-parse': (words) =>
    !words.some((word) => /^--(?:$|sq|parseopt|prefix|flags|no-flags|revs-only)/.test(word)),
  'merge-base': () => true,
  'rev-list': (words) => words.every((word) => !word.startsWith('-') || walksHistory.test(word)),
  'ls-files': (words) => !words.some((word) => word.startsWith('--format')),
  'ls-tree': (words) => words.includes('--name-only') && !words.some((word) => word.startsWith('--format')),
  'ls-remote': () => true,
  'hash-object': () => true,
  'write-tree': () => true,
  'commit-tree': () => true,
  'check-ignore': (words) => !words.some((word) => /^--(?:$|s)/.test(word)),
  'symbolic-ref': () => true,
  // With `--annotate-stdin` it prints its input.
  'name-rev': (words) => words.every((word) => !/^--(?:a(?!ll)|s)/.test(word)),
  describe: () => true,
  // During a rebase, the long form prints commit messages.
  status: (words) =>
    words.some((word) => /^(?:-s[bz]*|--short|--porcelain(?:=v[12])?)$/.test(word)) &&
    !words.some((word) => /^-(?:[a-z]*v|-v)/.test(word)),
  tag: (words) => !words.some((word) => /^-n|^--format/.test(word)),
  branch: (words) => words.every((word) => !/^-[a-z]*v|^--format/.test(word) || refFormat.test(word)),
  'for-each-ref': (words) => words.some((word) => refFormat.test(word)),
  remote: (words) => words.length === 0,
  grep: (words) =>
    words.some((word) => /^(?:-[a-zA-Z]*l[a-zA-Z]*|--name-only|--files-with-matches)$/.test(word)),
  // Other forms print the reason for which a worktree is locked.
  worktree: (words) => words.length === 1 && words[0] === 'list',
};

function gitPrintsOperands(args: readonly Arg[]): boolean {
  const at = args.findIndex((arg, index) => isSubcommand(arg, args[index - 1]));
  const [subcommand, ...rest] = args.slice(at);
  if (at < 0 || subcommand?.text === undefined || rest.some(isOptionLike)) return false;
  const words = rest.map(wordText);
  const printed = Object.hasOwn(printedByGit, subcommand.text) ? printedByGit[subcommand.text] : undefined;
  if (printed !== undefined) return printed(words);
  if (!/^(?:diff|diff-tree|diff-index|diff-files|log|show)$/.test(subcommand.text)) return false;
  const end = words.indexOf('--');
  const options = words.slice(0, end < 0 ? undefined : end).filter((word) => word.startsWith('-'));
  const formats = options.filter((word) => namedByGit.test(word));
  // A patch has lines that begin with a dash; `show` prints one unless another form is chosen.
  const others = options.filter((word) => !namedByGit.test(word));
  if (others.some((word) => !walksHistory.test(word) && !choosesChanges.test(word))) return false;
  if (subcommand.text === 'show' && !options.some((word) => /^(?:-s|--no-patch|--name-\w+)$/.test(word)))
    return false;
  const isBare = /^diff/.test(subcommand.text) || words.some((word) => /^--(?:format|pretty)=/.test(word));
  return isBare && formats.length > 0;
}

const choosesChanges =
  /^(?:-(?:r|m|w|b|M\d*%?|C\d*%?|R|a)|--(?:cached|staged|merge-base|no-commit-id|ignore-\S+|exit-code|no-index|text|diff-merges=\w+|submodule=short|ignore-submodules(?:=\w+)?|find-(?:renames|copies)(?:=\S+)?))$/;

function isSubcommand({ text }: Arg, before: Arg | undefined): boolean {
  return text !== undefined && !text.startsWith('-') && !/^-[Cc]$/.test(wordText(before));
}
