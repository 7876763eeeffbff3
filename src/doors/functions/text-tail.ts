/** The newest part of a growing text, with the count of all its characters. */
export interface TextTail {
  append(text: string): void;
  text(): string;
  /** Number of characters passed to `append` so far, including dropped ones. */
  count(): number;
  /** The text after the first `count` characters, as far as it was not dropped. */
  since(count: number): string;
}

const maxChars = 1_048_576;

/** Creates an empty `TextTail`. */
export function createTextTail(): TextTail {
  let kept = '';
  let dropped = 0;
  return {
    append(text) {
      kept += text;
      // Trims at twice `maxChars` only, so that not every `append` copies the text.
      if (kept.length <= 2 * maxChars) return;
      dropped += kept.length - maxChars;
      kept = kept.slice(-maxChars);
    },
    text: () => kept,
    count: () => dropped + kept.length,
    since: (count) => kept.slice(Math.max(0, count - dropped)),
  };
}
