/** Quotes a text as one bash word. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Like `quote`, but returns a word that needs no quotes as it is. */
export function quoteWord(text: string): string {
  return /^[\w./:=@%+-]+$/.test(text) ? text : quote(text);
}

/** Quotes a text as one bash word without line breaks, in the `$'…'` form. */
export function quoteOnOneLine(text: string): string {
  return `$'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
}
