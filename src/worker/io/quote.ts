/** A text as one word of bash. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text as one word of bash that has no line break in it. */
export function quoteOnOneLine(text: string): string {
  return `$'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
}

const beyondAscii = /[^\x00-\x7f]/;

/** True for a text in which every character is one byte. */
export function isAscii(text: string): boolean {
  return !beyondAscii.test(text);
}

/** A text as one word of bash in which every character is one byte. */
export function quoteInAscii(text: string): string {
  if (isAscii(text)) return quote(text);
  const bytes = [...Buffer.from(text)].map((byte) => {
    if (byte > 0x7f) return `\\${byte.toString(8)}`;
    return byte === 0x27 || byte === 0x5c ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte);
  });
  return `$'${bytes.join('')}'`;
}
