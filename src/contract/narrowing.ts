/** What one caller may do of what the rules allow. */
export interface Narrowing {
  /** The only programs that it may run; all of the rules' when absent. */
  readonly allow?: readonly string[] | undefined;
  /** Directories that its commands must lie in, beside the rules' own. */
  readonly cwdRoots?: readonly string[] | undefined;
  /** Where this is written, for refusals. */
  readonly named: string;
}
