import { boundedFrom, foreignText, type Made, mayExpand } from './arg.ts';
import { limits } from './limits.ts';

/** Text that a program reads or prints, as far as it is known; with `more`, other text may be mixed in. */
export interface Output {
  readonly text: string;
  readonly more: boolean;
  /** Command text that the unknown part may contain; arithmetic may still evaluate it. */
  readonly from?: string | undefined;
  /** Where unknown text comes from: the caller's own input, or a file. Text that a program prints has no origin. */
  readonly origin?: 'caller' | 'file' | undefined;
  /** Set if every line begins with a number, as in the output of `wc`: the character after the number. */
  readonly counts?: Separator | undefined;
  /** True if it contains no text of the command, such as the numbers that `wc` prints. */
  readonly outside?: boolean | undefined;
  /** Set if the unknown part is made from text of the command. */
  readonly made?: Made | undefined;
  /** True if no word of it begins with a dash, as with names of files, hashes and dates. */
  readonly operand?: boolean | undefined;
  /** True if it never ends, as that of `yes`. */
  readonly endless?: boolean | undefined;
  /** Every possible text, if `more` is true only because part of `text` may not be printed. */
  readonly forms?: Forms;
}

/** The character after the number at the beginning of a line: `wc` prints a blank, `du` a tab, and `grep -n` a colon. */
export type Separator = ' ' | '\t' | ':';

/** Output of a command that prints nothing, such as `cd`. */
export const silent: Output = { text: '', more: false };

/** Anything may be printed. */
export const anyOutput: Output = { text: '', more: true };

/** Numbers are printed. */
export const numberOutput: Output = { text: '', more: true, outside: true };

/** Text from outside the command may be printed; arithmetic would evaluate it. */
export const foreignOutput: Output = { text: '', more: true, from: foreignText };

/** Text from outside the command in which no word begins with a dash, such as names of files. */
export const foreignOperands: Output = { ...foreignOutput, operand: true };

/** The input that the caller of a command may still type. */
export const callerInput: Output = { ...foreignOutput, origin: 'caller' };

/** The contents of a file. */
export const fileContents: Output = { ...foreignOutput, origin: 'file' };

/** A program's stdin: `none` if it is empty or closed, otherwise text. */
export type Stdin = 'none' | Output;

/** The output of a program that lists all processes: `kill` treats the number as every process. */
export const everyProcess = '-1\n';

/** Returns the directory if an output lists its entries (as the `ls` entry reports); otherwise undefined. */
export function placeListed(text: string): string | undefined {
  const end = text.indexOf('\n');
  const place = end < 0 ? text : text.slice(0, end);
  return place === '.' || place.endsWith('/') ? place : undefined;
}

/** A folder as `placeListed` finds it: `.`, or a path with a slash at its end. */
export function toListedPlace(path: string): string {
  return path === '.' || path.endsWith('/') ? path : `${path}/`;
}

/** The output of two commands that run one after the other. */
export function joinOutput(one: Output, other: Output): Output {
  if (other.text === '' && addsNothing(one, other) && (!other.more || (one.more && !one.forms))) return one;
  const from = one.from === undefined ? other.from : one.from + (other.from ?? '');
  const more = one.more || other.more;
  const made = more ? (one.made ?? other.made) : undefined;
  const operand = more && isOperand(one) && isOperand(other) ? true : undefined;
  const forms = more ? joinForms(one, other) : undefined;
  return { text: one.text + other.text, more, from, made, operand, forms };
}

/** Returns true if no word of an output begins with a dash. */
export function isOperand({ text, more, operand, outside }: Output): boolean {
  return (!more || operand === true || outside === true) && !hasOptionWord(text);
}

/** Returns true if a word of the text begins with a dash. */
export function hasOptionWord(text: string): boolean {
  return text.includes('-') && /(?:^|\s)-/.test(text);
}

// A script with many commands would otherwise repeat `foreignText` for each of them.
function addsNothing(one: Output, { from }: Output): boolean {
  if (from === undefined) return true;
  const isPlain = one.origin === undefined && !one.counts;
  return isPlain && from.trimStart() === foreignText && one.from?.endsWith(foreignText) === true;
}

/** The output of a command together with its error messages, as with `2>&1`. */
export function withErrors(output: Output): Output {
  if (output.more && !output.outside && output.forms === undefined) return output;
  return { ...output, more: true, outside: undefined, forms: undefined };
}

/** The output of a command that may not run, as `b` in `a || exit; b`. */
export function skippable(output: Output): Output {
  if (output.text === '' && !output.more) return output;
  const forms = formsOf(output);
  return { ...output, more: true, forms: forms && [...forms, ''] };
}

function joinForms(one: Output, other: Output): Forms {
  return combineForms(formsOf(one), formsOf(other));
}

/** All texts that may be printed; undefined if they are unknown or more than `limits.values`. */
export type Forms = readonly string[] | undefined;

/** The forms of an output. */
export function formsOf({ text, more, forms }: Output): Forms {
  return more ? forms : [text];
}

/** Every form of `one` followed by every form of `other`. */
export function combineForms(one: Forms, other: Forms): Forms {
  if (one === undefined || other === undefined || one.length * other.length > limits.values) return undefined;
  const [before] = one;
  const [after] = other;
  if (one.length === 1 && other.length === 1 && before !== undefined && after !== undefined)
    return [before + after];
  return one.flatMap((left) => other.map((right) => left + right));
}

/** Output that may be any of these, part of them, or text derived from them. */
export function possibleOutput(outputs: readonly Output[]): Output {
  if (!outputs.some(mayExpandIn)) return pathsOf(outputs);
  let from = '';
  for (const output of outputs) from += output.text + (output.from ?? '');
  return { text: '', more: true, from: boundedFrom(from) };
}

/** The danger rules look for paths near the root in what a branch or a loop may print. */
function pathsOf(outputs: readonly Output[]): Output {
  let paths = '';
  for (const { text } of outputs)
    if (text.length < 64 && /(?:^|\s)[/~]/.test(text)) paths += `${text.trim()}\n`;
  return paths === '' || paths.length > 256 ? anyOutput : { text: paths, more: true };
}

function mayExpandIn({ text, from }: Output): boolean {
  return mayExpand(text) || (from !== undefined && mayExpand(from));
}
