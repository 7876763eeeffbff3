import { z } from 'zod';
import { toSessionKey } from '../../contract/session-key.ts';
import type { ToolContext } from '../common/tool.ts';

/** Schema of a persistent shell's name. */
export const sessionName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores');

/** Schema of a persistent shell's name as ListShells shows it: `NAME@MACHINE` on another than the default machine. */
export const shellName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?:@[a-z][a-z0-9_-]{0,31})?$/);

/** Returns the key of the persistent shell with that name; default: the context's session, else `main`. */
export function sessionKey(context: ToolContext, name: string | undefined): string {
  return toSessionKey(context, name ?? context.session ?? 'main');
}
