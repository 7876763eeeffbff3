// Output of commands as one line on a terminal: no character moves the cursor, and its width is known.

import { escapeControls } from '../support/escape-controls.ts';

/** SGR sequences, which change colours but do not move the cursor. */
export const colours = /\u001b\[[0-9;:]*m/g;

/** The text without colours and with every other control character made visible. */
export function printable(text: string): string {
  return escapeControls(text.replace(colours, '').replace(/[\t\r]/g, ' '));
}

/** The last line of a text, ignoring trailing blank lines. */
export function lastLine(text: string): string {
  return printable(
    text
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? '',
  );
}

/** A line cut to `width` columns, with … at the cut. */
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

/** The columns that a line occupies; characters of unknown width count as two, because a line that wraps cannot be erased. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text)
    width += (character.codePointAt(0) ?? 0) < 0x11_00 || character === '…' ? 1 : 2;
  return width;
}

/** A duration such as `2 min 05 s`. */
export function toDuration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = `${String(seconds % 60).padStart(2, '0')} s`;
  return minutes < 60
    ? `${minutes} min ${rest}`
    : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** A duration, rounded more if it is longer, such as `12 ms`, `3.2 s` or `2 min 05 s`. */
export function toShortDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : toDuration(ms);
}

/** A timestamp in the local time zone, such as `2026-01-31 14:05:09`; other text is returned with controls escaped. */
export function toLocalTime(timestamp: string): string {
  const time = new Date(timestamp);
  if (Number.isNaN(time.getTime())) return escapeControls(timestamp);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')}`;
}
