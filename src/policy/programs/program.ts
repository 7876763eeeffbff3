// What the policy knows about programs, one entry a program.
//
// 1. An entry names the program, says which options it has (`options`, see ../options/grammar.ts) and what a call of
//    it does (`effects`): the programs it starts, the text it hands to a shell, the files it writes where nobody
//    would expect that, or that it would run code the list does not cover.
// 2. Its examples are checked by catalog.test.ts:
//    - `runs`: refused while only the entry's own names are listed. `['env touch x', 'touch']` is also allowed once
//      the further names are listed.
//    - `harmless`: allowed while only the entry's own names (and the further names given) are listed.
// 3. A file exports one array of entries; catalog.ts collects them. A program without an entry takes its arguments
//    as data.
//
// To add a program: put an entry into the file of its kind (or a new file, added to catalog.ts):
//
//   { names: ['nice'], options: { short: 'n:', long: 'adjustment= help version', stop: true },
//     effects: startsOperands, runs: [['nice -n 5 touch x', 'touch']], harmless: ['nice'] }
//
// `startsOperands`, `startsAfter(1)`, `refuseOptions(…)`, `shellOptions(…)` in ./effects.ts say the usual things;
// anything else is a function from the call to its effects. Effects work on words (`Arg`): `arg.text` is undefined when
// the word is not known. For what cannot be known, give `{ does: 'unknown', … }`: it refuses under a list and passes
// under `*`.
import type { OptionGrammar } from '../options/grammar.ts';
import type { ProgramCall } from '../options/program-call.ts';
import type { Arg } from '../words/arg.ts';
import type { Stdin } from '../words/output.ts';

/** A command that shows what an entry knows; the names after it are listed too. */
export type Example = string | readonly [command: string, ...also: string[]];

/** What is known about a program. */
export interface ProgramEntry {
  readonly names: readonly string[];
  /** `only` for what exists in the shell alone, so that a wrapper cannot start it. */
  readonly builtin?: 'only';
  readonly options?: OptionGrammar;
  readonly effects?: (call: ProgramCall) => readonly Effect[];
  /** What it prints, when that can be known. */
  readonly output?: (
    call: ProgramCall,
  ) => string | { readonly text: string; readonly more: true } | undefined;
  /** Must be refused while only this program is listed. */
  readonly runs: readonly Example[];
  /** Must be allowed while only this program is listed. */
  readonly harmless: readonly Example[];
}

/** What a call does, as far as the policy must know. */
export type Effect =
  /** Starts a program: the words are its name and arguments. */
  | {
      readonly does: 'start';
      readonly argv: readonly Arg[];
      readonly stdin?: Stdin;
      readonly env?: readonly (readonly [name: string, value: Arg])[];
      readonly cwd?: Arg | undefined;
      /** True when functions and builtins of the shell are meant too. */
      readonly inShell?: boolean;
    }
  /** Hands text to a new shell, which gets `args` as $0, $1, … */
  | {
      readonly does: 'shell';
      readonly text: Arg;
      readonly args?: readonly Arg[];
      readonly env?: readonly (readonly [name: string, value: Arg])[];
    }
  /** Might hand text to a shell: looked through for danger only, and no matter when it does not parse. */
  | { readonly does: 'perhaps'; readonly text: Arg }
  /** Has this shell evaluate text; `later` for what runs at the end or between other commands, such as a trap. */
  | {
      readonly does: 'eval';
      readonly text: Arg;
      readonly later?: 'atExit' | 'between';
      /** $1, $2, … while it is evaluated, when it has its own. */
      readonly args?: readonly Arg[];
    }
  /** Runs something that cannot be known: refused under a list. */
  | { readonly does: 'unknown'; readonly at: Arg; readonly reason: string }
  /** Does what being listed does not cover: refused under a list. */
  | { readonly does: 'refuse'; readonly at: Arg; readonly reason: string; readonly rule?: string }
  /** Is danger under every list. */
  | { readonly does: 'danger'; readonly at: Arg; readonly rule: string; readonly reason: string }
  /** Writes a file. */
  | { readonly does: 'write'; readonly path: Arg }
  /** Sets a variable of the shell; no value means one that is not known. */
  | {
      readonly does: 'assign';
      readonly name: Arg;
      readonly value?: Arg | undefined;
      /** Set when it may also get something else, made from this text. */
      readonly uncertain?: string;
      readonly attributes?: {
        readonly exported?: boolean;
        readonly local?: boolean;
        readonly integer?: boolean;
        /** Written in another case than given. */
        readonly recased?: boolean;
        readonly nameref?: boolean;
        readonly readonly?: boolean;
        /** Past the locals of the running functions. */
        readonly global?: boolean;
      };
    }
  /** Gives a variable attributes and leaves its value. */
  | {
      readonly does: 'mark';
      readonly name: string;
      readonly attributes: {
        readonly exported?: boolean;
        readonly local?: boolean;
        readonly integer?: boolean;
        /** Written in another case than given. */
        readonly recased?: boolean;
        readonly nameref?: boolean;
        readonly readonly?: boolean;
        readonly global?: boolean;
      };
    }
  /** Removes a variable or function. */
  | { readonly does: 'unset'; readonly name: Arg; readonly what: 'variable' | 'function' }
  | { readonly does: 'exportFunction'; readonly name: Arg }
  /** Has bash evaluate a word once more. */
  | { readonly does: 'evaluate'; readonly text: Arg; readonly as: 'arithmetic' | 'name' | 'prompt' }
  /** Changes the shell's directory; no path means one that is not known. */
  | { readonly does: 'chdir'; readonly path: Arg | undefined }
  | { readonly does: 'alias'; readonly name: string; readonly text: Arg }
  /** Sets `$1`, `$2`, … */
  | { readonly does: 'positional'; readonly args: readonly Arg[] | 'shift' | 'unknown' };
