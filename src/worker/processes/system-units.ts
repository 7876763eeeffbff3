import { readFileSync } from 'node:fs';

/** The units in which the kernel reports memory and CPU time. */
export interface SystemUnits {
  readonly pageBytes: number;
  readonly ticksPerSecond: number;
}

const fallback: SystemUnits = { pageBytes: 4_096, ticksPerSecond: 100 };
const pageSizeEntry = 6n;
const clockTickEntry = 17n;

let known: SystemUnits | undefined;

/** The units of this machine, from the auxiliary vector (`/proc/self/auxv`). */
export function systemUnits(): SystemUnits {
  known ??= readUnits();
  return known;
}

function readUnits(): SystemUnits {
  try {
    return parseAuxiliaryVector(readFileSync('/proc/self/auxv'));
  } catch {
    return fallback;
  }
}

/** Parses `/proc/self/auxv`: pairs of 64-bit keys and values. */
export function parseAuxiliaryVector(bytes: Buffer): SystemUnits {
  const entries = new Map<bigint, number>();
  for (let at = 0; at + 16 <= bytes.length; at += 16)
    entries.set(bytes.readBigUInt64LE(at), Number(bytes.readBigUInt64LE(at + 8)));
  return {
    pageBytes: entries.get(pageSizeEntry) || fallback.pageBytes,
    ticksPerSecond: entries.get(clockTickEntry) || fallback.ticksPerSecond,
  };
}
