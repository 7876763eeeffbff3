// Keys that the on-screen keyboards of phones and tablets lack, as the bytes that a terminal sends for them.

/** The buttons of the toolbar, in order; `modifier` keys apply to the next key. */
export const keys = [
  { name: 'Esc', text: '\x1b' },
  { name: 'Tab', text: '\t' },
  { name: 'Ctrl', modifier: 'ctrl' },
  { name: 'Alt', modifier: 'alt' },
  { name: '←', label: 'Left', final: 'D' },
  { name: '↓', label: 'Down', final: 'B' },
  { name: '↑', label: 'Up', final: 'A' },
  { name: '→', label: 'Right', final: 'C' },
  { name: 'Home', final: 'H' },
  { name: 'End', final: 'F' },
  { name: 'PgUp', label: 'Page up', number: 5 },
  { name: 'PgDn', label: 'Page down', number: 6 },
  { name: '|', text: '|' },
  { name: '/', text: '/' },
  { name: '-', text: '-' },
  { name: '~', text: '~' },
];

/** The bytes of a button; `application` is the cursor key mode that programs such as vim turn on. */
export function toSequence({ text, final, number }, { ctrl, alt, application }) {
  if (text !== undefined) return withModifiers(text, { ctrl, alt });
  const modifier = 1 + (alt ? 2 : 0) + (ctrl ? 4 : 0);
  if (number !== undefined) return modifier === 1 ? `\x1b[${number}~` : `\x1b[${number};${modifier}~`;
  if (modifier > 1) return `\x1b[1;${modifier}${final}`;
  return application ? `\x1bO${final}` : `\x1b[${final}`;
}

/** One typed character with the modifiers that were on: Ctrl makes a control character, Alt puts ESC before it. */
export function withModifiers(text, { ctrl, alt }) {
  const typed = ctrl ? toControl(text) : text;
  return alt ? `\x1b${typed}` : typed;
}

// Ctrl clears the two high bits of @, A–Z, [, \, ], ^ and _; terminals also map Ctrl-Space to NUL and Ctrl-? to DEL.
function toControl(text) {
  const upper = text.toUpperCase();
  if (text === ' ') return '\0';
  if (text === '?') return '\x7f';
  return upper >= '@' && upper <= '_' ? String.fromCharCode(upper.charCodeAt(0) & 0x1f) : text;
}
