// Parses as much TOML as an edit needs: the positions of table headers, keys and values.

import { TextFault } from './text-edits.ts';

/** `key = value`, in the table of the last header. */
export interface TomlPair {
  readonly kind: 'pair';
  readonly path: readonly string[];
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** `[a.b]`, or `[[a.b]]` for one entry of a list. */
export interface TomlHeader {
  readonly kind: 'header';
  readonly path: readonly string[];
  readonly isList: boolean;
  readonly start: number;
  readonly end: number;
}

const maxDepth = 256;

/** Parses the headers and pairs of a text, in order. Throws a `TextFault`. */
export function readTomlLines(text: string): readonly (TomlPair | TomlHeader)[] {
  return new TomlReader(text).document();
}

/** The pairs of an inline table such as `{ a = 1, b = 2 }`, with positions in the whole text. */
export function readInlineTable(text: string, at: number): readonly TomlPair[] {
  return new TomlReader(text, at).inlineTable(0);
}

/** Decodes a TOML string; undefined for any other value. */
export function readTomlString(raw: string): string | undefined {
  // A line break right after the opening quotes is not part of the string.
  if (raw.startsWith("'''")) return raw.slice(3, -3).replace(/^\r?\n/, '');
  if (raw.startsWith('"""')) return decodeEscapes(raw.slice(3, -3).replace(/^\r?\n/, ''));
  if (raw.startsWith("'")) return raw.slice(1, -1);
  return raw.startsWith('"') ? decodeEscapes(raw.slice(1, -1)) : undefined;
}

class TomlReader {
  readonly #text: string;
  #at: number;

  constructor(text: string, at = 0) {
    this.#text = text;
    this.#at = at;
  }

  document(): (TomlPair | TomlHeader)[] {
    const found: (TomlPair | TomlHeader)[] = [];
    for (;;) {
      this.#match(/(?:[ \t\r\n]+|#[^\n]*)*/y);
      if (this.#at >= this.#text.length) return found;
      found.push(this.#text[this.#at] === '[' ? this.#header() : this.#pair(0));
      if (this.#match(/[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y) === undefined)
        throw this.#fault('expected the end of the line');
    }
  }

  inlineTable(depth: number): TomlPair[] {
    const pairs: TomlPair[] = [];
    this.#expect(/\{[ \t]*/y, 'an inline table');
    if (this.#match(/\}/y) !== undefined) return pairs;
    for (;;) {
      pairs.push(this.#pair(depth));
      this.#match(/[ \t]*/y);
      if (this.#match(/\}/y) !== undefined) return pairs;
      this.#expect(/,[ \t]*/y, 'a comma or }');
    }
  }

  #header(): TomlHeader {
    const start = this.#at;
    const isList = this.#expect(/\[\[?[ \t]*/y, '[').startsWith('[[');
    const path = this.#key();
    this.#expect(isList ? /[ \t]*\]\]/y : /[ \t]*\]/y, isList ? ']]' : ']');
    return { kind: 'header', path, isList, start, end: this.#at };
  }

  #pair(depth: number): TomlPair {
    const start = this.#at;
    const path = this.#key();
    this.#expect(/[ \t]*=[ \t]*/y, '= after the key');
    const valueStart = this.#at;
    this.#value(depth);
    return { kind: 'pair', path, start, valueStart, valueEnd: this.#at };
  }

  #key(): string[] {
    const path: string[] = [];
    do {
      const raw = this.#expect(/[A-Za-z0-9_-]+|"(?:[^"\\\r\n]|\\[^\r\n])*"|'[^'\r\n]*'/y, 'a key');
      path.push(readTomlString(raw) ?? raw);
    } while (this.#match(/[ \t]*\.[ \t]*/y) !== undefined);
    return path;
  }

  #value(depth: number): void {
    if (depth > maxDepth) throw this.#fault('it is nested too deeply');
    const first = this.#text[this.#at];
    if (first === '{') {
      this.inlineTable(depth + 1);
    } else if (first === '[') {
      this.#list(depth + 1);
    } else {
      this.#expect(scalar, 'a value');
    }
  }

  #list(depth: number): void {
    const blanks = /(?:[ \t\r\n]+|#[^\n]*)*/y;
    this.#expect(/\[/y, 'a list');
    for (;;) {
      this.#match(blanks);
      if (this.#match(/\]/y) !== undefined) return;
      this.#value(depth);
      this.#match(blanks);
      if (this.#match(/\]/y) !== undefined) return;
      this.#expect(/,/y, 'a comma or ]');
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }

  #expect(pattern: RegExp, description: string): string {
    const found = this.#match(pattern);
    if (found === undefined) throw this.#fault(`expected ${description}`);
    return found;
  }

  #fault(message: string): TextFault {
    return new TextFault(this.#at, message);
  }
}

// Multi-line basic and literal strings, strings, booleans, numbers and dates.
const scalar =
  /"""[\s\S]*?(?<!\\)(?:\\\\)*"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\r\n]|\\[^\r\n])*"|'[^'\r\n]*'|true|false|[+-]?(?:inf|nan|\d[0-9A-Za-z_.:+-]*(?: \d{2}:\d{2}:[\d.:+Z-]+)?)/y;

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\u001b',
};

function decodeEscapes(raw: string): string {
  return raw.replace(
    /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[ \t]*\r?\n\s*|(.))/g,
    (_, short, long, one = '') => {
      const code = Number.parseInt(short ?? long ?? '', 16);
      if (Number.isNaN(code)) return escapes[one] ?? one;
      return code <= 0x10_ff_ff ? String.fromCodePoint(code) : '\ufffd';
    },
  );
}
