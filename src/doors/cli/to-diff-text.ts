import type { ShownChanges } from '../../contract/backend.ts';
import type { ShownChange } from '../../contract/changes.ts';
import { escapeControls, toOneLine } from '../../support/escape-controls.ts';
import { describeChange } from '../../tools/common/describe-changes.ts';
import type { Display } from '../display.ts';

/** How much of the changes a terminal shows. */
export const showLimits = { maxFiles: 1_000, maxChars: 200_000 };

/** Changes as text for a terminal: one heading per path, and coloured lines of the difference. */
export function toDiffText(
  { changes, created, changed, deleted, mode }: ShownChanges,
  display: Display,
): string {
  const more = created + changed + deleted + mode - changes.length;
  const rest = more > 0 ? `… and ${more} more paths\n` : '';
  return `${changes.map((change) => toSection(change, display)).join('')}${rest}`;
}

function toSection(change: ShownChange, { paint }: Display): string {
  const { diff, note, before, after, kind } = change;
  const colour = { created: paint.good, deleted: paint.bad, changed: paint.warning, mode: paint.warning }[
    kind
  ];
  const isModeChange = before && after && before.mode !== after.mode;
  const modes = isModeChange ? `  mode ${toOctal(before.mode)} → ${toOctal(after.mode)}` : '';
  const sizes = diff === undefined && kind !== 'mode' ? `  ${toSizes(change)}` : '';
  const details = `${sizes}${modes}${note === undefined ? '' : `  (${note})`}`;
  return `${colour(toOneLine(describeChange(change)))}${paint.faint(details)}\n${toLines(diff ?? '', { paint })}`;
}

function toSizes({ before, after }: ShownChange): string {
  const one = (version: ShownChange['after']) =>
    version?.type === 'file' ? `${version.bytes} bytes` : (version?.type ?? '');
  return [one(before), one(after)].filter((text) => text !== '').join(' → ');
}

function toOctal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

function toLines(diff: string, { paint }: Pick<Display, 'paint'>): string {
  if (diff === '') return '';
  const lines = diff.split('\n').slice(0, -1);
  return lines.map((line) => `${paintLine(line, paint)}\n`).join('');
}

function paintLine(line: string, paint: Display['paint']): string {
  const text = escapeControls(line.replaceAll('\t', '    '));
  if (line.startsWith('+')) return paint.good(text);
  if (line.startsWith('-')) return paint.bad(text);
  return line.startsWith('@@') ? paint.name(text) : text;
}
