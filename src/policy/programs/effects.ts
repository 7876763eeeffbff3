import type { ProgramCall } from '../options/program-call.ts';
import type { Arg } from '../words/arg.ts';
import type { Effect } from './program.ts';

/** For wrappers whose operands are a program and its arguments. */
export function startsOperands(call: ProgramCall): Effect[] {
  return startsAfter(0)(call);
}

/** For wrappers with `count` operands before the program and its arguments. */
export function startsAfter(count: number): (call: ProgramCall) => Effect[] {
  return (call) => {
    const argv = call.options.operands.slice(count);
    return [...unclearStart(call), ...(argv.length > 0 ? [{ does: 'start', argv } as const] : [])];
  };
}

/** Refuses a wrapper with an unknown option: the option might change which word is the program. */
export function unclearStart({ options, name }: ProgramCall): Effect[] {
  const at = options.ambiguous ?? options.unrecognised[0];
  if (at === undefined) return [];
  return [{ does: 'unknown', at, reason: `which program ${name} would start cannot be known` }];
}

/** Refuses options that run code or write files, each with its reason. */
export function refuseOptions(reasons: Readonly<Record<string, string>>): (call: ProgramCall) => Effect[] {
  return ({ options, name }) =>
    options.given.flatMap((option): Effect[] => {
      const reason = Object.hasOwn(reasons, option.name) ? reasons[option.name] : undefined;
      return reason === undefined
        ? []
        : [{ does: 'refuse', at: option.at, reason: `${name} ${dashed(option.name)} ${reason}` }];
    });
}

/** For options whose value is passed to a shell. */
export function shellOptions(...names: string[]): (call: ProgramCall) => Effect[] {
  return ({ options }) => options.values(...names).map((text) => ({ does: 'shell', text }) as const);
}

/** Combines several effect functions. */
export function allOf(
  ...parts: ((call: ProgramCall) => readonly Effect[])[]
): (call: ProgramCall) => Effect[] {
  return (call) => parts.flatMap((part) => part(call));
}

/** Joins words with blanks, as `ssh` and `eval` do. */
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
