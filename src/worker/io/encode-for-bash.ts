import { quote } from '../../support/quote.ts';

// Texts for a waiting bash are preceded by their length: `read -N` then reads exactly that many characters at once,
// where `read -d ''` would read byte by byte up to a NUL. bash counts characters, whose size depends on the locale, so
// the texts must be ASCII.
const lengthDigits = 9;

/** An ASCII text, preceded by its length. */
export function withLengthPrefix(text: string): string {
  return `${String(text.length).padStart(lengthDigits, '0')}${text}`;
}

/** The bash code that reads such a text into `variable`; `read` is how to call the builtin. */
export function readLengthPrefixed({
  read,
  variable,
}: {
  readonly read: string;
  readonly variable: string;
}): string {
  const readCount = (count: string) => `IFS= ${read} -r -N ${count} ${variable}`;
  return `${readCount(String(lengthDigits))} && ${readCount(`"$${variable}"`)}`;
}

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
