/** A unit that a setting's name carries. */
export type Unit = 'bytes' | 'ms' | 'seconds';

/** How much of a setting's own unit each suffix stands for, in lower case. */
const suffixes: Record<Unit, Readonly<Record<string, number>>> = {
  bytes: { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 },
  ms: { ms: 1, s: 1e3, min: 60e3, h: 3600e3 },
  seconds: { s: 1, min: 60, h: 3600 },
};

/** Suffixes as people write them, for messages. */
export const suffixWords: Record<Unit, string> = {
  bytes: 'kB, MB, GB, KiB, MiB or GiB',
  ms: 'ms, s, min or h',
  seconds: 's, min or h',
};

/** The unit in the name of a setting: `ringBytes` counts bytes, `drainMs` milliseconds. */
export function unitOf(name: string): Unit | undefined {
  if (name.endsWith('Bytes')) return 'bytes';
  if (name.endsWith('Ms')) return 'ms';
  return name.endsWith('Seconds') ? 'seconds' : undefined;
}

/** Reads `4096` or, where there is a unit, `256MiB` and `1.5s`; undefined when the text is no such number. */
export function toNumber(text: string, unit: Unit | undefined): number | undefined {
  const match = /^(-?\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  if (match === null) return undefined;
  const [, digits, suffix = ''] = match;
  if (suffix === '') return Number(digits);
  const factor = unit === undefined ? undefined : suffixes[unit][suffix.toLowerCase()];
  return factor === undefined ? undefined : Number(digits) * factor;
}

/** A pattern for texts with a suffix, for JSON Schema. */
export function suffixPattern(unit: Unit): string {
  const either = Object.keys(suffixes[unit]).map(anyCase).join('|');
  return `^[0-9]+(\\.[0-9]+)? *(${either})$`;
}

function anyCase(suffix: string): string {
  return [...suffix].map((letter) => `[${letter}${letter.toUpperCase()}]`).join('');
}
