/** The parts of an MCP result that carry a reply: text, structured data, or both. */
export const replyShapes = ['both', 'text', 'data'] as const;

/** One of `replyShapes`. */
export type ReplyShape = (typeof replyShapes)[number];

/** The size of a reply that the caller's client passes on to its model completely. */
export interface ReplyLimits {
  /** UTF-8 bytes of the whole reply; undefined if no limit is known. */
  readonly maxBytes?: number | undefined;
  readonly maxLines: number;
  /** True if they were measured; otherwise a call that asks for more output gets it. */
  readonly isMeasured: boolean;
}
