import type { ProgramCall } from '../options/program-call.ts';
import { type PrintedKind, printedKind } from '../programs/printed-kind.ts';
import { printsOperands } from '../programs/printed-operands.ts';
import { type Arg, foreignText, type Made, mayExpand, wordText } from '../words/arg.ts';
import {
  anyOutput,
  everyProcess,
  foreignOperands,
  foreignOutput,
  isOperand,
  numberOutput,
  type Output,
  placeListed,
  possibleOutput,
  type Separator,
  type Stdin,
  silent,
} from '../words/output.ts';
import { isEndlessFile } from './endless-loops.ts';
import { pathsOfCode } from './printed-paths.ts';
import type { ProgramFacts } from './program-facts.ts';
import type { WalkScope } from './scope.ts';
import { derivedHole } from './variable.ts';

/** The output of a program that is not predictable: numbers, part of its input or words, or any text. */
export function unknownOutput(
  call: ProgramCall,
  facts: ProgramFacts,
  inner: Output,
  output: (Output & { readonly more: true }) | undefined,
): Output {
  const printed = printedOutput(call, facts, inner, output);
  if (printed.operand === true || printed.outside === true) return printed;
  const isNamed = printsOperands(call) || (facts.wraps && inner !== silent && isOperand(inner));
  if (isNamed) return printed === foreignOutput ? foreignOperands : { ...printed, operand: true };
  return facts.echoes === 'words' && call.args.some(hasDash) ? { ...printed, made: 'any' } : printed;
}

function printedOutput(
  call: ProgramCall,
  { echoes, isOpen, wraps }: ProgramFacts,
  inner: Output,
  output: (Output & { readonly more: true }) | undefined,
): Output {
  const kind = printedKind(call);
  if (kind === 'numbers') return output === undefined ? numberOutput : { ...output, made: undefined };
  const from = printedText(call, echoes, inner);
  const isOwn = isOpen || echoes === 'words' || kind === 'input' || (wraps && inner !== silent);
  const foreign = isOwn ? '' : foreignText;
  const counts = typeof kind === 'object' ? kind.counts : keptCounts(call, kind);
  if (from === undefined && foreign === '') return output ?? (isOpen ? numberOutput : anyOutput);
  // The usual case creates no object.
  if (from === undefined && output === undefined && counts === undefined) return foreignOutput;
  const whole = (from ?? '') + foreign;
  if (output === undefined && counts === undefined) return { text: '', more: true, from: whole };
  const { text, made, origin, operand, forms, endless } = output ?? anyOutput;
  return { text, more: true, from: whole, origin, counts, made, operand, forms, endless };
}

function hasDash(arg: Arg): boolean {
  return arg.text?.includes('-') === true;
}

/** Filters that print whole lines leave the numbers at their beginning. */
function keptCounts({ name, stdin }: ProgramCall, kind: PrintedKind): Separator | undefined {
  return kind === 'input' && stdin !== 'none' && wholeLines.has(name) ? stdin.counts : undefined;
}

const wholeLines = new Set('egrep fgrep grep head sort tail uniq'.split(' '));

/** Programs that print all lines of their input, in another order or form. */
const passing = new Set('cat column paste rev shuf sort tac tee tr uniq'.split(' '));

/** Programs that print part of their input, or pack and unpack it. */
const selecting = new Set(
  `awk base32 base64 basenc bunzip2 bzip2 cut dd egrep expand fgrep fmt fold gawk grep gunzip gzip head iconv jq mawk nl openssl perl python3
  ruby sed strings tail unxz uudecode xxd xz zcat zstd`.split(/\s+/),
);

/** Words stay in the output of a filter; listings do if they are sorted or their separators change. */
export function passedText(call: ProgramCall): (Output & { more: true }) | undefined {
  const { name, stdin } = call;
  if (stdin === 'none' || stdin.text === '') return undefined;
  // Without a program, xargs starts echo.
  if (name === 'xargs' && call.options.operands.length === 0)
    return { text: stdin.text, more: true, made: madeFrom(call) };
  const isListing = stdin.more && isListed(stdin.text);
  const passes =
    passing.has(name) || (selecting.has(name) && (!isListing || printsColumn(call) || keepsLines(call)));
  return passes ? { text: stdin.text, more: true, made: madeFrom(call) } : undefined;
}

/** Returns true for `cat /dev/zero`, and for a filter whose input never ends, unless the filter stops by itself. */
export function staysEndless({ name, args, stdin }: ProgramCall): boolean {
  if (name === 'cat' && args.some(({ text }) => text !== undefined && isEndlessFile(text))) return true;
  if (stdin === 'none' || stdin.endless !== true) return false;
  const isFilter =
    (passing.has(name) && name !== 'sort') || (selecting.has(name) && name !== 'head' && name !== 'tail');
  return isFilter && !args.some(({ text = '' }) => /^-m|^--max|[Qq]$|exit|^count=/.test(text));
}

/** Returns true for filters that leave out at most the first lines, or those that match, as `tail -n +2` and `grep -v` do. */
function keepsLines({ name, args }: ProgramCall): boolean {
  if (/^[ef]?grep$/.test(name))
    return args.some(({ text }) => /^-[a-zA-Z]*v[a-zA-Z]*$|^--invert/.test(text ?? ''));
  const words = args.map(wordText).join(' ');
  if (name === 'tail') return /^-n ?\+\d+$/.test(words);
  if (name === 'sed') return /^(?:1d|s\/\^ [*]\/\/g?)$/.test(words);
  if (name === 'awk') return /^NR\s?>=?\s?\d+\s?\{\s?print\s+\$\d+[\s;]*\}$/.test(words);
  return name === 'cut';
}

/** Returns true for `awk '{ print $2 }'`, which selects no lines. */
function printsColumn({ name, args }: ProgramCall): boolean {
  return /awk$/.test(name) && /^\{\s*print\s+\$\d+[\s;]*\}$/.test(wordText(args[0]));
}

/** A filter such as `cut` prints parts of its input; these may be an option only if the input contains a dash. */
function madeFrom(call: ProgramCall): Made | undefined {
  const { stdin } = call;
  if (stdin === 'none' || (stdin.more && stdin.made === undefined)) return undefined;
  const hasDash = stdin.text.includes('-') || call.args.some(({ text }) => text?.startsWith('--output-d'));
  return printedKind(call) === 'input' && !hasDash ? 'parts' : 'any';
}

/** `ps -eo pid`, `ps aux` and `pgrep .` print the numbers of all processes. */
export function listedProcesses({ name, args }: ProgramCall): (Output & { more: true }) | undefined {
  if (name !== 'ps' && name !== 'pgrep') return undefined;
  const words = args.map(wordText).join(' ');
  const isEvery =
    name === 'ps'
      ? /(?:^| )-?(?:[eA]|au?x)[a-z]*(?: |$)/.test(words) && /\bpid\b|^(?:aux|ax|-[eA]f?l?)$/.test(words)
      : /^(?:-[fxa]+ ?)*\.?$/.test(words);
  return isEvery ? { text: everyProcess, more: true } : undefined;
}

// A line with a blank, such as `rm -rf /`, is a command.
function isListed(text: string): boolean {
  return text === everyProcess || placeListed(text)?.includes(' ') === false;
}

/** Programs that print strings of their code. */
const interpreters = /^(?:python[\d.]*|perl|ruby|node|deno|bun|php|lua|[gm]?awk|jq)$/;
const destructiveWord = /\b(?:rm|dd|mkfs|shred|wipefs|chmod|chown|kill)\b/;

/** Functions and formats of inline code that build text from numbers, or decode it. */
const encoding =
  /%c|\bchr\b|fromCharCode|\bpack\b|\[::-1\]|\breverse\b|rot.?13|b64decode|fromhex|unhexlify|\batob\b|Buffer\.from|ltrstr|@base64d|implode|strrev|bytes\(\[|bytearray/;

/** The number of a slash, which the code may print as text. */
const slashCode = /\b(?:47|0o?57|0x2f|2f)\b|Lw==/i;

/** Strings in inline code that may be dangerous commands: `python3 -c 'print("rm -rf /")' | sh`. */
export function printedStrings({ name, args, home }: ProgramCall): (Output & { more: true }) | undefined {
  if (!interpreters.test(name)) return undefined;
  let text = '';
  for (const arg of args) {
    if (arg.text === undefined) continue;
    if (encoding.test(arg.text))
      return { text: slashCode.test(arg.text) ? `${arg.text}\n/.\n` : arg.text, more: true, made: 'any' };
    for (const path of pathsOfCode(arg.text, home)) text += `${path}\n`;
    if (!destructiveWord.test(arg.text)) continue;
    for (const [, one, other] of arg.text.matchAll(/"([^"\\]*)"|'([^'\\]*)'/g)) text += `${one ?? other}\n`;
  }
  return text === '' ? undefined : { text, more: true };
}

/** Text that a program may print: from its arguments or stdin, or from the programs it starts. */
function printedText(
  { args, stdin }: ProgramCall,
  echoes: ProgramFacts['echoes'],
  inner: Output,
): string | undefined {
  const own = echoes === 'words' ? textIn(args) : echoes === 'stdin' ? textFrom(stdin) : undefined;
  const { from } = inner === silent ? inner : possibleOutput([inner]);
  return own === undefined ? from : own + (from ?? '');
}

function textIn(args: readonly Arg[]): string | undefined {
  if (!args.some(mayExpandInArg)) return undefined;
  let from = '';
  for (const arg of args) from += ` ${arg.text ?? derivedHole(arg.pieces).from ?? ''}`;
  return from;
}

function mayExpandInArg(arg: Arg): boolean {
  return arg.text === undefined ? derivedHole(arg.pieces).from !== undefined : mayExpand(arg.text);
}

function textFrom(stdin: Stdin): string | undefined {
  if (stdin === 'none' || (stdin.text === '' && stdin.from === undefined)) return undefined;
  // The list of all processes is not text that a filter such as awk '/x/' passes on.
  return derivedHole([stdin.text === everyProcess ? '' : stdin.text, stdin.from ?? '']).from;
}

/** Returns true if a builtin that needs no listing may print: `declare -p`, `set`, `cd -`. */
export function printsState({ name, args }: ProgramCall, { shell }: WalkScope): boolean {
  if (name === 'set') return args.every(({ text }) => text === undefined || /^[-+]o$/.test(text));
  if (name === 'cd')
    return shell.variables.has('CDPATH') || args.some(({ text }) => text === undefined || text === '-');
  if (name === 'umask' || name === 'times') return true;
  if (!declaring.has(name)) return false;
  return args.every(({ text }) => text === undefined || /^[-+]/.test(text)) || args.some(hasPrintFlag);
}

const declaring = new Set('declare typeset local export readonly'.split(' '));

function hasPrintFlag({ text }: Arg): boolean {
  return text === undefined || /^-[a-zA-Z]*[pfF]/.test(text);
}
