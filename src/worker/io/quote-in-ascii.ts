import { quote } from '../../support/quote.ts';

const beyondAscii = /[^\x00-\x7f]/;

/** True if every character of the text is one byte in UTF-8. */
export function isAscii(text: string): boolean {
  return !beyondAscii.test(text);
}

/** Quotes a text as one word of bash that contains only ASCII characters. */
export function quoteInAscii(text: string): string {
  if (isAscii(text)) return quote(text);
  const bytes = [...Buffer.from(text)].map((byte) => {
    if (byte > 0x7f) return `\\${byte.toString(8)}`;
    return byte === 0x27 || byte === 0x5c ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte);
  });
  return `$'${bytes.join('')}'`;
}
