import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A secret that nobody can guess, as text for a header, a cookie or an address. */
export function createSecret(): string {
  return randomBytes(24).toString('base64url');
}

/** What stands for a secret where it is kept and compared. */
export function digest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Compares in a time that tells nothing about the secret. */
export function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
