import type { Share } from './share.ts';

/** Restrictions of one caller, such as those of an HTTP token, in addition to the general rules. */
export interface Narrowing {
  /** The only programs that the caller may run; if absent, all that the rules allow. */
  readonly allow?: readonly string[] | undefined;
  /** Directories that its commands must run in, in addition to those of the rules. */
  readonly cwdRoots?: readonly string[] | undefined;
  /** Its share of the commands that may run at the same time. */
  readonly share?: Share | undefined;
  /** The name of the caller's token. */
  readonly token?: string | undefined;
  /** Where these restrictions are configured, for refusals. */
  readonly named: string;
}
