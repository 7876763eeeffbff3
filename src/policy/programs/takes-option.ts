// Decides whether a program would read a word at some position as an option that runs code or writes a file: each option in the grammar
// and the examples of the program's entry replaces the word, and `effects` shows whether that adds an effect.
import { type OptionGrammar, optionsOf } from '../options/grammar.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf } from '../words/arg.ts';
import { countEffects, exceeds, withArgs } from './compare-effects.ts';
import { gitSubcommandOptions } from './git-subcommands.ts';
import type { ProgramEntry } from './program.ts';

/** Returns true if an option in place of the argument `at` would run code or write a file; false for open programs, which run any code. */
export function takesOption(
  call: ProgramCall,
  entry: ProgramEntry,
  grammar: OptionGrammar,
  at: number,
): boolean {
  const { closed, open, effects } = entry;
  const arg = call.args[at];
  if (closed === undefined || effects === undefined || arg === undefined) return false;
  if (open?.includes(call.name) || programsWithoutCodeOptions.has(call.name)) return false;
  const before = countEffects(effects(call));
  const addsEffect = (words: readonly Arg[]) => {
    const args = [...call.args.slice(0, at), ...words, ...call.args.slice(at + 1)];
    return exceeds(countEffects(effects(withArgs(call, args, grammar))), before);
  };
  return probesFor(call, entry, grammar).some((probe) => replacementsOf(arg, probe).some(addsEffect));
}

// The options of curl write files but start no program, and lists of URLs are often read from files.
const programsWithoutCodeOptions = new Set(['curl']);

/** The words that `probe` may become in place of `arg`, whose known beginning it completes. Bash may also split `arg` into a word and the option. */
function replacementsOf(arg: Arg, probe: string): readonly (readonly Arg[])[] {
  const prefix = prefixOf(arg);
  const option = knownArg(prefix === '' ? probe : completed(prefix, probe), arg);
  if (!arg.many) return [[option]];
  if (prefix === '') return [[option], [knownArg('word', arg), option]];
  return [[option], [knownArg(`${prefix}word`, arg), knownArg(probe, arg)]];
}

function completed(prefix: string, probe: string): string {
  if (probe.startsWith(prefix)) return probe;
  return prefix.startsWith('--') ? `${prefix}${unknownOption.slice(2)}` : prefix + probe.replace(/^-+/, '');
}

const unknownOption = '--not-an-option=x';
const unknownLetter = '-\u{F0001}';
const known = new WeakMap<object, readonly string[]>();

/** The options to try: two that no program has, those of the grammar, and those in the examples `runs`. */
function probesFor(call: ProgramCall, entry: ProgramEntry, grammar: OptionGrammar): readonly string[] {
  if (!entry.names.includes('git'))
    return remembered(entry, () => [...optionsIn(grammar), ...inExamples(entry)]);
  const own = gitSubcommandOptions(call.args);
  return own === undefined ? [] : remembered(own, () => optionsIn(own));
}

function remembered(key: object, find: () => readonly string[]): readonly string[] {
  const found = known.get(key) ?? [unknownOption, unknownLetter, ...find()];
  known.set(key, found);
  return found;
}

function optionsIn(grammar: OptionGrammar): readonly string[] {
  const { short, long } = optionsOf(grammar);
  const dash = grammar.singleDash ? '-' : '--';
  return [
    ...[...long].map(([name, kind]) => (kind === 'nothing' ? `${dash}${name}` : `${dash}${name}=x`)),
    ...[...short].map(([name, kind]) => (kind === 'nothing' ? `-${name}` : `-${name}x`)),
  ];
}

/** The options in the examples `runs`, each alone and joined with the next word as its value. */
function inExamples({ runs }: ProgramEntry): readonly string[] {
  return runs.flatMap((example) => {
    const text = typeof example === 'string' ? example : example[0];
    const words = [...text.matchAll(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g)].map(([word]) =>
      word.replace(/['"\\]/g, ''),
    );
    return words.flatMap((word, index) =>
      word.startsWith('-') ? [word, `${word}${words[index + 1] ?? ''}`] : [],
    );
  });
}
