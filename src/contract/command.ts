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
