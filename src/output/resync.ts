import { unfinishedBytes } from './utf8.ts';

/** Drops the bytes of `tail` before its first line start, which may be half a character or half a terminal sequence. */
export function fromLineStart(tail: Uint8Array): Uint8Array {
  const nearHalf = tail.subarray(0, Math.ceil(tail.length / 2));
  const lineEnd = nearHalf.findIndex((byte) => byte === lf || byte === cr);
  if (lineEnd >= 0) return tail.subarray(lineEnd + 1);
  return fromBlank(tail);
}

/** Drops the bytes of `head` after its last line end, or after its last whole character if the last line is long. */
export function untilLineEnd(head: Uint8Array): Uint8Array {
  const lineEnd = head.lastIndexOf(lf) + 1;
  const end = lineEnd * 2 >= head.length ? lineEnd : head.length - unfinishedBytes(head);
  return head.subarray(0, end);
}

// In a very long line, start after a blank: few terminal sequences contain one or exceed `sequenceBytes`.
function fromBlank(tail: Uint8Array): Uint8Array {
  const near = Math.min(sequenceBytes, tail.length >> 1);
  const blank = tail.subarray(0, near).indexOf(0x20);
  let start = blank >= 0 ? blank + 1 : near;
  while (((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return tail.subarray(start);
}

const lf = 0x0a;
const cr = 0x0d;
const sequenceBytes = 256;
