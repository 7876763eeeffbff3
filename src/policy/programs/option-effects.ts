// Effects that many entries share: options and subcommands that start, write, or run what cannot be judged.
import { noOptions, type OptionGrammar } from '../options/grammar.ts';
import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg } from '../words/arg.ts';
import { startsOperands } from './effects.ts';
import type { Effect } from './program.ts';
import { splitWords } from './split-words.ts';

/** A function from a call to its effects. */
export type Effects = (call: ProgramCall) => readonly Effect[];

/** Options whose value is a program with its arguments, split at blanks without a shell. */
export function startOptions(...names: string[]): Effects {
  return ({ options }) =>
    options.values(...names).map((value) => ({ does: 'start', argv: splitWords(value), stdin: 'none' }));
}

/** Options whose value is a file that is written; `-` is standard output. */
export function writeOptions(...names: string[]): Effects {
  return ({ options }) =>
    options
      .values(...names)
      .filter((path) => path.text !== '-')
      .map((path) => ({ does: 'write', path }));
}

/** Options that show something and end, so that nothing is started. */
export function unlessGiven(names: readonly string[], effects: Effects): Effects {
  return (call) => (call.options.has(...names) ? [] : effects(call));
}

/** What the entry does when the first operand is one of the names, which stand side by side in a key; it gets the call without the words up to there. */
export function subcommands(table: Readonly<Record<string, Sub>>): Effects {
  // Read when it is needed, since some tables are made for one call.
  let byName: ReadonlyMap<string, Sub> | undefined;
  return (call) => {
    const [word] = call.options.operands;
    if (word === undefined) return [];
    if (word.text === undefined) {
      const unclear: Effect = {
        does: 'unknown',
        at: word,
        reason: `what ${call.name} would do cannot be known`,
      };
      return word.many ? [unclear] : [];
    }
    byName ??= eachNamed(table);
    const found = byName.get(word.text);
    if (found === undefined) return [];
    const place = call.args.indexOf(word);
    const args = call.args.slice(place + 1);
    return found.effects({ ...call, args, options: parseOptions(args, found.options ?? noOptions) });
  };
}

function eachNamed(table: Readonly<Record<string, Sub>>): ReadonlyMap<string, Sub> {
  const entries = Object.entries(table);
  return new Map(entries.flatMap(([names, sub]) => names.split(' ').map((name) => [name, sub] as const)));
}

/** One subcommand: its options and what it does. */
export interface Sub {
  readonly options?: OptionGrammar;
  readonly effects: Effects;
}

/** A subcommand whose operands are a program and its arguments. */
export function startingSub(short = '', long = ''): Sub {
  return { options: { short, long, stop: true }, effects: startsOperands };
}

/** A subcommand that being listed does not cover. */
export function refusedSub(reason: string): Sub {
  return { effects: (call) => [refused(call, reason)] };
}

/** Refuses the whole call. */
export function refused(call: ProgramCall, reason: string, at: Arg = call.self): Effect {
  return { does: 'refuse', at, reason: `${call.name} ${reason}` };
}

/** Text from stdin that a shell reads: judged when it is known, refused under a list otherwise. */
export function shellStdin(call: ProgramCall): Effect[] {
  if (call.stdin === 'none') return [];
  const { text, more } = call.stdin;
  const known: Effect[] = text === '' ? [] : [{ does: 'shell', text: knownArg(text, call.self) }];
  return more
    ? [
        ...known,
        { does: 'unknown', at: call.self, reason: `the text that ${call.name} would run cannot be known` },
      ]
    : known;
}

/** What is known of stdin. */
export function stdinText({ stdin }: ProgramCall): string {
  return stdin === 'none' ? '' : stdin.text;
}
