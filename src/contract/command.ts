/** A command to run: a script for bash, or a program with its arguments that is executed without a shell. */
export type Command =
  | { readonly kind: 'shell'; readonly script: string }
  | { readonly kind: 'argv'; readonly argv: readonly [string, ...string[]] };

/** The longest accepted `script`, in bytes of UTF-8. */
export const maxCommandBytes = 1_048_576;

/** The command as text for display; `argv` is joined with blanks, unquoted. */
export function showCommand(command: Command): string {
  return command.kind === 'shell' ? command.script : command.argv.join(' ');
}

/** Input from the caller that a program of the command could execute as code. */
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
