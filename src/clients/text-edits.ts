/** A syntax error at position `at` of a text. */
export class TextFault extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** Replaces the text between `from` and `to`. */
export function splice(text: string, from: number, to: number, put: string): string {
  return `${text.slice(0, from)}${put}${text.slice(to)}`;
}

/** The start of the line that contains `at`. */
export function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** The end of the line that contains `at`, after its newline. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

/** The line ending of a text. */
export function newlineOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
