import { randomFillSync } from 'node:crypto';

// The kernel is asked for many at a time: each question costs as much as the whole of a small command's bookkeeping.
const pool = Buffer.alloc(4_096);
let used = pool.length;

/** So many random bytes, in hexadecimal digits; nobody can guess them, and none is given out twice. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}
