/** Which programs may run: all, exactly these, or none at all because the list is unset or empty. */
export type AllowList =
  | { readonly kind: 'all' }
  | { readonly kind: 'names'; readonly names: readonly string[] }
  | { readonly kind: 'none' };

/** What can become of a command. */
export type Verdict = 'allow' | 'ask' | 'deny';

/** A rule that people write in the settings, matched on decoded arguments; its examples are checked at the start. */
export interface PolicyRule {
  readonly verdict: Verdict;
  /** The program's name, or `*` for every program. */
  readonly program: string;
  /** Patterns for the arguments, each matching one word; `*` in a pattern stands for any text, `...` for any words. */
  readonly args?: readonly string[] | undefined;
  /** The rule holds only when the command would run in this directory or below it. */
  readonly cwd?: string | undefined;
  readonly reason: string;
  readonly examples?:
    | {
        readonly matches?: readonly string[] | undefined;
        readonly spares?: readonly string[] | undefined;
      }
    | undefined;
}

/** What policy is told by the settings. */
export interface Rules {
  readonly allow: AllowList;
  /** The name of the setting that holds the list, for refusals: `ALLOWED_COMMANDS`, `SHELL_ALLOWLIST`. */
  readonly allowSetting: string;
  /** The preset that the list came from. */
  readonly preset?: string | undefined;
  /** `none` refuses every file that the command is seen to write; default `any`. */
  readonly fileWrites?: 'any' | 'none' | undefined;
  /** Where a project's file narrows the list; what is to run must then be in both. */
  readonly narrowedBy?: string | undefined;
  readonly danger: 'block' | 'off';
  /** `unlisted` asks before whatever is not generally safe; default `never`. */
  readonly confirm?: 'never' | 'unlisted' | undefined;
  /** The rules from the settings; the strictest that matches wins. */
  readonly policy?: readonly PolicyRule[] | undefined;
  /** Directories beside /bin, /usr/bin, /sbin, /usr/sbin whose programs match listed names by basename. */
  readonly programDirs?: readonly string[] | undefined;
}

/** A program that the command would run, and where it stands in the text. */
export interface FoundProgram {
  readonly name: string;
  readonly pos: number;
  readonly end: number;
  /** The program that would start it, when it is not the shell itself. */
  readonly via?: string | undefined;
}

/** The verdict on one command, with what a person or a model needs to act on it. */
export interface Decision {
  readonly verdict: Verdict;
  /** A stable name of the rule that decided, such as `not_listed`. */
  readonly rule: string;
  readonly reason: string;
  readonly hint?: string | undefined;
  /** The smallest change of settings that would allow it, when there is one. */
  readonly remedy?: string | undefined;
  /** The program that the rule is about. */
  readonly program?: string | undefined;
  /** The piece of the command that the rule is about. */
  readonly node?: { readonly pos: number; readonly end: number; readonly text: string } | undefined;
  /** Every program found, in the order of the text. */
  readonly programs: readonly FoundProgram[];
}

/** What callers call the directory of a command, and the setting that restricts it. */
export interface CwdNames {
  readonly field: string;
  readonly setting: string;
}
