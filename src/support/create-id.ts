import { randomHex } from './random-hex.ts';

/** A short random id with a readable prefix, such as `cmd_` and twelve hex digits. */
export function createId(prefix: string): string {
  return `${prefix}_${randomHex(6)}`;
}
