/**
 * The characters that text of a command must not carry as they are: C0 controls but TAB and LF, DEL, C1 controls,
 * the bidirectional controls that reorder what a reader sees (Trojan Source), and the tag characters in which
 * text can hide that only a model reads. U+DB40 is the first half of every tag character.
 *
 * ZWJ, ZWNJ, directional marks and variation selectors stay: emoji and many scripts need them.
 */
export const specialCharacters = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\udb40]/g;

/** Says whether a code point of the class above is to be shown by name (U+DB40 also starts harmless ones). */
export function isUnsafe(codePoint: number): boolean {
  return codePoint <= 0xe007f;
}

/** A harmless, visible stand-in for a character that is not: `␀` for NUL, `<U+202E>` for what has no picture. */
export function toVisible(codePoint: number): string {
  if (codePoint < 0x20) return String.fromCharCode(0x2400 + codePoint);
  if (codePoint === 0x7f) return '␡';
  return `<U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}>`;
}
