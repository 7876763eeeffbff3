// Whether the output of a program can contain text that arithmetic of bash would evaluate: `$((n + 1))` runs commands in a
// subscript if `n` contains `a[$(…)]`. Counts, sizes and times are numbers, and filters print only part of their input.
import { noOptions, type OptionGrammar } from '../options/grammar.ts';
import { type ParsedOptions, parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, wordText } from '../words/arg.ts';
import type { Separator } from '../words/output.ts';

/** Numbers only, lines that begin with a number, or text of its stdin only; undefined for any other text. */
export type PrintedKind = 'numbers' | Counts | 'input' | undefined;

interface Counts {
  readonly counts: Separator;
}

/** Returns what a program prints. */
export function printedKind(call: ProgramCall): PrintedKind {
  const printer = printers.get(call.name);
  if (printer === undefined) return undefined;
  return printer.kind(parseOptions(call.args, printer.options ?? noOptions), call);
}

interface Printer {
  readonly options?: OptionGrammar;
  readonly kind: (options: ParsedOptions, call: ProgramCall) => PrintedKind;
}

const numbers: Printer = { kind: () => 'numbers' };
const blank: Counts = { counts: ' ' };
const tab: Counts = { counts: '\t' };
const colon: Counts = { counts: ':' };

/** Filters that print lines, or parts of lines, of their input. */
function filter(short: string, long = '', kind: PrintedKind = 'input'): Printer {
  return { options: { short, long }, kind: ({ operands }) => (operands.length === 0 ? kind : undefined) };
}

const table: Readonly<Record<string, Printer>> = {
  nproc: numbers,
  getconf: numbers,
  tput: numbers,
  wc: {
    options: { short: 'clmwL', long: 'bytes chars lines words max-line-length files0-from= total=' },
    kind: ({ operands, given }) =>
      operands.length === 0 && !given.some(({ name }) => name === 'files0-from') ? 'numbers' : blank,
  },
  du: { options: { short: 'sbkmhcxlLDPHSt:d:B:', long: 'summarize bytes apparent-size' }, kind: duKind },
  nl: { kind: ({ given, unrecognised }) => (given.length + unrecognised.length === 0 ? tab : undefined) },
  seq: { options: { short: 'wf:s:', stop: true }, kind: unless('f', 's') },
  id: { options: { short: 'ugGnrz', long: 'user group' }, kind: idNumber },
  pgrep: { options: { short: 'cxnofilau:U:g:G:P:s:t:F:Lr:vwd:' }, kind: unless('l', 'a', 'd') },
  pidof: numbers,
  date: { options: { short: 'd:f:r:s:uI::R' }, kind: ({ operands }) => allMatch(operands, timeFormat) },
  stat: {
    options: { short: 'c:fLt', long: 'format= printf=' },
    kind: (options) =>
      allMatch(options.values('c', 'format', 'printf'), /^(?:%[sYXZWuaghibBdoD]|[\s:,\\n-])+$/),
  },
  expr: { kind: () => 'input' },
  bc: { kind: () => 'input' },
  head: filter('n:c:qvz0123456789', 'lines= bytes= quiet silent verbose'),
  tail: filter('n:c:qvzfFs:0123456789', 'lines= bytes= quiet follow[=]'),
  sort: filter('bdfghMnRrVcCmsuzt:k:S:T:', 'numeric-sort reverse unique key= field-separator='),
  uniq: {
    options: { short: 'cdDf:is:uw:z' },
    kind: ({ operands, given }) =>
      operands.length > 0 ? undefined : given.some(({ name }) => name === 'c') ? blank : 'input',
  },
  cut: { options: { short: 'b:c:d:f:nsz' }, kind: cutKind },
  tr: { options: { short: 'cCdst', long: 'complement delete squeeze-repeats' }, kind: trKind },
  grep: { options: grepOptions(), kind: grepKind },
  egrep: { options: grepOptions(), kind: grepKind },
  fgrep: { options: grepOptions(), kind: grepKind },
  rg: { options: grepOptions(), kind: grepKind },
  sed: { options: { short: 'nrEszui::e:f:l:' }, kind: sedKind },
  awk: { options: { short: 'F:v:f:' }, kind: awkKind },
  gawk: { options: { short: 'F:v:f:' }, kind: awkKind },
  mawk: { options: { short: 'F:v:f:' }, kind: awkKind },
  jq: {
    options: { short: 'rcMSnesjaR' },
    kind: ({ operands }) => allMatch(operands.slice(0, 1), /(?:^|[|;\s])(?:length|tonumber|floor)\s*[\])]?$/),
  },
  git: { kind: (_options, { args }) => gitKind(args.map(wordText)) },
  curl: {
    options: { short: 'sSfLkIgGo:w:X:H:d:m:u:A:b:e:', long: 'output= write-out= silent max-time= request=' },
    kind: curlKind,
  },
};

const printers: ReadonlyMap<string, Printer> = new Map(Object.entries(table));

const timeFormat = /^\+(?:%[-_0^#]?[sNYymdHMSjuwVUGgCIeklqF]|[\s:./-]|T)+$/;

function allMatch(words: readonly Arg[], pattern: RegExp): PrintedKind {
  return words.length > 0 && words.every(({ text }) => pattern.test(text ?? '$')) ? 'numbers' : undefined;
}

function unless(...names: string[]): Printer['kind'] {
  return ({ given, ambiguous, unrecognised }) =>
    given.some(({ name }) => names.includes(name)) || ambiguous?.many === true || unrecognised.length > 0
      ? undefined
      : 'numbers';
}

function idNumber({ given }: ParsedOptions): PrintedKind {
  const names = given.map(({ name }) => name);
  return /^(?:u|g|G|user|group)$/.test(names.find((name) => name !== 'r') ?? '') && !names.includes('n')
    ? 'numbers'
    : undefined;
}

function cutKind(options: ParsedOptions, { stdin }: ProgramCall): PrintedKind {
  if (options.operands.length > 0) return undefined;
  const isFirst = options.values('f').every(({ text }) => text === '1') && options.has('f');
  const delimiter = options.has('d') ? options.values('d').at(-1)?.text : '\t';
  return isFirst && stdin !== 'none' && stdin.counts === delimiter ? 'numbers' : 'input';
}

/** Names of folders below an operand may contain newlines, so only sums are lines that begin with a number. */
function duKind(options: ParsedOptions): PrintedKind {
  const isSum = options.has('s', 'summarize') && options.unrecognised.length === 0;
  return isSum && options.operands.every(isOneLine) ? tab : undefined;
}

function isOneLine({ pieces }: Arg): boolean {
  return pieces.every((piece) => (typeof piece === 'string' ? !piece.includes('\n') : piece.hole === 'glob'));
}

function trKind({ operands, given }: ParsedOptions): PrintedKind {
  const names = new Set(given.map(({ name }) => name));
  const deletes = names.has('d') || names.has('delete');
  const [set, other] = operands;
  if (other !== undefined || set === undefined) return undefined;
  if (!deletes) return names.has('s') || names.has('squeeze-repeats') ? 'input' : undefined;
  const others = names.has('c') || names.has('C') || names.has('complement');
  return others && /^(?:0-9|\[:digit:\]|\[0-9\]|\\n|[ .+-])+$/.test(wordText(set)) ? 'numbers' : 'input';
}

function grepOptions(): OptionGrammar {
  return {
    short: 'EFGPivwxcoqsnhHaIrRlLe:f:m:A:B:C:z',
    long: 'count only-matching no-filename extended-regexp perl-regexp ignore-case invert-match max-count= include= exclude=',
  };
}

const digits = /^(?:\^|\\b|\[0-9\.?\]|\\d|\[\[:digit:\]\]|[0-9.]|\\\+|[+*?$]|\{\d*(?:,\d*)?\})+$/;

function grepKind(options: ParsedOptions, { name }: ProgramCall): PrintedKind {
  const names = new Set(options.given.map((given) => given.name));
  const patterns = [...options.values('e')];
  const files = patterns.length > 0 || names.has('f') ? options.operands : options.operands.slice(1);
  if (patterns.length === 0) patterns.push(...options.operands.slice(0, 1));
  const searches = names.has('r') || names.has('R') || (name === 'rg' && files.length === 0);
  const named = names.has('H') || searches || files.length > 1 || files.some(({ many }) => many);
  const bare = !named || names.has('h') || names.has('no-filename');
  if ((names.has('c') || names.has('count')) && bare) return 'numbers';
  const matched = names.has('o') || names.has('only-matching');
  if (matched && bare && !names.has('n') && allMatch(patterns, digits) !== undefined) return 'numbers';
  if (names.has('n') && bare && !names.has('z')) return isNumbered(names) ? colon : undefined;
  return files.length === 0 && !searches && !names.has('f') ? 'input' : undefined;
}

/** Lines before and after a match, and names of files, have other separators. */
function isNumbered(names: ReadonlySet<string>): boolean {
  return !['A', 'B', 'C', 'l', 'L', 'H'].some((name) => names.has(name));
}

const plainScript =
  /^(?:s([/|,#])[^\n]*\1[\w .,%-]*\1[gpI\d]*|(?:\d+|\$)?(?:,(?:\d+|\$))?[pdq]|\/[^/\n]*\/[pd])$/;
const keepsDigits = /^s([/|,#])\[\^(?:0-9|\[:digit:\])\][*+]?\1\1g$/;

function sedKind(options: ParsedOptions): PrintedKind {
  const scripts = options.values('e');
  const [first, ...files] = options.operands;
  if (scripts.length === 0 && first !== undefined) scripts.push(first);
  if (options.has('f', 'i') || scripts.length === 0) return undefined;
  if (allMatch(scripts, keepsDigits) !== undefined) return 'numbers';
  return files.length === 0 && allMatch(scripts, plainScript) !== undefined ? 'input' : undefined;
}

/** Variables of awk whose text it prints between and after numbers. */
const separatorNames = /^(?:OFS|ORS|OFMT|CONVFMT)=/;

const printsField = /^[^{}"]*\{\s*print\s+\$(\d+|NF)\s*(?:;\s*)?(?:exit\s*(?:;\s*)?)?\}\s*$/;

function awkKind(options: ParsedOptions, { stdin }: ProgramCall): PrintedKind {
  const [program, ...files] = options.operands;
  if (program?.text === undefined || options.has('f')) return undefined;
  if ([...options.values('v'), ...files].some(({ text }) => separatorNames.test(text ?? 'OFS=')))
    return undefined;
  if (printsSums(program.text)) return 'numbers';
  const field = printsField.exec(program.text)?.[1];
  if (field === undefined || files.length > 0 || stdin === 'none') return undefined;
  return field === '1' && separates(options, stdin.counts) ? 'numbers' : 'input';
}

/** Returns true if the fields of awk end where the number at the beginning of a line ends. */
function separates(options: ParsedOptions, counts: Separator | undefined): boolean {
  if (!options.has('F')) return counts === ' ' || counts === '\t';
  return counts !== undefined && options.values('F').every(({ text }) => text === counts);
}

/** Returns true for a program such as `{ s += $1 } END { print s }`, which prints counters and nothing else. */
function printsSums(program: string): boolean {
  if (/["'@]|\b(?:sub|gsub|getline|printf|substr|split|match|ENVIRON|ARGV)\b/.test(program)) return false;
  const printed = [...program.matchAll(/\bprint\b([^;}\n]*)/g)].map(([, words = '']) => words.trim());
  return printed.length > 0 && printed.every((words) => isSum(words, program));
}

function isSum(words: string, program: string): boolean {
  const names = words.match(/[A-Za-z_]\w*/g) ?? [];
  if (words === '' || !/^[\w\s+\-*/%(),.]*$/.test(words)) return false;
  return names.every(
    (name) =>
      /^(?:NR|NF|FNR|int)$/.test(name) ||
      (new RegExp(`\\b${name}\\s*(?:\\+=|-=|\\+\\+|--)|(?:\\+\\+|--)\\s*${name}\\b`).test(program) &&
        !new RegExp(`\\b${name}\\s*=(?!=)\\s*(?!0\\b)`).test(program)),
  );
}

/** Lines of `git reflog`, `git log --oneline` and `git stash list` begin with a hash or `stash@{0}`, which is as harmless as a number. */
function gitKind(words: readonly string[]): PrintedKind {
  if (words.includes('--count')) return 'numbers';
  const isList = !words.some((word) =>
    /^-(?:[pug]|-(?:patch|stat|raw|numstat|graph|format|pretty|show-signature))/.test(word),
  );
  const [subcommand, verb] = words;
  if (!isList) return undefined;
  if (subcommand === 'stash' && verb === 'list') return colon;
  return subcommand === 'reflog' || (subcommand === 'log' && words.includes('--oneline')) ? blank : undefined;
}

function curlKind(options: ParsedOptions): PrintedKind {
  if (!options.has('o', 'output')) return undefined;
  return allMatch(
    options.values('w', 'write-out'),
    /^(?:%\{(?:http_code|response_code|time_\w+|size_\w+|speed_\w+|num_\w+|exitcode|http_version)\}|\\n|\s)+$/,
  );
}
