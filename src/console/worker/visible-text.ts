// A line of output as text that is safe to show: sequences other than colours are dropped, `\r` shows the last state of
// the line, and characters that could hide or move text are shown by name.
import { applySgr, toClasses } from './colours.ts';

/** A piece of a line in one colour; `link` for an http address. */
export interface ShownPiece {
  readonly text: string;
  readonly classes: string;
  readonly link?: string | undefined;
}

/** A line as it is shown, and the colours after it. */
export interface ShownLine {
  readonly pieces: readonly ShownPiece[];
  readonly state: number;
}

// One expression for every sequence of a terminal: CSI, OSC and other strings up to their end, and two-character ones.
// A string without an end extends to the end of the line.
const sequence =
  /\u001b(?:\[([0-9;:]*)m|\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|[ -/]*[0-~]?)|\u009b(?:([0-9;:]*)m|[0-?]*[ -/]*[@-~]?)|[\u0090\u0098\u009d-\u009f][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?/g;
const address =
  /https?:\/\/[^\s"'<>`\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** Whether a text has neither sequences nor characters that have to be shown by name. */
export function isSimple(text: string): boolean {
  return !odd.test(text);
}

const odd =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]|\u034f/u;
const oddOnes = new RegExp(odd.source, 'gu');

function nameOdd(text: string): string {
  return isSimple(text) ? text : text.replace(oddOnes, toName);
}

// Letters of every script have at most four marks; more would be drawn over the lines above and below.
const pile = /(\p{M}{4})(\p{M}+)/gu;

/**
 * Text outside of an output, with odd characters shown by name. Stacked marks are limited here, because only the rows
 * of an output clip them.
 */
export function showOdd(text: string): string {
  return nameOdd(text).replace(pile, (_, kept: string, rest: string) => `${kept}[${[...rest].length} marks]`);
}

function toName(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** Shows a line that began with the colours `before`. */
export function showLine(line: string, before: number): ShownLine {
  if (isSimple(line)) return { pieces: withLinks(line, toClasses(before)), state: before };
  const pieces: ShownPiece[] = [];
  let state = before;
  let from = 0;
  const add = (text: string) => {
    const last = lastState(text);
    // A carriage return restarts the line; later text replaces earlier text.
    if (last.restarts) pieces.length = 0;
    if (last.text !== '') pieces.push(...withLinks(nameOdd(last.text), toClasses(state)));
  };
  for (const found of line.matchAll(sequence)) {
    add(line.slice(from, found.index));
    from = found.index + found[0].length;
    const parameters = found[1] ?? found[2];
    if (parameters !== undefined) state = applySgr(state, parameters);
  }
  add(line.slice(from));
  return { pieces, state };
}

function lastState(text: string): { readonly text: string; readonly restarts: boolean } {
  const end = text.endsWith('\r') ? text.length - 1 : text.length;
  const at = text.lastIndexOf('\r', end - 1);
  return at < 0 || end === 0
    ? { text: text.slice(0, end), restarts: false }
    : { text: text.slice(at + 1, end), restarts: true };
}

function withLinks(text: string, classes: string): ShownPiece[] {
  if (!text.includes('://')) return [{ text, classes }];
  const pieces: ShownPiece[] = [];
  let from = 0;
  for (const found of text.matchAll(address)) {
    const link = withoutEnd(found[0]);
    if (found.index > from) pieces.push({ text: text.slice(from, found.index), classes });
    pieces.push({ text: link, classes, link });
    from = found.index + link.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), classes });
  return pieces;
}

// Punctuation after an address belongs to the sentence.
function withoutEnd(address: string): string {
  let end = address.length;
  while (end > 0 && '.,;:!?)]}'.includes(address[end - 1] ?? ' ')) end -= 1;
  return address.slice(0, end);
}

/** The text of a line as it is shown, without colours. */
export function toShownText(line: string): string {
  return isSimple(line)
    ? line
    : showLine(line, 0)
        .pieces.map(({ text }) => text)
        .join('');
}

/** The number of cells that a text occupies in a monospaced font. */
export function countCells(text: string): number {
  let cells = 0;
  for (const character of text) cells += character === '\t' ? 8 - (cells % 8) : isWide(character) ? 2 : 1;
  return cells;
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

function isWide(character: string): boolean {
  return character > '\u10ff' && wide.test(character);
}
