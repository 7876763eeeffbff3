/** What the caller sends along with the command and a program could read as code. */
export interface Surroundings {
  /** True in a persistent shell, where what a command defines is there for later ones. */
  readonly lasting?: boolean | undefined;
  /** Variables that the caller sets for the command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What stdin will be: nothing, a text that is known now, or something that is written later (also when left out). */
  readonly stdin?:
    | { readonly kind: 'none' | 'later' }
    | { readonly kind: 'text'; readonly text: string }
    | undefined;
}
