// The policy's knowledge about programs, one entry per program.
//
// 1. An entry has the program's names, its options (`options`, see ../options/grammar.ts) and the effects of a call
//    (`effects`): programs that it starts, text that it passes to a shell, files that it unexpectedly writes, and code
//    that it runs although the list does not cover it.
// 2. Its examples are checked by catalog.test.ts:
//    - `runs`: refused if only the entry's own names are listed. `['env touch x', 'touch']` must also be allowed once
//      `touch` is listed too.
//    - `harmless`: allowed if only the entry's own names (and the additional names) are listed.
// 3. Each file exports one array of entries; catalog.ts collects them. The arguments of a program without an entry count
//    as data.
//
// To add a program: put an entry into the file of its kind (or a new file, added to catalog.ts):
//
//   { names: ['nice'], options: { short: 'n:', long: 'adjustment= help version', stop: true },
//     effects: startsOperands, runs: [['nice -n 5 touch x', 'touch']], harmless: ['nice'] }
//
// `startsOperands`, `startsAfter(1)`, `refuseOptions(…)` and `shellOptions(…)` in ./effects.ts cover the usual cases;
// otherwise write a function from the call to its effects. Effects work on words (`Arg`): `arg.text` is undefined if the
// word is unknown. Return `{ does: 'unknown', … }` for what is known only at run time: it is refused under a list and
// allowed under `*`.
import type { OptionGrammar } from '../options/grammar.ts';
import type { ProgramCall } from '../options/program-call.ts';
import type { Arg, Made } from '../words/arg.ts';
import type { Output, Stdin } from '../words/output.ts';

/** An example command; the names after it are listed in addition to the entry's own. */
export type Example = string | readonly [command: string, ...also: string[]];

/** The entry of a program. */
export interface ProgramEntry {
  readonly names: readonly string[];
  /** `only` for builtins that do not exist as programs, so a wrapper such as `env` cannot start them. */
  readonly builtin?: 'only';
  /**
   * Present if the program is closed: besides programs that the policy finds in a call, it executes only these helpers
   * (names, and folders of programs) and a shell. If absent, the program is open: like `npm` and `make`, it executes
   * programs that are not known in advance.
   */
  readonly closed?: readonly string[];
  /** Names of the entry that are open nevertheless, such as `clang` in the entry of `gcc`. */
  readonly open?: readonly string[];
  readonly options?: OptionGrammar;
  readonly effects?: (call: ProgramCall) => readonly Effect[];
  /** The output of a call, if it is predictable. */
  readonly output?: (call: ProgramCall) => string | (Output & { readonly more: true }) | undefined;
  /** Examples that must be refused if only this program is listed. */
  readonly runs: readonly Example[];
  /** Examples that must be allowed if only this program is listed. */
  readonly harmless: readonly Example[];
}

/** Attributes that `declare` and similar builtins give to a variable. */
export interface VariableAttributes {
  readonly exported?: boolean;
  readonly local?: boolean;
  readonly integer?: boolean;
  /** The value is converted to upper or lower case. */
  readonly recased?: boolean;
  readonly nameref?: boolean;
  readonly readonly?: boolean;
  /** Sets the global variable, not the local one of a running function. */
  readonly global?: boolean;
  /** The kind of array; bash does not evaluate the keys of an associative one. */
  readonly array?: 'associative' | 'indexed' | undefined;
}

/** An effect of a call that the policy must judge. */
export type Effect =
  /** Starts a program: the words are its name and arguments. */
  | {
      readonly does: 'start';
      readonly argv: readonly Arg[];
      readonly stdin?: Stdin;
      readonly env?: readonly (readonly [name: string, value: Arg])[];
      readonly cwd?: Arg | undefined;
      /** True if the name may also be a shell function or builtin. */
      readonly inShell?: boolean;
    }
  /** Passes text to a new shell, with `args` as `$0`, `$1`, … */
  | {
      readonly does: 'shell';
      readonly text: Arg;
      readonly args?: readonly Arg[];
      readonly env?: readonly (readonly [name: string, value: Arg])[];
    }
  /** May pass text to a shell: judged by the danger rules only, and ignored if it does not parse. */
  | { readonly does: 'perhaps'; readonly text: Arg; readonly args?: readonly Arg[] }
  /** Evaluates text in the current shell; `later` if it runs at the end or between other commands, such as a trap. */
  | {
      readonly does: 'eval';
      readonly text: Arg;
      readonly later?: 'atExit' | 'between';
      /** The positional parameters during evaluation, if it has its own. */
      readonly args?: readonly Arg[];
    }
  /** Runs a program or code that is known only at run time: refused under a list. */
  | {
      readonly does: 'unknown';
      readonly at: Arg;
      readonly reason: string;
      /** The text of the command from which a filter makes the text that is run. */
      readonly own?: string | undefined;
    }
  /** Has an effect that listing the program does not permit: refused under a list. */
  | { readonly does: 'refuse'; readonly at: Arg; readonly reason: string; readonly rule?: string }
  /** Is dangerous: refused under every list. */
  | { readonly does: 'danger'; readonly at: Arg; readonly rule: string; readonly reason: string }
  /** Has an effect that the policy cannot judge completely; the decision about an allowed command mentions it. */
  | { readonly does: 'note'; readonly at: Arg; readonly reason: string }
  /** Writes a file; `contents` if they are known in part, for programs that read the file later in the command. */
  | { readonly does: 'write'; readonly path: Arg; readonly contents?: Output }
  /** Sets a shell variable; without `value`, the value is unknown. */
  | {
      readonly does: 'assign';
      readonly name: Arg;
      readonly value?: Arg | undefined;
      /** The text after `+=`, which an integer evaluates. */
      readonly appended?: Arg | undefined;
      /** True if the value may be any of the shell's arguments, as OPTARG. */
      readonly fromArguments?: boolean;
      /** Set if the variable may also get another value made from this text. */
      readonly uncertain?: string;
      /** Set if that text is the command's own. */
      readonly made?: Made | undefined;
      /** True if no word of that text begins with a dash. */
      readonly operand?: boolean | undefined;
      readonly attributes?: VariableAttributes;
    }
  /** Changes the attributes of a variable, not its value. */
  | {
      readonly does: 'mark';
      readonly name: string;
      readonly attributes: VariableAttributes;
    }
  /** Removes a variable or function. */
  | { readonly does: 'unset'; readonly name: Arg; readonly what: 'variable' | 'function' }
  | { readonly does: 'exportFunction'; readonly name: Arg }
  /** Makes bash expand a word a second time. */
  | { readonly does: 'evaluate'; readonly text: Arg; readonly as: 'arithmetic' | 'name' | 'prompt' }
  /** Lets patterns match hidden names from now on, in any case of letters. */
  | { readonly does: 'matchHidden' }
  /** Changes the working directory; without `path`, the new directory is unknown. */
  | {
      readonly does: 'chdir';
      readonly path: Arg | undefined;
      /** Set if it returns to the previous directory, or to one of the stack of `pushd`. */
      readonly back?: 'previous' | 'stack';
    }
  | { readonly does: 'alias'; readonly name: string; readonly text: Arg }
  /** Sets `$1`, `$2`, … */
  | { readonly does: 'positional'; readonly args: readonly Arg[] | 'shift' | 'unknown' };
