import type { ChangesMode } from './changes.ts';

/** The programs that may run: `all`, the `names`, or `none` if the setting is unset or empty. */
export type AllowList =
  | { readonly kind: 'all' }
  | { readonly kind: 'names'; readonly names: readonly string[] }
  | { readonly kind: 'none' };

/** The result of a policy decision. */
export type Verdict = 'allow' | 'ask' | 'deny';

/** An entry of the `policy` setting, matched against decoded arguments; its `examples` are checked at start-up. */
export interface PolicyRule {
  readonly verdict: Verdict;
  /** The program's name, or `*` for every program. */
  readonly program: string;
  /** One pattern per argument; `*` in a pattern matches any text, and the pattern `...` matches any number of words. */
  readonly args?: readonly string[] | undefined;
  /** Limits the rule to commands that would run in this directory or below it. */
  readonly cwd?: string | undefined;
  /** How a matching command changes files, if that is stricter than the setting; with `ask`, the user sees held changes. */
  readonly changes?: ChangesMode | undefined;
  readonly reason: string;
  readonly examples?:
    | {
        readonly matches?: readonly string[] | undefined;
        readonly spares?: readonly string[] | undefined;
      }
    | undefined;
}

/** The settings that policy decides by. */
export interface Rules {
  readonly allow: AllowList;
  /** The setting that `allow` comes from, named in refusals: `ALLOWED_COMMANDS` or `SHELL_ALLOWLIST`. */
  readonly allowSetting: string;
  /** The preset that implied `allow`. */
  readonly preset?: string | undefined;
  /** `none` refuses commands that visibly write a file; default `any`. */
  readonly fileWrites?: 'any' | 'none' | undefined;
  /** Paths in a project that a list does not protect, from the setting `unprotected`; `*` for all. */
  readonly unprotected?: readonly string[] | undefined;
  /** The list that a caller, such as an applet, narrows with its own `names`; `allow` has the names in both lists. */
  readonly general?: { readonly setting: string; readonly names: readonly string[] } | undefined;
  /** The line of the project file that narrowed `allow`, named in refusals. */
  readonly narrowedBy?: string | undefined;
  readonly danger: 'block' | 'off';
  /** `unlisted` asks before every program that is not known to be safe; default `never`. */
  readonly confirm?: 'never' | 'unlisted' | undefined;
  /** The `policy` setting; of several matching rules the strictest wins. */
  readonly policy?: readonly PolicyRule[] | undefined;
  /** Directories, besides /bin, /usr/bin, /sbin and /usr/sbin, whose programs match `allow` by basename. */
  readonly programDirs?: readonly string[] | undefined;
}

/** A program that the command would run; `pos` and `end` are offsets in its text. */
export interface FoundProgram {
  readonly name: string;
  readonly pos: number;
  readonly end: number;
  /** The program that would start it, unless that is the shell itself. */
  readonly via?: string | undefined;
  /** The entry of the allow list that covers it; absent without a list, and for a program that a rule allows. */
  readonly entry?: string | undefined;
}

/** The verdict on one command, with the explanation that a user or a model needs to act on it. */
export interface Decision {
  readonly verdict: Verdict;
  /** A stable id of the rule that decided, such as `not_listed`. */
  readonly rule: string;
  readonly reason: string;
  readonly hint?: string | undefined;
  /** The smallest settings change that would allow the command, if there is one. */
  readonly remedy?: string | undefined;
  /** The program that `rule` is about. */
  readonly program?: string | undefined;
  /** The part of the command's text that `rule` is about. */
  readonly node?: { readonly pos: number; readonly end: number; readonly text: string } | undefined;
  /** How it changes files, by the strictest matching rule; absent if no rule says so. */
  readonly changes?: ChangesMode | undefined;
  /** Every program found, in text order. */
  readonly programs: readonly FoundProgram[];
}

/** Names for error messages: the caller's field, such as `cwd`, and the setting that restricts it, such as `ALLOWED_CWD_ROOTS`. */
export interface CwdNames {
  readonly field: string;
  readonly setting: string;
}
