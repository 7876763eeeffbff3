// Under a list, a file whose path is not known before the command runs may be a protected one: `> "$(find . -name config)"`. Refusing
// every such write would refuse everyday loops. A write is therefore judged by the programs in the same command that print
// names of files: `rg -l` and `git ls-files` name no protected file, `find .` and a list in a file may.
import { type Arg, foreignText, type Piece, patternOf, wordText } from '../words/arg.ts';
import { baseName } from '../words/paths.ts';
import type { WalkScope } from './scope.ts';
import type { CommandProblem, Invocation } from './survey.ts';
import type { Walk } from './walk.ts';

/** Records a write whose path may be that of a protected file; `judgeUnknownWrites` judges it at the end. */
export function noteUnknownWrite(
  walk: Walk,
  target: Arg,
  program: string | undefined,
  { shell }: WalkScope,
): void {
  // `touch` does not change what a file contains.
  if (program === 'touch') return;
  const { text, pieces, pos, end } = target;
  const isLost = text === undefined ? mayBeAnywhere(pieces) : shell.isAnywhere && !text.startsWith('/');
  const last = pieces.at(-1);
  const isRead = (shell.isAnywhere && shell.isRead) || pieces.some(isReadFromFile);
  if (isLost && !(typeof last === 'string' && isHarmlessName(last)))
    walk.unknownWrites.push({ program, isRead, pos, end });
}

/** Returns true for text that a substitution reads from a file. */
export function isReadFromFile(piece: Piece): boolean {
  return typeof piece === 'object' && readsFile.test(piece.text);
}

/** A substitution that prints a file, whose text is a list of names. */
const readsFile = /^(?:\$\(|`)\s*(?:<|(?:cat|head|tail|awk|sed|jq)\b[^|]*[)`]$)/;

/** Returns true for a path that begins with text which a program printed or a file contains. */
export function mayBeAnywhere(pieces: readonly Piece[]): boolean {
  const [first, second] = pieces;
  if (typeof first === 'string' && !/^(?:\.{0,2}\/)*$/.test(first)) return false;
  const hole = typeof first === 'object' ? first : second;
  if (typeof hole !== 'object' || hole.outside === true) return false;
  if (hole.hole === 'glob') return typeof first === 'object' ? /^\[/.test(hole.text) : false;
  const isForeign = hole.text === '' || hole.from?.includes(foreignText) === true;
  return hole.hole === 'unknown' && isForeign && !namesNoFile.test(hole.text);
}

/** The current folder, and substitutions that print a new name, a date or a version. */
const namesNoFile =
  /^\$(?:OLD)?PWD$|^(?:\$\(|`)\s*(?:mktemp|date|hostname|whoami|id|uname|nproc|git (?:describe|log|branch|rev-parse (?!.*--(?:absolute-)?git-))|node -[pe]|npm (?:pkg|root|prefix|bin)|brew --prefix)\b[^|;&]*[)`]$/;

/** Names that no protected folder gives a meaning: logs, documents, and sources that nothing runs as they are. */
function isHarmlessName(name: string): boolean {
  return (
    /\.(?:log|txt|out|err|csv|tsv|md|rst|html?|xml|svg|png|jpe?g|gif|pdf|diff|patch|tmp|bak|new|orig|old|gz|tgz|bz2|xz|zst|zip|tar|bin|o|d\.ts|[cm]?[jt]sx?|css|scss|less|c|h|cc|cpp|hpp|rs|go|java|kt|scala|cs|swift|graphql|prisma|tf|vue|svelte|snap|sql|proto|lock|toml|ini|cfg|ya?ml|py|rb|php|ipynb|map)$/.test(
      name,
    ) ||
    /(?:^|\/)(?:package|tsconfig[\w.]*|composer|manifest)\.json$|(?:^|\/)(?:Makefile|Dockerfile|VERSION|LICENSE)$/.test(
      name,
    )
  );
}

/** The problems with the recorded writes, if the command names files in a way that includes protected ones. */
export function judgeUnknownWrites(
  { unknownWrites, invocations }: Walk,
  source: string,
): readonly CommandProblem[] {
  const [first] = unknownWrites;
  if (first === undefined) return [];
  const kinds = new Set(invocations.map(namedBy));
  const read = unknownWrites.find(({ isRead }) => isRead);
  const isHarmless = read === undefined && (!kinds.has('file') || kinds.has('harmless'));
  if (!kinds.has('any') && !hiddenPattern.test(source) && isHarmless) return [];
  const reason =
    'The file that the command would write is not known before it runs and may be a protected one, such as .git/config, which is not allowed under an allow list';
  const hint =
    'Name the file, put a folder before the name (out/$name), or list the files with rg -l, git ls-files or find with -name *.EXT.';
  return [{ scope: 'finite', rule: 'protected_file', reason, hint, ...(read ?? first) }];
}

/** A pattern of hidden names, such as `.g*` or `[.]git`. */
const hiddenPattern = /(?:^|[\s/=("'{,])(?:\.[\w-]*[*?[]|\[[^\]\s]*\.)/;

type Named = 'any' | 'file' | 'harmless' | undefined;

/** The files that a program names in its output: any, those that a file lists, or none that is protected. */
function namedBy({ name, args }: Invocation): Named {
  const words = args.map(wordText);
  switch (baseName(name)) {
    case 'find':
    case 'gfind':
    case 'bfs':
    case 'du':
      return words.some(leavesOutGit) || selectsHarmless(words) || isVisible(words[0]) ? 'harmless' : 'any';
    case 'ls':
    case 'dir':
    case 'stat':
    case 'realpath':
    case 'readlink':
      return args
        .map((arg) => patternOf(arg) ?? '')
        .every((word) => isVisible(word) || /^-[^aAR]*$/.test(word))
        ? 'harmless'
        : 'any';
    case 'grep':
    case 'egrep':
    case 'fgrep':
      if (!words.some((word) => /^(?:-[a-zA-Z]*[rR]|--(?:dereference-)?recursive$)/.test(word)))
        return undefined;
      return words.some(leavesOutGit) || isVisible(words.at(-1)) ? 'harmless' : 'any';
    case 'rg':
    case 'fd':
    case 'fdfind':
    case 'ag':
    case 'tree':
      return words.some(
        (word) => /^(?:-[a-zA-Z]*[HuaI]|--(?:hidden|unrestricted|no-ignore))/.test(word) || isHidden(word),
      )
        ? 'any'
        : 'harmless';
    case 'git':
      return words.some((word) => /^--(?:absolute-)?git-|^config$|^var$|^cat-file$/.test(word)) ||
        printsFile(words)
        ? 'any'
        : 'harmless';
    case 'locate':
    case 'compgen':
      return 'any';
    case 'cat':
    case 'head':
    case 'tail':
    case 'awk':
    case 'read':
    case 'mapfile':
    case 'readarray':
      return 'file';
    default:
      return undefined;
  }
}

/** `git show REVISION:list` prints the lines of a file. */
function printsFile(words: readonly string[]): boolean {
  return words.includes('show') && words.some((word) => /^[^-:]+:[^:]/.test(word));
}

/** A folder of the project that is not hidden, as `src` is. */
function isVisible(word: string | undefined): boolean {
  return word !== undefined && /^(?:\.\/)*[\w*]/.test(word) && !isHidden(word);
}

function isHidden(word: string): boolean {
  return /(?:^|\/)\.(?!\/|$|\.\/|\.$)|(?:^|\/)\.\.(?:\/|$)/.test(word);
}

/** Words such as `*.ts`, `--include=*.ts`, `--exclude-dir=.git` and `./.git/*` after `-not -path`. */
function leavesOutGit(word: string, at: number, words: readonly string[]): boolean {
  if (/^--include=/.test(word)) return isHarmlessName(word);
  if (/^--exclude-dir=/.test(word)) return /\.git\b|\.\*/.test(word);
  return (
    /\.git(?:\/|$)|\/\.\*/.test(word) &&
    words.slice(Math.max(0, at - 3), at).some((one) => /^(?:-not|!)$/.test(one))
  );
}

/** Returns true if every `-name` selects harmless names. */
function selectsHarmless(words: readonly string[]): boolean {
  const names = words.filter((_, at) => /^-i?name$/.test(words[at - 1] ?? ''));
  return names.length > 0 && names.every(isHarmlessName);
}
