/** The number of terminal columns of a character: 0 for combining marks, 2 for wide characters. */
export function glyphWidth(glyph: string): 0 | 1 | 2 {
  const code = glyph.codePointAt(0) ?? 0;
  if (code < 0x300 || (code >= 0x2500 && code < 0x25fd)) return 1;
  if (joinsPrevious.test(glyph)) return 0;
  return isEastAsianWide(code) || emoji.test(glyph) ? 2 : 1;
}

const joinsPrevious = /^[\p{Mn}\p{Me}\p{Cf}]/u;
const emoji = /^\p{Emoji_Presentation}/u;

// Unicode blocks in which every character is wide; wide symbols elsewhere are emoji and match `emoji`.
const wideBlocks: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x17000, 0x18cff],
  [0x1b000, 0x1b2ff],
  [0x20000, 0x3fffd],
];

function isEastAsianWide(code: number): boolean {
  return wideBlocks.some(([first, last]) => code >= first && code <= last);
}
