import type { Candidates, SettingProblem } from './candidate.ts';
import { type Declarations, listSettings, type Setting } from './define.ts';
import { toPlaceholder } from './describe.ts';
import { didYouMean } from './nearest.ts';

/** One occurrence of a flag on the command line; only a list's flag may occur several times. */
export interface GivenFlag {
  readonly flag: string;
  readonly text: string;
}

/** A parsed command line. `resolveSettings` reports its problems together with those of other sources. */
export interface ParsedFlags {
  /** The flags that were given, by setting name. */
  readonly given: ReadonlyMap<string, readonly GivenFlag[]>;
  readonly positionals: readonly string[];
  readonly problems: readonly SettingProblem[];
}

/** Options for `parseFlags`. */
export interface ParseFlagsOptions {
  /** True if the first word that is not a flag ends the flags: it and everything after it are positionals. */
  readonly stopAtPositional?: boolean;
}

/** Parses `--name value`, `--name=value`, `--switch`, `--no-switch`, short flags and `--`. */
export function parseFlags(
  argv: readonly string[],
  declarations: Declarations,
  options: ParseFlagsOptions = {},
): ParsedFlags {
  const reader = new FlagReader(listSettings(declarations));
  let index = 0;
  while (index < argv.length) {
    const word = argv[index] ?? '';
    if (word === '--') return reader.finish(argv.slice(index + 1));
    if (!isFlag(word)) {
      if (options.stopAtPositional) return reader.finish(argv.slice(index));
      reader.positionals.push(word);
      index += 1;
    } else {
      index += reader.read(word, argv[index + 1]);
    }
  }
  return reader.finish([]);
}

/** The candidates for these settings on the command line. */
export function candidatesFromFlags(flags: ParsedFlags, settings: readonly Setting[]): Candidates {
  const candidates = settings.flatMap((setting) => {
    const [first, ...more] = flags.given.get(setting.name) ?? [];
    if (first === undefined) return [];
    const raw = [first, ...more].map(({ text }) => text).join(',');
    return [{ setting, source: 'flag' as const, where: first.flag, raw }];
  });
  return { candidates, problems: flags.problems };
}

/** A setting from the command line, in a form that can be passed on. */
export interface GivenSetting {
  /** Every flag that sets it. */
  readonly flags: readonly string[];
  readonly variable: string | undefined;
  /** Whether `text` is a path, a comma-separated list of paths, or neither. */
  readonly kind: 'path' | 'paths' | 'other';
  readonly text: string;
}

/** The settings on the command line, as `nacre init` writes them into a client's configuration. */
export function listGiven(flags: ParsedFlags, settings: readonly Setting[]): readonly GivenSetting[] {
  return settings.flatMap((setting) => {
    const texts = (flags.given.get(setting.name) ?? []).map(({ text }) => text);
    if (texts.length === 0) return [];
    const kind = !setting.path ? 'other' : setting.kind.type === 'list' ? 'paths' : 'path';
    return [{ flags: setting.flags, variable: setting.env[0], kind, text: texts.join(',') }];
  });
}

/** A negative number and a single `-` are words, not flags. */
function isFlag(word: string): boolean {
  return /^-[^\d]/.test(word);
}

class FlagReader {
  readonly positionals: string[] = [];
  readonly #given = new Map<string, GivenFlag[]>();
  readonly #problems: SettingProblem[] = [];
  readonly #byFlag: ReadonlyMap<string, Setting>;

  constructor(settings: readonly Setting[]) {
    this.#byFlag = new Map(settings.flatMap((setting) => setting.flags.map((flag) => [flag, setting])));
  }

  /** Reads the flag in `word`, whose value may be `next`; returns how many words it used. */
  read(word: string, next: string | undefined): 1 | 2 {
    const equals = word.indexOf('=');
    const flag = equals < 0 ? word : word.slice(0, equals);
    const attached = equals < 0 ? undefined : word.slice(equals + 1);
    const setting = this.#byFlag.get(flag);
    if (setting === undefined) return this.#readNegated(flag, attached);
    if (setting.kind.type === 'boolean') return this.#add(setting, flag, attached ?? 'true');
    if (attached !== undefined) return this.#add(setting, flag, attached);
    if (next === undefined || next.startsWith('--')) return this.#problem(flag, missingValue(setting, flag));
    this.#add(setting, flag, next);
    return 2;
  }

  finish(rest: readonly string[]): ParsedFlags {
    return { given: this.#given, positionals: [...this.positionals, ...rest], problems: this.#problems };
  }

  #readNegated(flag: string, attached: string | undefined): 1 {
    const setting = flag.startsWith('--no-') ? this.#byFlag.get(`--${flag.slice(5)}`) : undefined;
    if (setting?.kind.type !== 'boolean') {
      return this.#problem(flag, `Unknown flag.${didYouMean(flag, this.#byFlag.keys())}`);
    }
    if (attached !== undefined) return this.#problem(flag, 'This flag takes no value.');
    return this.#add(setting, flag, 'false');
  }

  #add(setting: Setting, flag: string, text: string): 1 {
    const before = this.#given.get(setting.name) ?? [];
    if (before.length > 0 && setting.kind.type !== 'list') {
      return this.#problem(flag, `${setting.key} is set twice; set it once.`);
    }
    this.#given.set(setting.name, [...before, { flag, text }]);
    return 1;
  }

  #problem(where: string, message: string): 1 {
    this.#problems.push({ where, message });
    return 1;
  }
}

function missingValue(setting: Setting, flag: string): string {
  return `${setting.key} needs a value: ${flag}=${toPlaceholder(setting)}.`;
}
