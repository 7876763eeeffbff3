/**
 * Digests of another machine's secrets, with which the near side finds them in output and records without receiving
 * them.
 */
export interface SecretDigests {
  /** The key of the digests, in hexadecimal digits. */
  readonly key: string;
  readonly secrets: readonly SecretDigest[];
}

/** A secret by its length, two checksums that find candidates, and a digest that confirms one. */
export interface SecretDigest {
  readonly bytes: number;
  /** The checksums of its first and its last `windowOf(bytes)` bytes. */
  readonly first: number;
  readonly last: number;
  /** HMAC with SHA-256, in hexadecimal digits. */
  readonly digest: string;
  /** Its beginnings up to each blank, by length and checksum: output that ends with one may continue as the secret. */
  readonly beginnings: readonly (readonly [bytes: number, sum: number])[];
}

/** The shortest text that is treated as a secret. */
export const shortestSecret = 6;
/** The longest secret; the worker divides longer ones. */
export const longestSecret = 4_096;
/** The most secrets of one machine. */
export const mostSecrets = 512;
/** The most `beginnings` of one secret. */
export const mostBeginnings = 64;
