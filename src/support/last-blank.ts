/** The index of the last white space, or -1. */
export function lastBlank(text: string): number {
  let at = text.length - 1;
  while (at >= 0 && /\S/.test(text.charAt(at))) at--;
  return at;
}
