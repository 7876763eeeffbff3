// The commands of a group, a loop or a function read the same stdin in turn: `ls | { head -c2; read b; }`. A program may stop
// in the middle of a word, so the rest of a name is arbitrary text, and the rest of a script is another script.
import { noOptions, type OptionGrammar } from '../options/grammar.ts';
import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import type { Arg } from '../words/arg.ts';
import type { Output, Stdin } from '../words/output.ts';
import type { Walk } from './walk.ts';

/** How much of an input was read: up to the end of a line, or up to any character. */
export type InputPosition = 'line' | 'anywhere';

/** The input that is left for a program. */
export function inputLeft({ partlyRead }: Walk, stdin: Stdin, program: string): Stdin {
  const position = stdin === 'none' || partlyRead.size === 0 ? undefined : partlyRead.get(stdin);
  if (stdin === 'none' || position === undefined) return stdin;
  if (position === 'line')
    return lineReaders.has(program) || stdin.text === '' ? stdin : { ...rest(stdin), operand: stdin.operand };
  return rest(stdin);
}

function rest(stdin: Output): Output {
  const { text, more, from, origin, made, outside } = stdin;
  return { text, more: true, from, origin, outside, made: more ? made : 'any' };
}

/** Records that a program may leave a part of its stdin to the next one. */
export function noteReading({ partlyRead }: Walk, call: ProgramCall, stdin: Stdin): void {
  // Of arbitrary text, any part is arbitrary text as well.
  if (stdin === 'none' || (stdin.text === '' && stdin.operand !== true && stdin.counts === undefined)) return;
  if (partlyRead.get(stdin) === 'anywhere') return;
  const position = lineReaders.has(call.name)
    ? linePosition(call)
    : readsInput(call)
      ? 'anywhere'
      : undefined;
  // A line that is read leaves whole lines, so only the rest of a known text changes.
  if (position === 'anywhere' || (position === 'line' && !stdin.more)) partlyRead.set(stdin, position);
}

/** Copies an output with names for its reader: such outputs are shared constants, and `partlyRead` has one entry for each object. */
export function separateInput(output: Output): Output {
  return output.operand === true ? { ...output } : output;
}

/** Builtins that read no more than the lines they assign. */
const lineReaders = new Set(['read', 'mapfile', 'readarray']);

/** After `-t` runs out, `read` has read a part of a line. */
function linePosition({ options }: ProgramCall): InputPosition | undefined {
  if (options.has('u')) return undefined;
  return options.given.some(({ name, value }) => /^[dnNt]$/.test(name) && value?.text !== '')
    ? 'anywhere'
    : 'line';
}

/** A program that reads stdin if it has no operand for a file. */
interface Filter {
  /** The number of operands before the files, such as the pattern of `grep`. */
  readonly code: number;
  readonly options: OptionGrammar;
  /** Options that replace these operands, so that the first operand is a file as well. */
  readonly files: readonly string[];
}

function filter(short = '', code = 0, ...files: string[]): Filter {
  return { code, options: short === '' ? noOptions : { short }, files };
}

const filters: ReadonlyMap<string, Filter> = new Map(
  Object.entries({
    head: filter('n:c:qvz'),
    tail: filter('n:c:s:qvzfF'),
    cat: filter(),
    tac: filter('s:'),
    nl: filter('b:d:f:h:i:l:n:s:v:w:'),
    od: filter('A:j:N:S:t:w::'),
    xxd: filter('c:g:l:o:s:'),
    hexdump: filter('e:f:n:s:'),
    strings: filter('n:t:e:'),
    cut: filter('b:c:d:f:'),
    sort: filter('k:t:S:T:o:'),
    uniq: filter('f:s:w:'),
    fold: filter('w:'),
    fmt: filter('w:p:'),
    rev: filter(),
    wc: filter(),
    less: filter(),
    more: filter(),
    dd: filter(),
    tr: filter('', Number.POSITIVE_INFINITY),
    tee: filter('', Number.POSITIVE_INFINITY),
    xargs: filter('', Number.POSITIVE_INFINITY),
    grep: filter('e:f:m:A:B:C:d:D:', 1, 'e', 'f'),
    egrep: filter('e:f:m:A:B:C:', 1, 'e', 'f'),
    fgrep: filter('e:f:m:A:B:C:', 1, 'e', 'f'),
    sed: filter('e:f:i::l:', 1, 'e', 'f'),
    awk: filter('F:v:f:e:', 1, 'f', 'e'),
    gawk: filter('F:v:f:e:', 1, 'f', 'e'),
    mawk: filter('F:v:f:', 1, 'f'),
    jq: filter('f:L:', 1, 'f'),
  }),
);

function readsInput({ name, args }: ProgramCall): boolean {
  const known = filters.get(name);
  if (known === undefined) return args.some(isStdin);
  if (args.length === 0) return true;
  const options = parseOptions(args, known.options);
  const code = options.has(...known.files) ? 0 : known.code;
  const files = options.operands.slice(code);
  return files.every(namesNoFile) || files.some(isStdin);
}

/** Returns true for an unquoted variable, which may be unset and so no operand at all, and for the operands of `dd` except `if=`. */
function namesNoFile({ text, many, pieces }: Arg): boolean {
  if (text !== undefined) return /^(?:bs|ibs|count|skip|of|status|conv|iflag)=/.test(text);
  return many && pieces.every((piece) => typeof piece === 'object' && piece.outside === true);
}

function isStdin({ text }: Arg): boolean {
  return (
    text !== undefined && (/^(?:@?-|--stdin(?:-\w+)?|--batch(?:-\w+)?)$/.test(text) || isStdinPath(text))
  );
}

/** Returns true for a path of the command's own stdin. */
export function isStdinPath(path: string): boolean {
  return /^\/(?:dev|proc)\/(?:[\w/.]{0,40}\/)?(?:stdin|fd\/0)$/.test(path);
}
