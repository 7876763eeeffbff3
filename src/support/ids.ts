import { randomFillSync } from 'node:crypto';

/** A short random id with a readable prefix, such as `cmd_` and twelve hex digits. */
export function createId(prefix: string, bytes = 6): string {
  return `${prefix}_${randomHex(bytes)}`;
}

// Filled in one call: each `randomFillSync` costs as much as all other bookkeeping of a small command.
const pool = Buffer.alloc(4_096);
let used = pool.length;

/** Cryptographically random bytes as hex digits; no byte of the pool is used twice. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}
