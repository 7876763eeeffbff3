// Text of commands as one line of a terminal: nothing in it moves the cursor, and its width is known.

import { visible } from '../../support/visible.ts';

/** What changes the look of a text and not its place. */
export const colours = /\u001b\[[0-9;:]*m/g;

/** The text without colours, and with all else that a terminal would obey made visible. */
export function printable(text: string): string {
  return visible(text.replace(colours, '').replace(/[\t\r]/g, ' '));
}

/** The last line of a text that is not blank. */
export function lastLine(text: string): string {
  return printable(
    text
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? '',
  );
}

/** As much of a line as fits, with a mark where something is missing. */
export function cut(line: string, width: number): string {
  const text = line.trimEnd();
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += widthOf(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}

// Two cells rather than one where that is not certain: a line that wraps cannot be taken back.
function widthOf(text: string): number {
  let width = 0;
  for (const character of text)
    width += (character.codePointAt(0) ?? 0) < 0x11_00 || character === '…' ? 1 : 2;
  return width;
}

/** Milliseconds as people say them. */
export function toDuration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = `${String(seconds % 60).padStart(2, '0')} s`;
  return minutes < 60
    ? `${minutes} min ${rest}`
    : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}
