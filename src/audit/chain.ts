import { hash } from 'node:crypto';
import type { AuditKey } from './audit-key.ts';

/** The `prev` value of the first record, in place of a digest. */
export const genesis = '0'.repeat(64);

/** The SHA-256 digest of a line including its line break, which the next line contains as `prev`. */
export function digestOf(line: string | Uint8Array): string {
  return hash('sha256', line, 'hex');
}

/** Serialises a record as one line including the line break, with a `sig` field if there is a key. */
export function toLine(body: Readonly<Record<string, unknown>>, key: AuditKey | undefined): string {
  const text = JSON.stringify(body);
  return key === undefined ? `${text}\n` : `${text.slice(0, -1)}${signMark}${key.sign(text)}"}\n`;
}

const signMark = ',"sig":"';

/** A parsed line: its position in the chain, and a `problem` with its signature. */
export interface ReadLine {
  readonly body: Readonly<Record<string, unknown>>;
  readonly seq: number;
  readonly prev: string;
  readonly problem: string | undefined;
}

/** Parses a line without its line break; null if it is not a record. */
export function readLine(line: string, key: AuditKey | undefined): ReadLine | null {
  try {
    const body = JSON.parse(line) as Record<string, unknown>;
    const { seq, prev } = body;
    if (typeof seq !== 'number' || typeof prev !== 'string') return null;
    return { body, seq, prev, problem: key && checkSignature(line, key) };
  } catch {
    return null;
  }
}

function checkSignature(line: string, key: AuditKey): string | undefined {
  const at = line.lastIndexOf(signMark);
  if (at < 0 || !line.endsWith('"}')) return 'is not signed';
  const isValid = key.check(`${line.slice(0, at)}}`, line.slice(at + signMark.length, -2));
  return isValid ? undefined : 'has an invalid signature';
}

/** The expected position of a line: its `seq` and, as `prev`, the digest of the line before it. */
export interface ChainPosition {
  readonly seq: number;
  readonly prev: string;
}

/** The position of the first line of a chain. */
export const chainStart: ChainPosition = { seq: 0, prev: genesis };

/** Why a line cannot be the one at `place`; undefined if it can. */
export function explainMismatch({ seq, prev }: ChainPosition, place: ChainPosition): string | undefined {
  if (seq > place.seq) {
    const missing =
      seq === place.seq + 1 ? `record ${place.seq} is` : `records ${place.seq} to ${seq - 1} are`;
    return `is record ${seq}, and ${missing} missing before it`;
  }
  if (seq < place.seq) return `is record ${seq} where record ${place.seq} was expected`;
  return prev === place.prev ? undefined : 'does not match the record before it, which was changed';
}

/** The end of a growing chain: the `seq` of the next record, and the digest that it has to contain as `prev`. */
export class ChainHead {
  /** The `seq` of the next record. */
  readonly sequence: number;
  readonly #lastLine: string | null;
  #digest: string | null = null;

  private constructor(sequence: number, lastLine: string | null) {
    this.sequence = sequence;
    this.#lastLine = lastLine;
  }

  /** The head of a chain without records. */
  static empty(): ChainHead {
    return new ChainHead(0, null);
  }

  /** The head after `line` has become record number `this.sequence`. */
  after(line: string): ChainHead {
    return new ChainHead(this.sequence + 1, line);
  }

  /**
   * The SHA-256 digest of the last line. Computed on the first call, because the command that waits for its record to
   * be written does not need it; only the next record does.
   */
  digest(): string {
    this.#digest ??= this.#lastLine === null ? genesis : digestOf(this.#lastLine);
    return this.#digest;
  }
}
