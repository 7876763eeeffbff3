/**
 * Characters that output must not contain unchanged: C0 controls except TAB and LF, DEL, C1 controls, the bidirectional
 * controls that reorder visible text (Trojan Source), and the tag characters, which can hide text that only a model reads.
 * U+DB40 is the first half of every tag character.
 *
 * ZWJ, ZWNJ, directional marks and variation selectors are allowed: emoji and many scripts need them.
 */
export const specialCharacters = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\udb40]/g;

/** Whether a match of `specialCharacters` must be replaced; U+DB40 also starts harmless characters. */
export function isUnsafe(codePoint: number): boolean {
  return codePoint <= 0xe007f;
}

/** The visible replacement of a special character: `␀` for NUL, `<U+202E>` for one without a picture. */
export function toVisible(codePoint: number): string {
  if (codePoint < 0x20) return String.fromCharCode(0x2400 + codePoint);
  if (codePoint === 0x7f) return '␡';
  return `<U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}>`;
}
