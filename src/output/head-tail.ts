import { countLines } from './count-lines.ts';
import { safeCut, safeStart } from './surrogates.ts';

/** The beginning and the end of a text. */
export interface TextEnds {
  readonly head: string;
  readonly tail: string;
  /** True if nothing is missing between `head` and `tail`. */
  readonly joined: boolean;
  /** True if `tail` is known to begin at the start of a line. */
  readonly startsAtLine?: boolean | undefined;
}

/** The kept ends of a text and its length in UTF-16 code units, as in `String.length`. */
export interface Ends extends TextEnds {
  readonly totalChars: number;
  readonly omittedChars: number;
  /** Line breaks of the whole text. */
  readonly totalLines: number;
}

/** Collects a text of any length and keeps only its two ends. */
export interface HeadTail {
  push(text: string): void;
  end(): Ends;
}

/** Creates a collector that keeps `maxChars` characters, half from the beginning and half from the end. */
export function createHeadTail(maxChars: number): HeadTail {
  const headRoom = Math.ceil(maxChars / 2);
  let head = '';
  let headIsFull = false;
  let tail = '';
  let tailRoom = maxChars;
  let totalChars = 0;
  let totalLines = 0;

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
      totalLines += countLines(text);
      const rest = headIsFull ? text : fillHead(text);
      tail = rest.length >= tailRoom ? lastChars(rest, tailRoom) : tail + rest;
      // Trim only when `tail` has doubled, so that many small pieces do not each copy the string.
      if (tail.length > 2 * tailRoom) tail = lastChars(tail, tailRoom);
    },
    end() {
      tail = lastChars(tail, tailRoom);
      const omittedChars = totalChars - head.length - tail.length;
      return { head, tail, joined: omittedChars === 0, totalChars, omittedChars, totalLines };
    },
  };
}

/** The last `count` characters of a text, one less if that would split a surrogate pair. */
export function lastChars(text: string, count: number): string {
  if (count >= text.length) return text;
  return text.slice(safeStart(text, text.length - count));
}
