/**
 * The options of a program, as its own parser reads them.
 *
 * - `short`: one letter per option, followed by `:` if it requires a value and `::` if the value must be attached:
 *   `'0iu:C:v'`.
 * - `long`: names separated by spaces, followed by `=` if the value is required and `[=]` if it is optional:
 *   `'ignore-environment unset= chdir= block-signal[=]'`. Unambiguous abbreviations are accepted.
 * - `stop`: options end at the first operand, as in programs that start other programs.
 * - `plus`: `+x` is an option too, as in bash.
 */
export interface OptionGrammar {
  readonly short?: string;
  readonly long?: string;
  readonly stop?: boolean;
  readonly plus?: boolean;
  /** `--no-x` turns the option `--x` off. */
  readonly negatable?: boolean;
  /** Long options have one dash, as in `-name value`; letters are not clustered. */
  readonly singleDash?: boolean;
}

/** The value of an option: none, required (`-n 5`), or optional and attached (`--color=auto`). */
export type OptionValueKind = 'nothing' | 'value' | 'attached';

/** A grammar's options by name. */
export interface KnownOptions {
  readonly short: ReadonlyMap<string, OptionValueKind>;
  readonly long: ReadonlyMap<string, OptionValueKind>;
}

/** The grammar of a program without known options. */
export const noOptions: OptionGrammar = {};

const cache = new WeakMap<OptionGrammar, KnownOptions>();

/** Returns the options that a grammar describes; parsed once per grammar. */
export function optionsOf(grammar: OptionGrammar): KnownOptions {
  const found = cache.get(grammar);
  if (found !== undefined) return found;
  const known = { short: shortOptions(grammar), long: longOptions(grammar) };
  cache.set(grammar, known);
  return known;
}

function shortOptions(grammar: OptionGrammar): Map<string, OptionValueKind> {
  const found = new Map<string, OptionValueKind>();
  for (const [, letter = '', colons = ''] of (grammar.short ?? '').matchAll(/([^:])(:{0,2})/g)) {
    found.set(letter, colons === '' ? 'nothing' : colons === ':' ? 'value' : 'attached');
  }
  return found;
}

function longOptions(grammar: OptionGrammar): Map<string, OptionValueKind> {
  const names = (grammar.long ?? '').split(' ').filter((name) => name !== '');
  return new Map(
    names.map((name) => [
      name.replace(/\[?=\]?$/, ''),
      name.endsWith('[=]') ? 'attached' : name.endsWith('=') ? 'value' : 'nothing',
    ]),
  );
}
