/**
 * The options of a program, as its own parser sees them.
 *
 * - `short`: one letter each, a colon after those that take a value, two after those whose value must be attached:
 *   `'0iu:C:v'`.
 * - `long`: names separated by blanks, `=` after those that take a value, `[=]` when the value is optional:
 *   `'ignore-environment unset= chdir= block-signal[=]'`. Every abbreviation that is unambiguous is understood.
 * - `stop`: options end at the first operand, as with programs that start other programs.
 * - `plus`: `+x` is an option too, as with bash.
 */
export interface OptionGrammar {
  readonly short?: string;
  readonly long?: string;
  readonly stop?: boolean;
  readonly plus?: boolean;
  /** Long options may be written with one dash, as in `-name value`; there are no clusters then. */
  readonly singleDash?: boolean;
}

/** Whether an option takes a value: never, always, or only when it is attached. */
export type Takes = 'nothing' | 'value' | 'attached';

/** A grammar's options by name. */
export interface KnownOptions {
  readonly short: ReadonlyMap<string, Takes>;
  readonly long: ReadonlyMap<string, Takes>;
}

/** A program of which no options are known. */
export const noOptions: OptionGrammar = {};

const cache = new WeakMap<OptionGrammar, KnownOptions>();

/** The options that a grammar describes, read once. */
export function optionsOf(grammar: OptionGrammar): KnownOptions {
  const found = cache.get(grammar);
  if (found !== undefined) return found;
  const known = { short: shortOptions(grammar), long: longOptions(grammar) };
  cache.set(grammar, known);
  return known;
}

function shortOptions(grammar: OptionGrammar): Map<string, Takes> {
  const found = new Map<string, Takes>();
  for (const [, letter = '', colons = ''] of (grammar.short ?? '').matchAll(/([^:])(:{0,2})/g)) {
    found.set(letter, colons === '' ? 'nothing' : colons === ':' ? 'value' : 'attached');
  }
  return found;
}

function longOptions(grammar: OptionGrammar): Map<string, Takes> {
  const names = (grammar.long ?? '').split(' ').filter((name) => name !== '');
  return new Map(
    names.map((name) => [
      name.replace(/\[?=\]?$/, ''),
      name.endsWith('[=]') ? 'attached' : name.endsWith('=') ? 'value' : 'nothing',
    ]),
  );
}
