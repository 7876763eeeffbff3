import { safeCut, safeStart } from './surrogates.ts';

/** The beginning and the end of a text. */
export interface TextEnds {
  readonly head: string;
  readonly tail: string;
  /** True when nothing lies between the two. */
  readonly joined: boolean;
}

/** What a collector kept of a text, and how long it was, in UTF-16 code units as JavaScript counts. */
export interface Ends extends TextEnds {
  readonly totalChars: number;
  readonly omittedChars: number;
}

/** Collects a text of any length and keeps its two ends. */
export interface HeadTail {
  push(text: string): void;
  end(): Ends;
}

/** Builds a collector that keeps `maxChars` characters, half from the beginning and half from the end. */
export function createHeadTail(maxChars: number): HeadTail {
  const headRoom = Math.ceil(maxChars / 2);
  let head = '';
  let headIsFull = false;
  let tail = '';
  let tailRoom = maxChars;
  let totalChars = 0;

  const fillHead = (text: string): string => {
    const cut = safeCut(text, headRoom - head.length);
    head += text.slice(0, cut);
    headIsFull = cut < text.length || head.length >= headRoom;
    tailRoom = maxChars - head.length;
    return text.slice(cut);
  };

  return {
    push(text) {
      totalChars += text.length;
      const rest = headIsFull ? text : fillHead(text);
      tail = rest.length >= tailRoom ? lastChars(rest, tailRoom) : tail + rest;
      // Trimmed only now and then, so that many small pieces do not cost a copy each.
      if (tail.length > 2 * tailRoom) tail = lastChars(tail, tailRoom);
    },
    end() {
      tail = lastChars(tail, tailRoom);
      const omittedChars = totalChars - head.length - tail.length;
      return { head, tail, joined: omittedChars === 0, totalChars, omittedChars };
    },
  };
}

/** The last characters of a text, at most as many as asked for. */
export function lastChars(text: string, count: number): string {
  if (count >= text.length) return text;
  return text.slice(safeStart(text, text.length - count));
}
