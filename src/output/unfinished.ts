import { maxStringChars } from './strip-vt.ts';
import { unfinishedBytes } from './utf8.ts';

/** The number of bytes at the end that belong to an unfinished character or terminal sequence. */
export function unfinishedTail(bytes: Uint8Array): number {
  const near = Buffer.from(bytes.subarray(Math.max(0, bytes.length - maxStringChars)));
  const last = near.lastIndexOf(escapeByte);
  if (last >= 0) {
    // A last ESC may be half of the ST (`ESC \`) that ends a string, so the string is unfinished from its introducer on.
    const opener = last === near.length - 1 && last > 0 ? near.lastIndexOf(escapeByte, last - 1) : -1;
    if (opener >= 0 && openString.test(near.toString('latin1', opener, last))) return near.length - opener;
    if (openSequence.test(near.toString('latin1', last))) return near.length - last;
  }
  return unfinishedBytes(near);
}

const escapeByte = 0x1b;
const openString = /^\x1b[PX\]^_][^\x07\x1b\n]*$/;
const openSequence = /^\x1b(?:[ -/]*|\[[0-?]*[ -/]*|[PX\]^_][^\x07\x1b\n]*)$/;
