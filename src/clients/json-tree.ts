// Parses JSON with comments and trailing commas, as in configuration files. Every node has its position, so that an edit
// can leave all other bytes unchanged.

import { TextFault } from './text-edits.ts';

/** A value with its position. */
export interface JsonNode {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  /** The members, if it is an object. */
  readonly members?: readonly JsonMember[];
}

/** A key with its value. */
export interface JsonMember {
  readonly key: string;
  readonly start: number;
  readonly node: JsonNode;
  /** The end of the comma after it, if it has one. */
  readonly commaEnd: number | undefined;
}

const maxDepth = 256;

/** Parses a text; undefined if it has only whitespace and comments. Throws a `TextFault`. */
export function readJsonTree(text: string): JsonNode | undefined {
  const reader = new JsonReader(text);
  if (reader.atEnd()) return undefined;
  const root = reader.node(0);
  if (!reader.atEnd()) throw reader.fault('there is more text after the end of the value');
  return root;
}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    this.#skip();
    return this.#at >= this.#text.length;
  }

  fault(message: string): TextFault {
    return new TextFault(this.#at, message);
  }

  node(depth: number): JsonNode {
    if (depth > maxDepth) throw this.fault('it is nested too deeply');
    this.#skip();
    const start = this.#at;
    const first = this.#text[start];
    if (first === '{') {
      const members = this.#members(depth);
      return { start, end: this.#at, value: toObject(members), members };
    }
    const value = first === '[' ? this.#items(depth) : this.#scalar();
    return { start, end: this.#at, value };
  }

  #members(depth: number): JsonMember[] {
    const members: JsonMember[] = [];
    this.#at += 1;
    while (!this.#accept('}')) {
      const start = this.#at;
      if (this.#text[start] !== '"') throw this.fault('expected a key in double quotes');
      const key = this.#scalar() as string;
      if (!this.#accept(':')) throw this.fault('expected a colon after the key');
      const node = this.node(depth + 1);
      const hasComma = this.#accept(',');
      members.push({ key, start, node, commaEnd: hasComma ? this.#at : undefined });
      if (!hasComma && !this.#next('}')) throw this.fault('expected a comma or }');
    }
    return members;
  }

  #items(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#at += 1;
    while (!this.#accept(']')) {
      items.push(this.node(depth + 1).value);
      if (!this.#accept(',') && !this.#next(']')) throw this.fault('expected a comma or ]');
    }
    return items;
  }

  #scalar(): unknown {
    const pattern = /"[^"\\\u0000-\u001f]*(?:\\.[^"\\\u0000-\u001f]*)*"|-?\d[\d.eE+-]*|true|false|null/y;
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) throw this.fault('expected a value');
    try {
      const value: unknown = JSON.parse(found);
      this.#at += found.length;
      return value;
    } catch {
      throw this.fault('this is not a JSON value');
    }
  }

  #next(mark: string): boolean {
    this.#skip();
    return this.#text[this.#at] === mark;
  }

  #accept(mark: string): boolean {
    const found = this.#next(mark);
    if (found) this.#at += 1;
    return found;
  }

  #skip(): void {
    const pattern = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    pattern.lastIndex = this.#at;
    this.#at += pattern.exec(this.#text)?.[0].length ?? 0;
  }
}

// With a null prototype, a key such as `__proto__` is plain data.
function toObject(members: readonly JsonMember[]): unknown {
  const object: Record<string, unknown> = Object.create(null);
  for (const { key, node } of members) object[key] = node.value;
  return object;
}
