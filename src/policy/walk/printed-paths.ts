// Paths that a program prints and that may be a home or system directory: `rm -rf "$(node -p 'os.homedir()')"`. The output of
// these programs is not known; the paths are the part of it that the danger rules look for.
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, prefixOf, wordText } from '../words/arg.ts';
import { numberOutput, type Output, silent, toListedPlace } from '../words/output.ts';
import type { ProgramFacts } from './program-facts.ts';

type Partly = Output & { readonly more: true };

/** The paths that a program may print: the home directory, disks, words of its own call, or the folders that it lists. */
export function printedPaths(call: ProgramCall): Partly | undefined {
  const { name, args, home } = call;
  const lister = listers.get(name);
  const folders = lister === undefined ? undefined : lister(call);
  if (folders !== undefined) return partly(folders.map(toListedPlace));
  if (name === 'yes') return { text: `${args.map(wordText).join(' ')}\n`, more: true, endless: true };
  if (name === 'seq')
    return hasOption(call, /^inf$/) ? { ...numberOutput, more: true, endless: true } : undefined;
  if (name === 'basename') return args.some(isProcess) ? partly(['/proc/']) : undefined;
  if (name === 'lsblk') return { text: '/dev/sda\nsda\n', more: true };
  if (name === 'compgen') return partly(args.map(wordText).filter(isAbsolute).map(toFolder));
  if (name === 'printenv') return args.some(({ text }) => text === 'HOME') ? partly([home]) : undefined;
  if (name === 'getent') return wordText(args[0]) === 'passwd' ? partly([home]) : undefined;
  if (name === 'expr') return cutsText(call) ? partly(args.map(wordText).filter(isAbsolute)) : undefined;
  return !selecting.has(name) && args.some(({ text }) => text?.startsWith('/') && isRoot.test(text))
    ? partly(['/.'])
    : undefined;
}

const isRoot = /^\/+\.?\/?$/;

/** Programs for which a slash is a separator, or a folder from which they select names. */
const selecting = new Set(
  'awk column cut fd fdfind find gawk git grep join ls mktemp paste perl rg sed sort tr xargs'.split(' '),
);

/** The homes in /etc/passwd, and a character whose code is not known, which may be a slash: `printf "\\$(printf %o 47)"`. */
export function printedRoot(call: ProgramCall): Partly | undefined {
  const { name, args, home } = call;
  if (name === 'echo' || name === 'printf')
    return args.slice(0, 3).some(endsEscape) ? partly(['/.']) : undefined;
  if (!userReaders.test(name) || !args.some(({ text }) => text === '/etc/passwd')) return undefined;
  const readsNames = args.some(({ text }) => text !== undefined && /\$1\b|^(?:-f)?1$/.test(text));
  return readsNames ? undefined : partly([home, '/root']);
}

const userReaders = /^(?:cat|cut|grep|sed|[gm]?awk|head|tail)$/;

/** Returns true for a backslash before a part that is not known. */
function endsEscape(arg: Arg): boolean {
  if (arg.text !== undefined) return false;
  return arg.pieces.some(
    (piece, at) =>
      typeof piece === 'string' && /\\(?:x|0)?$/.test(piece) && typeof arg.pieces[at + 1] === 'object',
  );
}

function partly(paths: readonly string[]): Partly | undefined {
  return paths.length === 0 ? undefined : { text: paths.map((path) => `${path}\n`).join(''), more: true };
}

/** The path of any process in `for p in /proc/[0-9]*`. */
function isProcess(arg: Arg): boolean {
  const [piece] = arg.pieces;
  const path = typeof piece === 'object' && piece.hole === 'glob' ? piece.text : prefixOf(arg);
  return arg.text === undefined && path.startsWith('/proc/');
}

function isAbsolute(word: string): boolean {
  return word.startsWith('/');
}

/** `expr substr /etc 1 1` and `expr /etc : '\(.\)'` print a part of a word. */
function cutsText({ args }: ProgramCall): boolean {
  return args.some(({ text }) => text === ':' || text === 'substr' || text === 'match');
}

/** The folder of `/*`. */
function toFolder(pattern: string): string {
  return pattern.replace(/[^/]*$/, '');
}

/** Programs that print the names of all files below folders, and the folders; undefined if they select some. */
const listers: ReadonlyMap<string, (call: ProgramCall) => readonly string[] | undefined> = new Map([
  ['rg', (call) => (hasOption(call, /^--files$/) ? foldersIn(call, 0) : searched(call))],
  ['grep', (call) => (hasOption(call, /^-[a-zA-Z]*[rR]/) ? searched(call) : undefined)],
  ['tree', (call) => (hasOption(call, /^-[a-zA-Z]*f/) ? foldersIn(call, 0) : undefined)],
  ['du', (call) => (hasOption(call, /^-[a-zA-Z]*a/) ? foldersIn(call, 0) : undefined)],
  ['locate', (call) => foldersIn(call, 0).map((pattern) => (/[\w]/.test(pattern) ? pattern : '/'))],
]);

function hasOption({ args }: ProgramCall, pattern: RegExp): boolean {
  return args.some(({ text }) => text !== undefined && pattern.test(text));
}

/** The operands from the one at `first` on. */
function foldersIn({ args }: ProgramCall, first: number): readonly string[] {
  const operands = args.filter((arg) => !prefixOf(arg).startsWith('-')).map(wordText);
  return operands.slice(first).filter((text) => text !== '');
}

/** `grep -rl . /` selects no files, because almost every line matches. */
function searched(call: ProgramCall): readonly string[] | undefined {
  const [pattern] = call.args.filter((arg) => !prefixOf(arg).startsWith('-'));
  const isTrivial = /^(?:|[.^$*+]{1,3}|\.\*\$?)$/.test(wordText(pattern));
  return isTrivial && hasOption(call, /^-[a-zA-Z]*l|^--files-with/) ? foldersIn(call, 1) : undefined;
}

/** The output of a program that prints nothing itself, such as `env` or `sh -c`: that of the program it starts. */
export function passedOn(call: ProgramCall, { wraps }: ProgramFacts, inner: Output): Partly | undefined {
  if (inner === silent || inner.text === '') return undefined;
  return wraps || shells.has(call.name) ? { ...inner, more: true } : undefined;
}

const shells = new Set('sh bash dash ash rbash'.split(' '));

/** Strings of inline code that are paths, and the user's home: `python3 -c 'print("/")'`. */
export function pathsOfCode(code: string, home: string): readonly string[] {
  if (code.length > 65_536) return [];
  const paths = [...code.matchAll(pathStrings)].map(([, , path = '']) => path.replace(/^~/, home));
  if (separators.test(code)) paths.push('/');
  if (homes.test(code)) paths.push(home);
  // A path with a slash at its end would mean the listing of that folder.
  return paths.map((path) => (path.endsWith('/') ? `${path}.` : path));
}

const pathStrings =
  /(?<!(?:split|join|replace|rsplit|partition|startswith|startsWith|endsWith|FS)\s?[(=]\s?)(["'`])(\/[\w.*-]{0,20}(?:\/[\w.*-]{0,20})?\/?|~\/?)\1(?!\s?(?:\.|\+|in\b))/g;
const separators = /(?:\bos\.sep|\bpath\.sep|File::SEPARATOR|DIRECTORY_SEPARATOR)\b(?!\.)[)\s;]{0,9}$/;

/** The home at the end of the code: `homedir() + "/x"` is another folder. */
const homes =
  /(?:homedir\(\)|Path\.home\(\)|expanduser\(\s?["']~\/?["']\)|env\.HOME|Dir\.home|(?:ENV|environ|\$ENV|env|getenv)[[({.\s]{1,2}["']?HOME["']?[\])}]?)[)\s;]{0,9}$/;
