/** A unit that a setting's name ends with. */
export type Unit = 'bytes' | 'ms' | 'seconds';

/** The factor from each suffix, in lower case, to the setting's own unit. */
const suffixes: Record<Unit, Readonly<Record<string, number>>> = {
  bytes: { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 },
  ms: { ms: 1, s: 1e3, min: 60e3, h: 3600e3 },
  seconds: { s: 1, min: 60, h: 3600 },
};

/** The suffixes in their usual spelling, for messages. */
export const suffixWords: Record<Unit, string> = {
  bytes: 'kB, MB, GB, KiB, MiB or GiB',
  ms: 'ms, s, min or h',
  seconds: 's, min or h',
};

/** The unit in a setting's name: `ringBytes` counts bytes, `drainMs` milliseconds. */
export function unitOf(name: string): Unit | undefined {
  if (name.endsWith('Bytes')) return 'bytes';
  if (name.endsWith('Ms')) return 'ms';
  return name.endsWith('Seconds') ? 'seconds' : undefined;
}

/** Parses `4096` or, for a setting with a unit, `256MiB` and `1.5s`; undefined for any other text. */
export function toNumber(text: string, unit: Unit | undefined): number | undefined {
  const match = /^(-?\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  if (match === null) return undefined;
  const [, digits, suffix = ''] = match;
  if (suffix === '') return Number(digits);
  const factor = unit === undefined ? undefined : suffixes[unit][suffix.toLowerCase()];
  return factor === undefined ? undefined : Number(digits) * factor;
}

/** The regular expression for a number with a suffix, for JSON Schema. */
export function suffixPattern(unit: Unit): string {
  const either = Object.keys(suffixes[unit]).map(anyCase).join('|');
  return `^[0-9]+(\\.[0-9]+)? *(${either})$`;
}

function anyCase(suffix: string): string {
  return [...suffix].map((letter) => `[${letter}${letter.toUpperCase()}]`).join('');
}
