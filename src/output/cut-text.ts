import { lastChars, type TextEnds } from './head-tail.ts';
import { safeCut } from './surrogates.ts';

/** Divides one limit between two texts; the unused share of a short one goes to the other. */
export function splitLimit(first: number, second: number, limit: number): readonly [number, number] {
  const half = Math.floor(limit / 2);
  if (first + second <= limit) return [first, second];
  if (first <= limit - half) return [first, limit - first];
  if (second <= half) return [limit - second, second];
  return [limit - half, half];
}

/** Cuts two ends to at most `maxChars` characters in total, at line ends if that loses less than `acceptedLoss`. */
export function cutEnds(ends: TextEnds, maxChars: number, atLines = true): TextEnds {
  if (ends.head.length + ends.tail.length <= maxChars) return ends;
  const from = ends.joined ? { head: ends.head + ends.tail, tail: ends.head + ends.tail } : ends;
  const headRoom = Math.max(Math.ceil(maxChars / 2), maxChars - from.tail.length);
  const head = from.head.slice(0, safeCut(from.head, headRoom));
  const tail = lastChars(from.tail, maxChars - head.length);
  if (!atLines) return { head, tail, joined: false };
  return {
    head: head.length < from.head.length ? endAtLine(head) : head,
    tail: tail.length < from.tail.length ? startAtLine(tail) : tail,
    joined: false,
  };
}

function endAtLine(head: string): string {
  const end = head.lastIndexOf('\n') + 1;
  return head.length - end < head.length * acceptedLoss ? head.slice(0, end) : head;
}

function startAtLine(tail: string): string {
  const start = tail.indexOf('\n') + 1;
  return start < tail.length * acceptedLoss ? tail.slice(start) : tail;
}

const acceptedLoss = 0.1;
