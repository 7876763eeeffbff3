import { type Declarations, listSettings, type Setting } from './define.ts';
import { toPlaceholder } from './describe.ts';
import { didYouMean } from './nearest.ts';
import type { Offers, SettingProblem } from './offer.ts';

/** One flag as it stood on the command line; a list's flag may stand there several times. */
export interface GivenFlag {
  readonly flag: string;
  readonly text: string;
}

/** A command line taken apart. Its problems are reported by `resolveSettings`, with all others. */
export interface ParsedFlags {
  /** What was given, by the name of the setting. */
  readonly given: ReadonlyMap<string, readonly GivenFlag[]>;
  readonly positionals: readonly string[];
  readonly problems: readonly SettingProblem[];
}

/** How a command line is read. */
export interface ParseFlagsOptions {
  /** The first word that is no flag ends the flags: it and all that follows are positionals. */
  readonly stopAtPositional?: boolean;
}

/** Reads `--name value`, `--name=value`, `--switch`, `--no-switch`, short flags and `--`. */
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
      index += reader.take(word, argv[index + 1]);
    }
  }
  return reader.finish([]);
}

/** What the flags give to these settings. */
export function offersFromFlags(flags: ParsedFlags, settings: readonly Setting[]): Offers {
  const offers = settings.flatMap((setting) => {
    const [first, ...more] = flags.given.get(setting.name) ?? [];
    if (first === undefined) return [];
    const given = [first, ...more].map(({ text }) => text).join(',');
    return [{ setting, source: 'flag' as const, where: first.flag, given }];
  });
  return { offers, problems: flags.problems };
}

/** A setting as the command line gave it. */
export interface GivenSetting {
  /** Every flag that gives it. */
  readonly flags: readonly string[];
  readonly variable: string | undefined;
  /** What its text is. */
  readonly kind: 'path' | 'paths' | 'other';
  readonly text: string;
}

/** The settings that the command line gave, as they would be given to another process. */
export function listGiven(flags: ParsedFlags, settings: readonly Setting[]): readonly GivenSetting[] {
  return settings.flatMap((setting) => {
    const texts = (flags.given.get(setting.name) ?? []).map(({ text }) => text);
    if (texts.length === 0) return [];
    const kind = !setting.path ? 'other' : setting.kind.type === 'list' ? 'paths' : 'path';
    return [{ flags: setting.flags, variable: setting.env[0], kind, text: texts.join(',') }];
  });
}

/** A negative number and a lone dash are words, not flags. */
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

  /** Takes the flag at hand and returns how many words it used. */
  take(word: string, next: string | undefined): 1 | 2 {
    const equals = word.indexOf('=');
    const flag = equals < 0 ? word : word.slice(0, equals);
    const attached = equals < 0 ? undefined : word.slice(equals + 1);
    const setting = this.#byFlag.get(flag);
    if (setting === undefined) return this.#takeNegated(flag, attached);
    if (setting.kind.type === 'boolean') return this.#give(setting, flag, attached ?? 'true');
    if (attached !== undefined) return this.#give(setting, flag, attached);
    if (next === undefined || next.startsWith('--')) return this.#problem(flag, missingValue(setting, flag));
    this.#give(setting, flag, next);
    return 2;
  }

  finish(rest: readonly string[]): ParsedFlags {
    return { given: this.#given, positionals: [...this.positionals, ...rest], problems: this.#problems };
  }

  #takeNegated(flag: string, attached: string | undefined): 1 {
    const setting = flag.startsWith('--no-') ? this.#byFlag.get(`--${flag.slice(5)}`) : undefined;
    if (setting?.kind.type !== 'boolean') {
      return this.#problem(flag, `This flag is not known.${didYouMean(flag, this.#byFlag.keys())}`);
    }
    if (attached !== undefined) return this.#problem(flag, 'This flag takes no value.');
    return this.#give(setting, flag, 'false');
  }

  #give(setting: Setting, flag: string, text: string): 1 {
    const before = this.#given.get(setting.name) ?? [];
    if (before.length > 0 && setting.kind.type !== 'list') {
      return this.#problem(flag, `${setting.key} is given twice; give it once.`);
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
