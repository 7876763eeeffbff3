import { readFileSync } from 'node:fs';

/** What the kernel counts in. */
export interface SystemUnits {
  readonly pageBytes: number;
  readonly ticksPerSecond: number;
}

const usual: SystemUnits = { pageBytes: 4_096, ticksPerSecond: 100 };
const pageSizeEntry = 6n;
const clockTickEntry = 17n;

let known: SystemUnits | undefined;

/** The units of this machine, as the kernel tells every program at its start. */
export function systemUnits(): SystemUnits {
  known ??= readUnits();
  return known;
}

function readUnits(): SystemUnits {
  try {
    return parseAuxiliaryVector(readFileSync('/proc/self/auxv'));
  } catch {
    return usual;
  }
}

/** Reads pairs of 64-bit numbers, a key and its value. */
export function parseAuxiliaryVector(bytes: Buffer): SystemUnits {
  const entries = new Map<bigint, number>();
  for (let at = 0; at + 16 <= bytes.length; at += 16)
    entries.set(bytes.readBigUInt64LE(at), Number(bytes.readBigUInt64LE(at + 8)));
  return {
    pageBytes: entries.get(pageSizeEntry) || usual.pageBytes,
    ticksPerSecond: entries.get(clockTickEntry) || usual.ticksPerSecond,
  };
}
