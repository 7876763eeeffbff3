import { z } from 'zod';
import { toNacreError } from '../../contract/failure.ts';
import type { ToolResult } from '../../contract/tool-result.ts';
import type { ToolReply } from '../define-tool.ts';

/** A result of these tools, and what machines may want to know beside it. */
export interface BashResult extends ToolResult {
  readonly meta?: ToolReply['meta'];
  readonly logOf?: ToolReply['logOf'];
}

/** A result in process, and the same as text and data for models; fields without a value are left out. */
export function bashReply({ success, output, error, metadata: all, meta, logOf }: BashResult): ToolReply {
  const metadata = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const result = { success, output, ...(error !== undefined && { error }), metadata };
  const text = [output, error].filter((part) => part !== undefined && part !== '').join('\n');
  const structured = error === undefined ? metadata : { ...metadata, error };
  return { text, structured, isError: !success, result, logOf, ...(meta && { meta }) };
}

/** What a result of these tools has as data where something went wrong. */
export const failureOutput = {
  error: z.string().optional(),
  code: z.string().optional(),
  hint: z.string().optional(),
  rule: z.string().optional(),
  program: z.string().optional(),
};

/** What kept a tool from doing its work. */
export function bashFailure(error: unknown): ToolReply {
  const { code, message, hint, details } = toNacreError(error);
  const words = code === 'policy_denied' ? `Command blocked: ${message}` : message;
  const sentence = hint === undefined ? words : `${words} ${hint}`;
  const { rule, program } = details;
  return bashReply({
    success: false,
    output: '',
    error: sentence,
    metadata: { code, hint, rule, program },
  });
}
