/** Text that a terminal shows and does not obey, on one line: what it would act on or hide could make one thing look like another. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}
