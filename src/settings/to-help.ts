import { listSettings, type Setting, type SettingGroups } from './define.ts';
import { toDefaultNotes, toPlaceholder } from './describe.ts';

/** The text of `--help`: flags under their headings, aligned, at most `width` columns wide. */
export function toHelp(groups: SettingGroups, width = 100): string {
  const sections = Object.entries(groups).map(([title, declarations]) => ({
    title,
    rows: listSettings(declarations)
      .filter(({ flags }) => flags.length > 0)
      .map((setting) => ({ left: toUsage(setting), right: toSentence(setting) })),
  }));
  const column = Math.max(...sections.flatMap(({ rows }) => rows.map(({ left }) => left.length))) + 4;
  return sections
    .filter(({ rows }) => rows.length > 0)
    .map(({ title, rows }) => [`${title}:`, ...rows.map((row) => toRow(row, column, width))].join('\n'))
    .join('\n\n');
}

interface Row {
  readonly left: string;
  readonly right: string;
}

function toUsage(setting: Setting): string {
  const names = [...setting.flags].sort((a, b) => a.length - b.length).join(', ');
  return `${names} ${toPlaceholder(setting)}`.trimEnd();
}

function toSentence(setting: Setting): string {
  const notes = [...setting.env, ...toDefaultNotes(setting)];
  return notes.length === 0 ? setting.description : `${setting.description} (${notes.join('; ')})`;
}

function toRow({ left, right }: Row, column: number, width: number): string {
  const lines = wrap(right, Math.max(20, width - column));
  const indent = ' '.repeat(column);
  return `  ${left.padEnd(column - 2)}${lines.join(`\n${indent}`)}`;
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
