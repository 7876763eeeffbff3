/** Part of a SQL text: a string literal, or code with its comments removed. */
export interface SqlPart {
  readonly kind: 'code' | 'string';
  readonly text: string;
}

/** Splits SQL into code and string literals; names in quotes count as code. Unclosed strings and comments end the text. */
export function sqlParts(sql: string): SqlPart[] {
  const parts: SqlPart[] = [];
  let code = '';
  for (let at = 0; at < sql.length; at++) {
    const character = sql.charAt(at);
    if (sql.startsWith('--', at)) at = endOf(sql, '\n', at);
    else if (sql.startsWith('/*', at)) {
      at = endOf(sql, '*/', at + 2) + 1;
      code += ' ';
    } else if (character === "'") {
      parts.push({ kind: 'code', text: code });
      code = '';
      const end = endOfString(sql, at + 1);
      parts.push({ kind: 'string', text: sql.slice(at + 1, end).replaceAll("''", "'") });
      at = end;
    } else code += /["`[\]]/.test(character) ? ' ' : character;
  }
  return [...parts, { kind: 'code', text: code }];
}

/** The code of a SQL text, in which `'` replaces each string literal. */
export function sqlCode(parts: readonly SqlPart[]): string {
  return parts.map(({ kind, text }) => (kind === 'code' ? text : "'")).join('');
}

function endOf(sql: string, mark: string, from: number): number {
  const end = sql.indexOf(mark, from);
  return end < 0 ? sql.length : end;
}

function endOfString(sql: string, from: number): number {
  let end = endOf(sql, "'", from);
  while (sql.charAt(end + 1) === "'") end = endOf(sql, "'", end + 2);
  return end;
}
