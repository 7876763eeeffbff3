/** Text that a terminal shows and does not obey, on one line: what it would act on or hide could make one thing look like another. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

const longestShown = 200;

/** The same without line breaks, and not too long. */
export function oneLine(text: string): string {
  const line = text.slice(0, longestShown * 2).replace(/\s*\n\s*/g, ' ⏎ ');
  const isLong = line.length > longestShown || text.length > longestShown * 2;
  return visible(isLong ? `${line.slice(0, longestShown).toWellFormed()}…` : line);
}
