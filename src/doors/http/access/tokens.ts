import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { NacreError } from '../../../contract/failure.ts';
import { readRegularFile } from '../../../support/regular-file.ts';
import { type HttpSettings, tokenPattern, tokenWords } from '../../settings.ts';

/** A random secret, as text that fits into a header, a cookie or a URL. */
export function createSecret(): string {
  return randomBytes(24).toString('base64url');
}

/** The SHA-256 of a secret; only digests are stored and compared. */
export function digest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Compares two digests in constant time. */
export function isSameDigest(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The server's own token. */
export interface OwnToken {
  readonly text: string;
  /** True for a token that was generated at this start, which has to be printed. */
  readonly isNew: boolean;
}

/** The token from `token` or `token_file`; a new one if neither is set. */
export function readToken(
  { token, tokenFile }: Pick<HttpSettings, 'token' | 'tokenFile'>,
  cwd: string,
): OwnToken {
  if (token !== undefined) return { text: token, isNew: false };
  const fresh = `nacre_${createSecret()}`;
  if (tokenFile === undefined) return { text: fresh, isNew: true };
  return { text: readOrCreate(resolve(cwd, tokenFile), fresh), isNew: false };
}

function readOrCreate(path: string, fresh: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${fresh}\n`, { mode: 0o600, flag: 'wx' });
    return fresh;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(path, error);
  }
  return readExisting(path);
}

function readExisting(path: string): string {
  try {
    const isOpen = (statSync(path).mode & 0o077) !== 0;
    if (isOpen) throw new Error('others can read it; chmod 600 it');
    const text = readRegularFile(path).trim();
    if (!tokenPattern.test(text)) throw new Error(`it must contain ${tokenWords}`);
    return text;
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, cause: unknown): NacreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new NacreError('settings_invalid', `The token file ${path} cannot be used: ${reason}.`, {
    hint: 'Correct token_file, or remove the file to get a new token.',
    cause,
  });
}
