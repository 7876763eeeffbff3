/** One of `of` equal shares of a limit, such as that of a named token; a caller without a share is the server's owner. */
export interface Share {
  readonly key: string;
  readonly of: number;
}
