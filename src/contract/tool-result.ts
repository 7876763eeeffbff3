/** What a tool comes to for a program that calls it; a command that failed keeps its output. */
export interface ToolResult {
  readonly success: boolean;
  readonly output: string;
  /** Present whenever it did not succeed. */
  readonly error?: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}
