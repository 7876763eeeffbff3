import { type Arg, mayBeOption, prefixOf, withoutPrefix } from '../words/arg.ts';
import { type OptionGrammar, type OptionValueKind, optionsOf } from './grammar.ts';

/** One option as given. An ambiguous abbreviation such as `--re` yields one entry for each name it may mean. */
export interface GivenOption {
  readonly name: string;
  readonly value: Arg | undefined;
  /** The word that contains it. */
  readonly at: Arg;
  /** The index of that word. */
  readonly index: number;
}

/** A program's parsed arguments. */
export interface ParsedOptions {
  readonly given: readonly GivenOption[];
  readonly operands: readonly Arg[];
  /** Option words that are not in the grammar. */
  readonly unrecognised: readonly Arg[];
  /** The first word that may be an option or an operand, such as `$x`; it may change what later words mean. */
  readonly ambiguous: Arg | undefined;
  has(...names: string[]): boolean;
  values(...names: string[]): Arg[];
  last(...names: string[]): Arg | undefined;
}

/** Parses a program's arguments as `getopt_long` would. */
export function parseOptions(args: readonly Arg[], grammar: OptionGrammar): ParsedOptions {
  const reader = new Reader(args, grammar);
  reader.read();
  return reader;
}

/** Returns words that `options` takes for values, but that are options of the grammar if the program reads fewer values. */
export function hiddenOptions(
  args: readonly Arg[],
  grammar: OptionGrammar,
  { given }: ParsedOptions,
): readonly Arg[] {
  const values = given.flatMap(({ value, index }) => {
    const next = args[index + 1];
    return value !== undefined && value === next && prefixOf(value).startsWith('-') ? [value] : [];
  });
  return values.filter((value) => parseOptions([value], grammar).given.length > 0);
}

class Reader implements ParsedOptions {
  readonly given: GivenOption[] = [];
  readonly operands: Arg[] = [];
  readonly unrecognised: Arg[] = [];
  ambiguous: Arg | undefined;
  private at = 0;
  private readonly args: readonly Arg[];
  private readonly grammar: OptionGrammar;
  private readonly short: ReadonlyMap<string, OptionValueKind>;
  private readonly long: ReadonlyMap<string, OptionValueKind>;

  constructor(args: readonly Arg[], grammar: OptionGrammar) {
    this.args = args;
    this.grammar = grammar;
    const known = optionsOf(grammar);
    this.short = known.short;
    this.long = known.long;
  }

  has(...names: string[]): boolean {
    return this.given.some((option) => names.includes(option.name));
  }

  values(...names: string[]): Arg[] {
    const values: Arg[] = [];
    for (const { name, value } of this.given)
      if (value !== undefined && names.includes(name)) values.push(value);
    return values;
  }

  last(...names: string[]): Arg | undefined {
    return this.given.findLast((option) => names.includes(option.name))?.value;
  }

  read(): void {
    while (this.at < this.args.length) {
      const arg = this.args[this.at++];
      if (arg === undefined) break;
      if (arg.text === '--') {
        this.rest();
        return;
      }
      const start = prefixOf(arg);
      const dashed = start.length > 1 && start.startsWith('-');
      if (start.startsWith('--')) this.readLong(arg, start, 2);
      else if (dashed && this.grammar.singleDash) this.readLong(arg, start, 1);
      else if (dashed || (this.grammar.plus && /^\+./.test(start))) this.readCluster(arg, start);
      else {
        if (mayBeOption(arg) && arg.text !== '-') this.ambiguous ??= arg;
        this.operands.push(arg);
        if (this.grammar.stop) this.rest();
      }
    }
  }

  private rest(): void {
    this.operands.push(...this.args.slice(this.at));
    this.at = this.args.length;
  }

  private readLong(arg: Arg, start: string, dashes: number): void {
    const equals = start.indexOf('=');
    // Without `=` in the known prefix, a hole may complete or extend the option name.
    if (equals < 0 && arg.text === undefined) this.ambiguous ??= arg;
    const typed = start.slice(dashes, equals < 0 ? undefined : equals);
    const names = this.matching(typed);
    if (names.length === 0) this.unrecognised.push(arg);
    const attached = equals < 0 ? undefined : withoutPrefix(arg, equals + 1);
    const takesNext = attached === undefined && names.some((name) => this.long.get(name) === 'value');
    const index = this.at - 1;
    const value = attached ?? (takesNext ? this.args[this.at++] : undefined);
    for (const name of names) this.given.push({ name, value, at: arg, index });
  }

  private matching(typed: string): string[] {
    if (this.long.has(typed)) return [typed];
    const names = typed === '' ? [] : [...this.long.keys()].filter((name) => name.startsWith(typed));
    const negated = names.length === 0 && this.grammar.negatable === true && typed.startsWith('no-');
    return negated && this.long.has(typed.slice('no-'.length)) ? [typed] : names;
  }

  private readCluster(arg: Arg, start: string): void {
    const index = this.at - 1;
    for (let at = 1; at < start.length; at++) {
      const name = start.charAt(at);
      const kind = this.short.get(name);
      if (kind === undefined) {
        this.unrecognised.push(arg);
        continue;
      }
      if (kind === 'nothing') {
        this.given.push({ name, value: undefined, at: arg, index });
        continue;
      }
      const attached = withoutPrefix(arg, at + 1);
      const value = attached.text === '' ? (kind === 'value' ? this.args[this.at++] : undefined) : attached;
      this.given.push({ name, value, at: arg, index });
      return;
    }
    // A hole after the letters may contain more letters.
    if (arg.text === undefined) this.ambiguous ??= arg;
  }
}
