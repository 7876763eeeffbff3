/** What is to be run: text for bash, or a program with its arguments and no shell in between. */
export type Command =
  | { readonly kind: 'shell'; readonly script: string }
  | { readonly kind: 'argv'; readonly argv: readonly [string, ...string[]] };

/** The longest command that is accepted, in bytes of UTF-8. */
export const maxCommandBytes = 1_048_576;

/** A command as people read it. */
export function showCommand(command: Command): string {
  return command.kind === 'shell' ? command.script : command.argv.join(' ');
}
