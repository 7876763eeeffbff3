/** Escapes control, invisible and line-separating characters as `\u{…}`, so that a terminal neither obeys nor hides them. */
export function escapeControls(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

const longestShown = 200;

/** Like `escapeControls`, with line breaks as `⏎` and cut to `longestShown` characters. */
export function toOneLine(text: string): string {
  const line = text
    .slice(0, longestShown * 2)
    .split('\n')
    .map((part, index, parts) => trimmed(part, index > 0, index < parts.length - 1))
    .filter((part, index, parts) => part !== '' || index === 0 || index === parts.length - 1)
    .join(' ⏎ ');
  const isLong = line.length > longestShown || text.length > longestShown * 2;
  return escapeControls(isLong ? `${line.slice(0, longestShown).toWellFormed()}…` : line);
}

function trimmed(text: string, start: boolean, end: boolean): string {
  const rest = start ? text.trimStart() : text;
  return end ? rest.trimEnd() : rest;
}
