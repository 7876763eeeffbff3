/** The parts of an MCP result that carry a reply: text, structured data, or both. */
export const replyShapes = ['both', 'text', 'data'] as const;

/** One of `replyShapes`. */
export type ReplyShape = (typeof replyShapes)[number];
