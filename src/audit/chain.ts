import { hash } from 'node:crypto';
import type { AuditKey } from './audit-key.ts';

/** What stands for the digest of the record before the first one. */
export const genesis = '0'.repeat(64);

/** The digest by which the next line names this one; its line break counts. */
export function digestOf(line: string | Uint8Array): string {
  return hash('sha256', line, 'hex');
}

/** One line of a chain, line break included, signed where there is a key. */
export function toLine(body: Readonly<Record<string, unknown>>, key: AuditKey | undefined): string {
  const text = JSON.stringify(body);
  return key === undefined ? `${text}\n` : `${text.slice(0, -1)}${signMark}${key.sign(text)}"}\n`;
}

const signMark = ',"sig":"';

/** One line as it was read: its place in the chain, and what is wrong with it by itself. */
export interface ReadLine {
  readonly body: Readonly<Record<string, unknown>>;
  readonly seq: number;
  readonly prev: string;
  readonly problem: string | undefined;
}

/** Reads one line without its line break; null for what is no record. */
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
  return isValid ? undefined : 'has a signature that is not valid';
}

/** Where the next line of a chain stands: its number and the digest of the line before it. */
export interface Place {
  readonly seq: number;
  readonly prev: string;
}

/** Where a chain begins. */
export const beginning: Place = { seq: 0, prev: genesis };

/** Why a line cannot be the one at a place; undefined for one that can. */
export function whyMisplaced({ seq, prev }: Place, place: Place): string | undefined {
  if (seq > place.seq) {
    const missing =
      seq === place.seq + 1 ? `record ${place.seq} is` : `records ${place.seq} to ${seq - 1} are`;
    return `is record ${seq}, and ${missing} missing before it`;
  }
  if (seq < place.seq) return `is record ${seq} where record ${place.seq} was to be`;
  return prev === place.prev ? undefined : 'does not follow from the record before it, which was changed';
}
