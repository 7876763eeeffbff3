/** Removes every copy of a character from the end of a text, in linear time unlike a pattern such as `/x+$/`. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === character) end--;
  return end === text.length ? text : text.slice(0, end);
}
