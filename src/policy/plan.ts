import type { ParsedScript } from 'unbash';
import type { Command } from '../contract/command.ts';

/** A parsed command with the names of the programs to look up. */
export interface Plan {
  readonly command: Command;
  readonly context: CommandContext;
  /** The parse tree; undefined for an `argv` command and for text that is too long or too deeply nested to parse. */
  readonly script: ParsedScript | undefined;
  /** Bare names (no slash) of programs that the command would run. */
  readonly programs: readonly string[];
}

/** Input the caller sends with the command that a program could read as code. */
export interface CommandContext {
  /** True in a persistent shell, where later commands see the functions, variables and traps this one defines. */
  readonly lasting?: boolean | undefined;
  /** Variables from the call's `env`. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The command's stdin: `none`, a known text, or `later` for input that is written while it runs (the default). */
  readonly stdin?:
    | { readonly kind: 'none' | 'later' }
    | { readonly kind: 'text'; readonly text: string }
    | undefined;
}
