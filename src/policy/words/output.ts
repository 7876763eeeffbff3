import { mayExpand } from './arg.ts';
import { limits } from './limits.ts';

/** Text that a program reads or prints, as far as it is known; `more` says that other text may come with it. */
export interface Output {
  readonly text: string;
  readonly more: boolean;
  /** Text of the command that may be in what is not known; arithmetic may still evaluate it. */
  readonly from?: string | undefined;
  /** All that may be printed, where `more` is true only because a part of the text may be left out. */
  readonly forms?: Forms;
}

/** Nothing is printed. */
export const silent: Output = { text: '', more: false };

/** Anything may be printed. */
export const anyOutput: Output = { text: '', more: true };

/** What a program can read from stdin: nothing at all, or text. */
export type Stdin = 'none' | Output;

/** What two commands print one after the other. */
export function joinOutput(one: Output, other: Output): Output {
  if (other.text === '' && other.from === undefined && (!other.more || (one.more && !one.forms))) return one;
  const from = one.from === undefined ? other.from : one.from + (other.from ?? '');
  const more = one.more || other.more;
  return { text: one.text + other.text, more, from, forms: more ? joinForms(one, other) : undefined };
}

/** What a command prints that may be left out. */
export function skippable(output: Output): Output {
  if (output.text === '' && !output.more) return output;
  const forms = formsOf(output);
  return { ...output, more: true, forms: forms && [...forms, ''] };
}

function joinForms(one: Output, other: Output): Forms {
  return crossForms(formsOf(one), formsOf(other));
}

/** All texts that may be printed; undefined when they are not known, or too many. */
export type Forms = readonly string[] | undefined;

/** The forms of an output. */
export function formsOf({ text, more, forms }: Output): Forms {
  return more ? forms : [text];
}

/** Each form of one with each of another behind it. */
export function crossForms(one: Forms, other: Forms): Forms {
  if (one === undefined || other === undefined || one.length * other.length > limits.values) return undefined;
  const [before] = one;
  const [after] = other;
  if (one.length === 1 && other.length === 1 && before !== undefined && after !== undefined)
    return [before + after];
  return one.flatMap((left) => other.map((right) => left + right));
}

/** What may be printed, or some of it, or something made of it. */
export function perhapsOutput(outputs: readonly Output[]): Output {
  if (!outputs.some(mayExpandIn)) return anyOutput;
  let from = '';
  for (const output of outputs) from += output.text + (output.from ?? '');
  return { text: '', more: true, from: from.slice(0, limits.textLength) };
}

function mayExpandIn({ text, from }: Output): boolean {
  return mayExpand(text) || (from !== undefined && mayExpand(from));
}
