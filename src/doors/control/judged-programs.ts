/** The decisions of a running server about programs, after it has reloaded the settings file. */
export interface JudgedPrograms {
  readonly cwd: string;
  /** The names of the clients that use it now. */
  readonly clients: readonly string[];
  /** Where its list of programs comes from, such as `NACRE_PRESET`. */
  readonly list: { readonly source: string; readonly where: string };
  readonly programs: readonly {
    readonly program: string;
    readonly verdict: 'allow' | 'ask' | 'deny';
    readonly reason: string;
  }[];
}
