import { randomHex } from './random-hex.ts';

/** A short random id with a readable prefix: `cmd_` and twelve hexadecimal digits. */
export function createId(prefix: string): string {
  return `${prefix}_${randomHex(6)}`;
}
