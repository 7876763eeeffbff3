import { z } from 'zod';
import { toSessionKey } from '../../contract/session-key.ts';
import type { ToolContext } from '../define-tool.ts';

/** The name of a persistent shell. */
export const sessionName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores');

/** The key of the persistent shell that a call means. */
export function sessionKey(context: ToolContext, name: string | undefined): string {
  return toSessionKey(context, name ?? context.session ?? 'main');
}
