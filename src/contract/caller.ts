/** Who asks: through which door, and by what name that client goes. */
export interface Caller {
  readonly door: 'mcp' | 'http' | 'functions' | 'cli';
  readonly client: string;
  /** The caller's place in a trace, as the header of W3C's trace context has it. */
  readonly traceparent?: string | undefined;
}
