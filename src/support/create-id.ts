import { randomBytes } from 'node:crypto';

/** A short random id with a readable prefix: `cmd_` and twelve hexadecimal digits. */
export function createId(prefix: string): string {
  return `${prefix}_${randomBytes(6).toString('hex')}`;
}
