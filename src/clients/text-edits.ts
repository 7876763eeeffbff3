/** What is wrong with a text, and where. */
export class TextFault extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** The text with a piece of it replaced. */
export function splice(text: string, from: number, to: number, put: string): string {
  return `${text.slice(0, from)}${put}${text.slice(to)}`;
}

/** Where the line of a position begins. */
export function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** Where the line of a position ends, its newline included. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

/** How lines end in a text. */
export function newlineOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
