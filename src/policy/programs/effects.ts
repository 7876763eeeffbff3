import type { ProgramCall } from '../options/program-call.ts';
import type { Arg } from '../words/arg.ts';
import type { Effect } from './program.ts';

/** The operands are a program and its arguments. */
export function startsOperands(call: ProgramCall): Effect[] {
  return startsAfter(0)(call);
}

/** After so many operands, the rest is a program and its arguments. */
export function startsAfter(count: number): (call: ProgramCall) => Effect[] {
  return (call) => {
    const argv = call.options.operands.slice(count);
    return [...unclearStart(call), ...(argv.length > 0 ? [{ does: 'start', argv } as const] : [])];
  };
}

/** A wrapper whose own options are not all understood might start something else than it seems to. */
export function unclearStart({ options, name }: ProgramCall): Effect[] {
  const at = options.ambiguous ?? options.unrecognised[0];
  if (at === undefined) return [];
  return [{ does: 'unknown', at, reason: `which program ${name} would start cannot be known` }];
}

/** Options that run code or write files, each with the reason for refusing it. */
export function refuseOptions(reasons: Readonly<Record<string, string>>): (call: ProgramCall) => Effect[] {
  return ({ options, name }) =>
    options.given.flatMap((option): Effect[] => {
      const reason = Object.hasOwn(reasons, option.name) ? reasons[option.name] : undefined;
      return reason === undefined
        ? []
        : [{ does: 'refuse', at: option.at, reason: `${name} ${dashed(option.name)} ${reason}` }];
    });
}

/** Options whose value is handed to a shell. */
export function shellOptions(...names: string[]): (call: ProgramCall) => Effect[] {
  return ({ options }) => options.values(...names).map((text) => ({ does: 'shell', text }) as const);
}

/** The effects of several descriptions, one after the other. */
export function allOf(
  ...parts: ((call: ProgramCall) => readonly Effect[])[]
): (call: ProgramCall) => Effect[] {
  return (call) => parts.flatMap((part) => part(call));
}

/** The words as one text with blanks between, as ssh and eval make it. */
export function joinWords(words: readonly Arg[], fallback: Arg): Arg {
  const [first] = words;
  const last = words.at(-1);
  if (first === undefined || last === undefined) return { ...fallback, pieces: [''], text: '' };
  const pieces = words.flatMap((word, index) => (index > 0 ? [' ', ...word.pieces] : word.pieces));
  const text = words.every((word) => word.text !== undefined)
    ? words.map((word) => word.text).join(' ')
    : undefined;
  return { pieces, text, many: words.some((word) => word.many), pos: first.pos, end: last.end };
}

function dashed(option: string): string {
  return option.length === 1 ? `-${option}` : `--${option}`;
}
