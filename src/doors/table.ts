import type { Display } from './display.ts';
import { cut, widthOf } from './terminal-text.ts';

/** A column of a table. */
export interface Column {
  readonly title: string;
  /** Left out, the rightmost first, if the last column would become too narrow to be useful. */
  readonly isOptional?: boolean;
  readonly alignRight?: boolean;
}

/** One cell: text that is safe to print, and its colour. */
export interface Cell {
  readonly text: string;
  paint?(text: string): string;
}

/** Lays out a table with a header; at a terminal, the last column is cut to the width. */
export function layOutTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  display: Display,
): string {
  const { paint, columns: available } = display;
  const header = columns.map(({ title }) => ({ text: title, paint: paint.heading }));
  const limit = display.isForPeople ? available : undefined;
  const shown = chooseColumns(columns, [header, ...rows], limit);
  return [header, ...rows].map((row) => `${layOutRow(row, shown, limit)}\n`).join('');
}

interface ShownColumn extends Column {
  readonly index: number;
  readonly width: number;
}

const gap = 2;
const usefulWidth = 24;

function chooseColumns(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  limit: number | undefined,
): readonly ShownColumn[] {
  const all = columns.map((column, index) => ({
    ...column,
    index,
    width: Math.max(...rows.map((row) => widthOf(row[index]?.text ?? ''))),
  }));
  if (limit === undefined) return all;
  const shown = [...all];
  while (widthBeforeLast(shown) + Math.min(usefulWidth, shown.at(-1)?.width ?? 0) > limit) {
    const at = shown.findLastIndex(({ isOptional = false }) => isOptional);
    if (at < 0) break;
    shown.splice(at, 1);
  }
  return shown;
}

function widthBeforeLast(shown: readonly ShownColumn[]): number {
  return shown.slice(0, -1).reduce((sum, { width }) => sum + width + gap, 0);
}

function layOutRow(row: readonly Cell[], shown: readonly ShownColumn[], limit: number | undefined): string {
  const room = limit === undefined ? Number.POSITIVE_INFINITY : Math.max(1, limit - widthBeforeLast(shown));
  const cells = shown.map(({ index, width, alignRight = false }, position) => {
    const { text, paint = same } = row[index] ?? { text: '' };
    if (position === shown.length - 1) return paint(cut(text, room));
    const padding = ' '.repeat(width - widthOf(text));
    return alignRight ? `${padding}${paint(text)}` : `${paint(text)}${padding}`;
  });
  return cells.join(' '.repeat(gap));
}

function same(text: string): string {
  return text;
}
