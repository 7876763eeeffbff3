// Effect functions that many entries share: options and subcommands that start programs, write files or run unknown code.
import { noOptions, type OptionGrammar } from '../options/grammar.ts';
import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, toArg, withoutPrefix, wordText } from '../words/arg.ts';
import { startsOperands } from './effects.ts';
import type { Effect } from './program.ts';
import { splitWords } from './split-words.ts';

/** Returns the effects of a call. */
export type Effects = (call: ProgramCall) => readonly Effect[];

/** For options whose value is a program with arguments, split at blanks without a shell. */
export function startOptions(...names: string[]): Effects {
  return ({ options }) =>
    options.values(...names).map((value) => ({ does: 'start', argv: splitWords(value), stdin: 'none' }));
}

/** For options whose value is an output file; `-` is stdout. */
export function writeOptions(...names: string[]): Effects {
  return ({ options }) =>
    options
      .values(...names)
      .filter((path) => path.text !== '-')
      .map((path) => ({ does: 'write', path }));
}

/** For programs that write a tree of files below a folder: the names in the tree may be any, such as `.bashrc`. */
export function writesBelow(folder: Arg): Effect[] {
  if (folder.text === undefined || /^\.?\/?$/.test(folder.text.replace(/^\/+$/, '//')))
    return [{ does: 'write', path: toArg([...folder.pieces, '/file'], folder) }];
  return ['file', '.bashrc', 'etc/profile', 'git/config'].map((name) => ({
    does: 'write',
    path: knownArg(`${folder.text}/${name}`, folder),
  }));
}

/** For programs whose unknown subcommand `x` is a plugin `PROGRAM-x`, which must be listed. */
export function plugins(known: string): (call: ProgramCall, words?: readonly Arg[]) => Effect[] {
  const names = new Set(known.split(/\s+/));
  return ({ name, options }, words = options.operands) => {
    const [word] = words;
    if (word?.text === undefined || names.has(word.text) || !/^[\w-]+$/.test(word.text)) return [];
    return [{ does: 'start', argv: [knownArg(`${name}-${word.text}`, word)], stdin: 'none' }];
  };
}

/** Refuses options that are not in the grammar: for programs that can run code, an option must be known to be harmless. */
export function unknownOptions(call: ProgramCall): Effect[] {
  return unknownAmong(call, call.options.unrecognised);
}

/** Refuses the first of these option words. */
export function unknownAmong({ name }: ProgramCall, words: readonly Arg[]): Effect[] {
  return words.slice(0, 1).map((at) => ({
    does: 'refuse',
    at,
    rule: 'unknown_option',
    reason: `${name} ${wordText(at).split('=')[0]} is not an option that is known to be harmless`,
  }));
}

/** For options such as `--help` that print something and exit before anything starts. */
export function unlessGiven(names: readonly string[], effects: Effects): Effects {
  return (call) => (call.options.has(...names) ? [] : effects(call));
}

/** Picks the effects by the first operand. A key may list several names; the function gets the call without the words up to the subcommand. */
export function subcommands(table: Readonly<Record<string, Sub>>): Effects {
  // Parsed lazily, since some tables are created for a single call.
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

/** Declares a subcommand: its options and effects. */
export interface Sub {
  readonly options?: OptionGrammar;
  readonly effects: Effects;
}

/** Declares a subcommand whose operands are a program and its arguments. */
export function startingSub(short = '', long = ''): Sub {
  return { options: { short, long, stop: true }, effects: startsOperands };
}

/** Declares a subcommand that is refused even if the program is listed. */
export function refusedSub(reason: string): Sub {
  return { effects: (call) => [refused(call, reason)] };
}

/** Without a grammar: the values of options that match, attached with `=` or as the next word. */
export function optionValues(args: readonly Arg[], option: RegExp): readonly Arg[] {
  return args.flatMap((arg, at) => {
    const text = prefixOf(arg);
    const equals = text.startsWith('--') ? text.indexOf('=') : -1;
    const next = args[at + 1];
    if (!option.test(equals < 0 ? text : text.slice(0, equals))) return [];
    return equals >= 0 ? [withoutPrefix(arg, equals + 1)] : next === undefined ? [] : [next];
  });
}

/** Refuses the whole call. */
export function refused(call: ProgramCall, reason: string, at: Arg = call.self): Effect {
  return { does: 'refuse', at, reason: `${call.name} ${reason}` };
}

/** For a shell that reads stdin: known text is judged; unknown text is refused under a list. */
export function shellStdin(call: ProgramCall): Effect[] {
  if (call.stdin === 'none') return [];
  const { text, more } = call.stdin;
  const known: Effect[] = text === '' ? [] : [{ does: 'shell', text: knownArg(text, call.self) }];
  return more
    ? [
        ...known,
        {
          does: 'unknown',
          at: call.self,
          reason: `the text that ${call.name} would run cannot be known`,
          own: ownInput(call.stdin),
        },
      ]
    : known;
}

/** The text of the command from which a filter makes `stdin`; undefined if there is none. */
export function ownInput(stdin: ProgramCall['stdin']): string | undefined {
  return stdin !== 'none' && stdin.more && stdin.made !== undefined && stdin.text !== ''
    ? stdin.text
    : undefined;
}

/** For programs that run what they read: text that another program prints, and that is not known, is refused under a list. */
export function unknownInput(call: ProgramCall): Effect[] {
  if (call.stdin === 'none' || !call.stdin.more || call.stdin.origin !== undefined) return [];
  return [
    { does: 'unknown', at: call.self, reason: `the commands that ${call.name} would read cannot be known` },
  ];
}

/** Returns the text of stdin as far as it is known. */
export function stdinText({ stdin }: ProgramCall): string {
  return stdin === 'none' ? '' : stdin.text;
}
