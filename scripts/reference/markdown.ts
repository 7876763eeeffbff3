/** A Markdown table; `|` in cells is escaped, and line breaks become blanks. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const toRow = (cells: readonly string[]) => `| ${cells.map(toCell).join(' | ')} |`;
  return [toRow(head), `|${'---|'.repeat(head.length)}`, ...rows.map(toRow)].join('\n');
}

/** Inline code. */
export function code(text: string): string {
  if (text === '') return '';
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** A fenced code block. */
export function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

function toCell(text: string): string {
  return text.replaceAll('\n', ' ').replaceAll('|', '\\|');
}
