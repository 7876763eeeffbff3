/**
 * The party that makes a call. These words name its parts and have no other meaning:
 * - `door`: how its calls arrive,
 * - `client`: the name of the program that calls, as the audit log records it,
 * - `owner`: the id that commands and sessions belong to; each HTTP token has one, and all local callers share one,
 * - `connection`: one MCP session or WebSocket of an owner.
 */
export interface Caller {
  readonly door: 'mcp' | 'http' | 'functions' | 'cli';
  readonly client: string;
  /** The name of its HTTP token, if it is not the server's own. */
  readonly token?: string | undefined;
  /** The `traceparent` header of W3C Trace Context, if the caller sent one. */
  readonly traceparent?: string | undefined;
}
