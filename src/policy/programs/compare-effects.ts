import type { OptionGrammar } from '../options/grammar.ts';
import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import type { Arg } from '../words/arg.ts';
import type { Effect } from './program.ts';

/** How many effects run code, and how many write a file. */
export interface EffectCount {
  readonly code: number;
  readonly writes: number;
}

/** The call with other arguments. */
export function withArgs(call: ProgramCall, args: readonly Arg[], grammar: OptionGrammar): ProgramCall {
  const { name, stdin, posix, cwd, home, files, inputs, self, separators } = call;
  return {
    name,
    args,
    options: parseOptions(args, grammar),
    stdin,
    posix,
    cwd,
    home,
    files,
    inputs,
    self,
    separators,
  };
}

/** Returns true if these effects run more code, or write more files, than the `others`. */
export function runsMore(effects: readonly Effect[], others: readonly Effect[]): boolean {
  return exceeds(countEffects(effects.filter(isMeant)), countEffects(others.filter(isMeant)));
}

// Ignores refusals of unknown single-dash options (`unknown_option`): such a word is more likely a file name.
function isMeant(effect: Effect): boolean {
  return (
    effect.does !== 'refuse' || effect.rule !== 'unknown_option' || effect.at.text?.startsWith('--') === true
  );
}

export function exceeds(after: EffectCount, before: EffectCount): boolean {
  return after.code > before.code || after.writes > before.writes;
}

export function countEffects(effects: readonly Effect[]): EffectCount {
  const writes = effects.filter(({ does }) => does === 'write').length;
  return { code: effects.filter(({ does }) => running.has(does)).length, writes };
}

const running = new Set<Effect['does']>(['start', 'shell', 'eval', 'unknown', 'refuse', 'danger']);
