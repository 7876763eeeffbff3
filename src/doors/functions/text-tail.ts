/** The newest part of a text that grows, with the count of all that there was. */
export interface TextTail {
  append(text: string): void;
  text(): string;
  /** Characters so far, those that were let go included. */
  count(): number;
  /** What came after so many characters, as far as it is still there. */
  since(count: number): string;
}

const maxChars = 1_048_576;

/** Makes an empty one. */
export function createTextTail(): TextTail {
  let kept = '';
  let dropped = 0;
  return {
    append(text) {
      kept += text;
      // Twice as much may gather, so that not every piece costs a copy.
      if (kept.length <= 2 * maxChars) return;
      dropped += kept.length - maxChars;
      kept = kept.slice(-maxChars);
    },
    text: () => kept,
    count: () => dropped + kept.length,
    since: (count) => kept.slice(Math.max(0, count - dropped)),
  };
}
