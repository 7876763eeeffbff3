import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { NacreError } from '../contract/failure.ts';

/** Signs records, so that a chain cannot be rewritten without the key. */
export interface AuditKey {
  sign(text: string): string;
  check(text: string, signature: string): boolean;
}

const shortestSecret = 32;

/**
 * Reads a key file: PEM is an Ed25519 key, of which the public key is enough to verify; anything else is the secret of
 * an HMAC-SHA-256.
 */
export function readAuditKey(path: string): AuditKey {
  try {
    const bytes = readFileSync(path);
    const text = bytes.toString('latin1');
    if (text.includes('-----BEGIN')) return toEd25519(text);
    if (bytes.length < shortestSecret) throw new Error(`it has fewer than ${shortestSecret} bytes`);
    return toHmac(bytes);
  } catch (cause) {
    throw unusable(path, (cause as Error).message, cause);
  }
}

function toHmac(secret: Buffer): AuditKey {
  const mac = (text: string) => createHmac('sha256', secret).update(text).digest();
  return {
    sign: (text) => mac(text).toString('base64'),
    check(text, signature) {
      const given = Buffer.from(signature, 'base64');
      const wanted = mac(text);
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    },
  };
}

function toEd25519(pem: string): AuditKey {
  const secret = pem.includes('PRIVATE KEY') ? createPrivateKey(pem) : undefined;
  const open = createPublicKey(pem);
  if (open.asymmetricKeyType !== 'ed25519') throw new Error(`it is ${open.asymmetricKeyType}, not Ed25519`);
  return {
    sign: (text) => sign(null, Buffer.from(text), needed(secret)).toString('base64'),
    check: (text, signature) => verify(null, Buffer.from(text), open, Buffer.from(signature, 'base64')),
  };
}

function needed(secret: KeyObject | undefined): KeyObject {
  if (secret) return secret;
  throw new NacreError(
    'audit_unavailable',
    'audit_key is a public key, which can verify records but not sign them.',
    {
      hint: 'On the machine that runs commands, set audit_key to the file with the private key.',
    },
  );
}

function unusable(path: string, reason: string, cause: unknown): NacreError {
  return new NacreError('audit_unavailable', `The audit key ${path} cannot be used: ${reason}.`, {
    hint: 'Set audit_key to a file with an Ed25519 key in PEM, or with at least 32 random bytes. Nothing runs without it.',
    cause,
  });
}
