import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import { type HttpSettings, tokenPattern, tokenWords } from '../settings.ts';

/** The server's own token, and whether nobody knows it yet. */
export interface OwnToken {
  readonly text: string;
  readonly isNew: boolean;
}

/** The token that the settings give or a file holds; a new one when there is none. */
export function readToken(
  { token, tokenFile }: Pick<HttpSettings, 'token' | 'tokenFile'>,
  cwd: string,
): OwnToken {
  if (token !== undefined) return { text: token, isNew: false };
  const fresh = `nacre_${randomBytes(24).toString('base64url')}`;
  if (tokenFile === undefined) return { text: fresh, isNew: true };
  return { text: fromFile(resolve(cwd, tokenFile), fresh), isNew: false };
}

function fromFile(path: string, fresh: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${fresh}\n`, { mode: 0o600, flag: 'wx' });
    return fresh;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unreadable(path, error);
  }
  return readKept(path);
}

function readKept(path: string): string {
  try {
    const isOpen = (statSync(path).mode & 0o077) !== 0;
    if (isOpen) throw new Error('others can read it; chmod 600 it');
    const text = readFileSync(path, 'utf8').trim();
    if (!tokenPattern.test(text)) throw new Error(`it must hold ${tokenWords}`);
    return text;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): NacreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new NacreError('settings_invalid', `The token file ${path} cannot be used: ${reason}.`, {
    hint: 'Correct token_file, or remove the file to get a new token.',
    cause,
  });
}
