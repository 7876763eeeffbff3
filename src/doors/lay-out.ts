import type { HelpRow } from '../settings/to-help-rows.ts';
import type { Paint } from './paint.ts';

/** The width and colours for which a text is laid out. */
export interface Layout {
  readonly width: number;
  readonly paint: Paint;
}

/** Rows of two columns: names, and their meaning next to them, or below them if the text is narrow. */
export function layOutRows(rows: readonly HelpRow[], { width, paint }: Layout): readonly string[] {
  const widest = Math.max(0, ...rows.map(({ left }) => left.length));
  const column = Math.min(widest, maxNameColumns) + 4;
  return width < narrowBelow
    ? rows.flatMap((row) => stack(row, width, paint))
    : rows.flatMap((row) => putSideBySide(row, column, width, paint));
}

const narrowBelow = 60;
const maxNameColumns = 26;

function putSideBySide({ left, right }: HelpRow, column: number, width: number, paint: Paint): string[] {
  const [first = '', ...more] = wrap(right, width - column);
  const rest = more.map((line) => ' '.repeat(column) + line);
  if (left.length <= column - 4)
    return [`  ${paint.name(left)}${' '.repeat(column - 2 - left.length)}${first}`.trimEnd(), ...rest];
  return [...layOutNames(left, width, paint), ' '.repeat(column) + first, ...rest];
}

function stack({ left, right }: HelpRow, width: number, paint: Paint): string[] {
  return [...layOutNames(left, width, paint), ...wrap(right, width - 6).map((line) => `      ${line}`)];
}

function layOutNames(left: string, width: number, paint: Paint): string[] {
  const [first = '', ...more] = wrap(left, width - 6);
  return [`  ${paint.name(first)}`, ...more.map((line) => `      ${paint.name(line)}`)];
}

/** Breaks a text into lines of at most `width` characters: between words, else inside a word that is too long. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((one) => breakWord(one, width))) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

// Lists of choices such as `terminal,bash` have no spaces: they break after a comma or a bar.
function breakWord(word: string, width: number): string[] {
  if (word.length <= width) return [word];
  const at = Math.max(word.lastIndexOf(',', width - 1), word.lastIndexOf('|', width - 1)) + 1 || width;
  return [word.slice(0, at), ...breakWord(word.slice(at), width)];
}

/**
 * Breaks a command line into lines that can be pasted together: lines end in a backslash, and quoted words stay whole.
 */
export function wrapCommand(line: string, width: number): string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|\S)+/g) ?? [];
  const lines: string[] = [];
  for (const [index, word] of words.entries()) {
    const last = lines.at(-1);
    // All lines but the last need room for ` \`.
    const room = index === words.length - 1 ? width : width - 2;
    if (last !== undefined && last.length + 1 + word.length <= room)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((one, index) => (index === lines.length - 1 ? one : `${one} \\`));
}
