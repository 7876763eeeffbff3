/** The newest part of a growing text. */
export interface TextTail {
  append(text: string): void;
  /** Replaces the text, because output between it and `text` was not read. */
  restart(text: string): void;
  text(): string;
}

/** Length up to which a `TextTail` keeps all of its text. */
export const tailChars = 1_048_576;

/** Creates an empty `TextTail`. */
export function createTextTail(): TextTail {
  let kept = '';
  return {
    append(text) {
      kept += text;
      // Trims at twice `tailChars` only, so that not every `append` copies the text.
      if (kept.length > 2 * tailChars) kept = kept.slice(-tailChars);
    },
    restart(text) {
      kept = text;
    },
    text: () => kept,
  };
}
