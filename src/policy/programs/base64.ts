import { withoutTrailing } from '../../support/without-trailing.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Decodes base64; `undefined` if the text is not base64 or decodes to anything but ASCII. */
export function decodeBase64(text: string): string | undefined {
  const clean = withoutTrailing(text.replace(/\s/g, ''), '=');
  if (clean.length > 65_536 || !/^[A-Za-z0-9+/]*$/.test(clean)) return undefined;
  let bits = 0;
  let held = 0;
  let decoded = '';
  for (const character of clean) {
    held = (held << 6) | alphabet.indexOf(character);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    decoded += String.fromCharCode((held >> bits) & 0xff);
    held &= (1 << bits) - 1;
  }
  return /^[\x01-\x7f]*$/.test(decoded) ? decoded : undefined;
}
