import { isSelective, startingPoints, withRecursive } from '../danger/deletes.ts';
import { findProtectedPlace } from '../danger/protected-places.ts';
import type { ProgramCall } from '../options/program-call.ts';
import {
  type Arg,
  foreignText,
  type Hole,
  knownArg,
  type Piece,
  toArg,
  unknown,
  wordText,
} from '../words/arg.ts';
import { type Output, toListedPlace } from '../words/output.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** `find`: programs that `-exec` starts, files that `-fprint` writes, and `-delete`. */
export const findPrograms: readonly ProgramEntry[] = [
  {
    names: ['find', 'gfind', 'bfs'],
    closed: [],
    effects: findEffects,
    output: foundPaths,
    runs: [
      ['find . -exec touch {} ;', 'touch'],
      ['find . -type f -exec touch {} +', 'touch'],
      ['find . -execdir touch {} \\;', 'touch'],
      ['find . -ok touch {} \\; -print', 'touch'],
      ['find . -okdir touch {} \\;', 'touch'],
      ['find . -exec sh -c \'touch "$1"\' _ {} \\;', 'sh', 'touch'],
      "find . -exec sh -c 'touch {}' \\;",
      ['find . -delete', 'rm'],
      "find . -fprintf out '%p'",
      'find . -fprint out',
      'find . -fls out',
      'find . -exec {} \\;',
      'find find -exec find -exec {} +',
      'find . -exec $x {} +',
      'find . -fprint0 out',
      ['find . -exec awk \'END { print "{}", NR }\' {} ;'],
    ],
    harmless: [
      "find . -name '*.ts'",
      "find . -name '-exec' -print0",
      ['find . -exec ls {} +', 'ls'],
      ['find . -exec test -f {} \\; -print'],
      "find . \\( -name a -o -name b \\) -prune -o -printf '%p\\n'",
      'find "$dir" -type f',
    ],
  },
];

const starters = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const writers = new Set(['-fprint', '-fprint0', '-fprintf', '-fls']);
/** Tests such as `-name` whose next word is always a value. */
const valued =
  /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|regextype|type|xtype|size|user|group|uid|gid|perm|[acm]min|[acm]time|newer..|newer|[ac]newer|samefile|inum|links|maxdepth|mindepth|printf|fstype|used|context|files0-from)$/;

function findEffects(call: ProgramCall): Effect[] {
  const { args, name } = call;
  const effects: Effect[] = [];
  const found = whatIsFound(call);
  for (let index = 0; index < args.length; index++) {
    const at = args[index];
    const word = wordText(at);
    if (at === undefined) continue;
    if (starters.has(word)) {
      const end = endOfCommand(args, index + 1);
      effects.push(...started(found, args.slice(index + 1, end), at));
      index = end;
    } else if (word === '-delete')
      // `-delete` does what `rm` does, so `rm` must be listed; the folders are judged by the danger rules for `find`.
      effects.push({ does: 'start', argv: [knownArg('rm', at), knownArg('file', at)], stdin: 'none' });
    else if (writers.has(word)) effects.push(...written(args[index + 1], at, name, foundPaths(call)));
    else if (valued.test(word)) index++;
    else if (word === ';' && args.some(({ text }) => text === undefined))
      effects.push({ does: 'unknown', at, reason: `which program ${name} would start cannot be known` });
  }
  return effects;
}

function endOfCommand(args: readonly Arg[], from: number): number {
  let end = from;
  while (end < args.length && !endsCommand(args, end)) end++;
  return end;
}

function endsCommand(args: readonly Arg[], at: number): boolean {
  return args[at]?.text === ';' || (args[at]?.text === '+' && args[at - 1]?.text === '{}');
}

function written(target: Arg | undefined, at: Arg, name: string, contents: Output): Effect[] {
  const refuse: Effect = { does: 'refuse', at, rule: 'writes', reason: `${name} ${at.text} writes a file` };
  return target === undefined ? [refuse] : [refuse, { does: 'write', path: target, contents }];
}

/** A word for the found paths: something below the starting point, or the starting point itself if no test filters it. */
function whatIsFound(call: ProgramCall): Found {
  const [start] = startingPoints(call);
  const below: readonly Piece[] = start === undefined ? [unknown] : [...start.pieces, '/', unknown];
  const selective = isSelective(call.args);
  if (start === undefined || selective) return { selective, paths: [below], part: foundName };
  if (findProtectedPlace(start, call.cwd, call.home) === undefined)
    return { selective, paths: [below, start.pieces], part: foundName };
  // The danger rules treat a word from the listing of such a folder as every file in it.
  const part: Piece = { ...foundName, listed: toListedPlace(start.text ?? '.') };
  return { selective, paths: [below, start.pieces, [part]], part };
}

interface Found {
  readonly selective: boolean;
  readonly paths: readonly (readonly Piece[])[];
  /** The found path where it is part of a longer word. */
  readonly part: Piece;
}

/** Replaces `{}` in the program's words with the found path. */
function started({ selective, paths, part }: Found, argv: readonly Arg[], at: Arg): Effect[] {
  if (argv.length === 0)
    return [{ does: 'unknown', at, reason: 'which program find would start cannot be known' }];
  const words = selective ? argv : withRecursive(argv, at);
  return paths.map((path) => ({
    does: 'start',
    argv: words.map((word) => withFound(word, path, part)),
    stdin: 'none',
  }));
}

/** A path that find puts into a longer word; no word of it begins with a dash, but it may contain code of awk. */
const foundName: Hole = { hole: 'unknown', text: '{}', from: foreignText, operand: true };

function withFound(word: Arg, path: readonly Piece[], found: Piece): Arg {
  if (word.text === '{}') return toArg(path, word);
  const pieces = word.pieces.flatMap((piece) =>
    typeof piece === 'string'
      ? piece.split('{}').flatMap((part, index) => (index > 0 ? [found, part] : [part]))
      : [piece],
  );
  return toArg(pieces, word, word.many);
}

function foundPaths(call: ProgramCall): { text: string; more: true } {
  const roots = isSelective(call.args)
    ? []
    : startingPoints(call).flatMap(({ text }) => (text === undefined ? [] : toListedPlace(text)));
  const listing = roots.map((root) => `${root}\n`).join('');
  return { text: listing + printedCommands(call, roots), more: true };
}

/** The commands that `-printf 'rm -rf %p\n'` prints for its starting points. */
function printedCommands({ args }: ProgramCall, roots: readonly string[]): string {
  const format = wordText(args[args.findIndex(({ text }) => text === '-printf') + 1]);
  if (!/^(?:rm|chmod|chown|mv|shred|dd|unlink)\s/.test(format)) return '';
  const line = format.replaceAll('\\n', '\n');
  return roots.map((root) => line.replace(/%[pPhfH]/g, () => root)).join('');
}
