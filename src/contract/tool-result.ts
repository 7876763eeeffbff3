/** The result of a tool that a program calls; a failed command still has its `output`. */
export interface ToolResult {
  readonly success: boolean;
  readonly output: string;
  /** Present if `success` is false. */
  readonly error?: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}
