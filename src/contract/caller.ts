/** Who asks: through which door, and by what name that client goes. */
export interface Caller {
  readonly door: 'mcp' | 'http' | 'functions' | 'cli';
  readonly client: string;
}
