// Regular expressions that a user types, matched in linear time: a pattern such as (a+)+$ cannot stop the page.
// 1. the pattern becomes an automaton of states (Thompson), 2. sets of states become states of a table as they are needed,
// so that most characters cost one lookup. Groups do not capture; look-around and back references are refused.

type Test = (code: number) => boolean;
type Node =
  | { readonly kind: 'test'; readonly test: Test; next: number }
  | { readonly kind: 'split'; next: number; other: number }
  | { readonly kind: 'begin' | 'end'; next: number }
  | { readonly kind: 'match' };

/** A pattern that can be searched for. */
export interface Pattern {
  /** The length of the first match in a line from a position, and where it is; undefined if there is none. */
  find(line: string, from: number): { readonly at: number; readonly length: number } | undefined;
  /** Whether a line matches anywhere. */
  matches(line: string): boolean;
}

const maxNodes = 2_000;
const maxTables = 4_000;

/** Compiles a pattern, ignoring case; throws a sentence for one that is not valid. */
export function compilePattern(source: string): Pattern {
  const { nodes, start } = parse(source);
  const anywhere = createTable(nodes, start, true);
  const here = createTable(nodes, start, false);
  return {
    matches: (line) => anywhere.longest(line, 0, true) !== undefined,
    find(line, from) {
      if (anywhere.longest(line, from, true) === undefined) return undefined;
      for (let at = from; at <= line.length; at += 1) {
        const end = here.longest(line, at, false);
        if (end !== undefined) return { at, length: end - at };
        // Gives up after `maxStarts` positions, because trying every position of a long line takes quadratic time.
        if (at - from > maxStarts) return undefined;
      }
      return undefined;
    },
  };
}

const maxStarts = 4_096;

interface Compiled {
  readonly nodes: readonly Node[];
  readonly start: number;
}

interface Part {
  readonly start: number;
  /** Sets the `next` of every open end. */
  patch(to: number): void;
}

function parse(source: string): Compiled {
  return new Parser(source).parse();
}

class Parser {
  readonly #source: string;
  readonly #nodes: Node[] = [];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Compiled {
    const whole = this.#alternatives();
    if (this.#at < this.#source.length) throw new Error('A ) has no (.');
    whole.patch(this.#add({ kind: 'match' }));
    return { nodes: this.#nodes, start: whole.start };
  }

  get #sign(): string {
    return this.#source[this.#at] ?? '';
  }

  #next(): string {
    const sign = this.#sign;
    this.#at += 1;
    return sign;
  }

  #add(node: Node): number {
    if (this.#nodes.length >= maxNodes) throw new Error('The pattern is too long.');
    return this.#nodes.push(node) - 1;
  }

  #single(node: Extract<Node, { readonly kind: 'test' | 'begin' | 'end' }>): Part {
    return {
      start: this.#add(node),
      patch(to) {
        node.next = to;
      },
    };
  }

  #test(test: Test): Part {
    return this.#single({ kind: 'test', test, next: -1 });
  }

  #nothing(): Part {
    const node = { kind: 'split' as const, next: -1, other: -1 };
    return {
      start: this.#add(node),
      patch(to) {
        node.next = to;
        node.other = to;
      },
    };
  }

  #optional(part: Part, loops: boolean, atLeastOnce: boolean): Part {
    const node = { kind: 'split' as const, next: part.start, other: -1 };
    const index = this.#add(node);
    if (loops) part.patch(index);
    return {
      start: atLeastOnce ? part.start : index,
      patch(to) {
        node.other = to;
        if (!loops) part.patch(to);
      },
    };
  }

  #alternatives(): Part {
    let part = this.#sequence();
    while (this.#sign === '|') {
      this.#at += 1;
      const [one, other] = [part, this.#sequence()];
      part = {
        start: this.#add({ kind: 'split', next: one.start, other: other.start }),
        patch(to) {
          one.patch(to);
          other.patch(to);
        },
      };
    }
    return part;
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#source.length && this.#sign !== '|' && this.#sign !== ')')
      parts.push(this.#repeated());
    return this.#join(parts);
  }

  #join(parts: readonly Part[]): Part {
    const [first, last] = [parts[0], parts.at(-1)];
    if (!first || !last) return this.#nothing();
    for (const [index, part] of parts.slice(0, -1).entries()) part.patch(parts[index + 1]?.start ?? -1);
    return { start: first.start, patch: (to) => last.patch(to) };
  }

  #repeated(): Part {
    const begin = this.#at;
    let part = this.#atom();
    for (;;) {
      const sign = this.#sign;
      if (sign === '*' || sign === '+' || sign === '?') {
        this.#at += 1;
        part = this.#optional(part, sign !== '?', sign === '+');
      } else if (sign === '{') part = this.#counted(begin);
      else return part;
      // A lazy quantifier matches the same lines, so its `?` is ignored.
      if (this.#sign === '?') this.#at += 1;
    }
  }

  /** Repeats the atom that begins at `begin`, as often as the count in braces says. */
  #counted(begin: number): Part {
    const [all, low = '0', comma, high] =
      /^\{(\d{1,3})(?:(,)(\d{1,3})?)?\}/.exec(this.#source.slice(this.#at)) ?? [];
    if (all === undefined) throw new Error('A { needs a count, such as {2} or {1,3}.');
    const end = this.#at + all.length;
    const least = Number(low);
    const most = comma === undefined ? least : high === undefined ? undefined : Number(high);
    if (most !== undefined && most < least)
      throw new Error('The second count in { } is less than the first.');
    const again = () => {
      this.#at = begin;
      return this.#atom();
    };
    const parts = Array.from({ length: least }, again);
    if (most === undefined) parts.push(this.#optional(again(), true, false));
    else for (let count = least; count < most; count += 1) parts.push(this.#optional(again(), false, false));
    const joined = this.#join(parts);
    this.#at = end;
    return joined;
  }

  #atom(): Part {
    const sign = this.#next();
    if (sign === '(') return this.#group();
    if (sign === '[') return this.#test(this.#characterClass());
    if (sign === '.') return this.#test(() => true);
    if (sign === '^') return this.#single({ kind: 'begin', next: -1 });
    if (sign === '$') return this.#single({ kind: 'end', next: -1 });
    if (sign === '\\') return this.#test(this.#escaped());
    if (sign === '*' || sign === '+' || sign === '?')
      throw new Error(`There is nothing before ${sign} to repeat.`);
    return this.#test(exactly(sign));
  }

  #group(): Part {
    if (this.#sign === '?') {
      if (this.#source[this.#at + 1] !== ':')
        throw new Error('Look-around and named groups are not supported.');
      this.#at += 2;
    }
    const part = this.#alternatives();
    if (this.#next() !== ')') throw new Error('A ( has no ).');
    return part;
  }

  #escaped(): Test {
    const sign = this.#next();
    if (sign === '') throw new Error('The pattern ends with a backslash.');
    if (/[1-9bBk]/.test(sign)) throw new Error(`\\${sign} is not supported.`);
    return classes[sign] ?? exactly(controls[sign] ?? sign);
  }

  #characterClass(): Test {
    const isNegated = this.#sign === '^';
    if (isNegated) this.#at += 1;
    const tests: Test[] = [];
    for (let isFirst = true; this.#sign !== ']' || isFirst; isFirst = false) {
      if (this.#at >= this.#source.length) throw new Error('A [ has no ].');
      tests.push(this.#classMember());
    }
    this.#at += 1;
    const isIn: Test = (code) => tests.some((test) => test(code));
    return isNegated ? (code) => !isIn(code) : isIn;
  }

  #classMember(): Test {
    const sign = this.#next();
    if (sign === '\\') return this.#escaped();
    const last = this.#source[this.#at + 1];
    if (this.#sign !== '-' || last === ']' || last === undefined) return exactly(sign);
    this.#at += 2;
    const [low, high] = [fold(sign.charCodeAt(0)), fold(last.charCodeAt(0))];
    return (code) => code >= low && code <= high;
  }
}

const isDigit: Test = (code) => code >= 48 && code <= 57;
const isWord: Test = (code) => isDigit(code) || (code >= 97 && code <= 122) || code === 95;
const isSpace: Test = (code) => code === 32 || (code >= 9 && code <= 13) || code === 160;
const classes: Readonly<Record<string, Test>> = {
  d: isDigit,
  w: isWord,
  s: isSpace,
  D: (code) => !isDigit(code),
  W: (code) => !isWord(code),
  S: (code) => !isSpace(code),
};
const controls: Readonly<Record<string, string>> = { t: '\t', r: '\r', f: '\f', v: '\v', n: '\n', 0: '\0' };

function exactly(sign: string): Test {
  const wanted = fold(sign.charCodeAt(0));
  return (code) => code === wanted;
}

// Ignores case: for ASCII, and for other characters with `toLowerCase` if it keeps the length.
function fold(code: number): number {
  if (code < 128) return code >= 65 && code <= 90 ? code + 32 : code;
  const lower = String.fromCharCode(code).toLowerCase();
  return lower.length === 1 ? lower.charCodeAt(0) : code;
}

interface TableState {
  readonly nodes: readonly number[];
  readonly isMatch: boolean;
  /** True if it matches at the end of the line. */
  readonly isMatchAtEnd: boolean;
  readonly next: Map<number, TableState>;
}

function createTable(nodes: readonly Node[], start: number, anywhere: boolean) {
  let states = new Map<string, TableState>();
  const close = (from: readonly number[], isBegin: boolean, isEnd: boolean): readonly number[] => {
    const seen = new Set<number>();
    const left = [...from];
    for (let index = left.pop(); index !== undefined; index = left.pop()) {
      if (seen.has(index)) continue;
      seen.add(index);
      const node = nodes[index];
      if (node?.kind === 'split') left.push(node.next, node.other);
      if (node?.kind === 'begin' && isBegin) left.push(node.next);
      if (node?.kind === 'end' && isEnd) left.push(node.next);
    }
    return [...seen].sort((a, b) => a - b);
  };
  const hasMatch = (set: readonly number[]) => set.some((index) => nodes[index]?.kind === 'match');
  const toState = (set: readonly number[]): TableState => {
    const key = set.join(',');
    const known = states.get(key);
    if (known) return known;
    if (states.size > maxTables) states = new Map();
    const made = {
      nodes: set,
      isMatch: hasMatch(set),
      isMatchAtEnd: hasMatch(close(set, false, true)),
      next: new Map(),
    };
    states.set(key, made);
    return made;
  };
  const step = (state: TableState, code: number): TableState => {
    const known = state.next.get(code);
    if (known) return known;
    const reached = state.nodes.flatMap((index) => {
      const node = nodes[index];
      return node?.kind === 'test' && node.test(code) ? [node.next] : [];
    });
    const made = toState(close(anywhere ? [...reached, start] : reached, false, false));
    state.next.set(code, made);
    return made;
  };
  return {
    /** The end of the longest match that begins at `from`, or of the first one that ends if `anyEnd`. */
    longest(line: string, from: number, anyEnd: boolean): number | undefined {
      let state = toState(close([start], from === 0, line.length === from));
      let end = state.isMatch ? from : undefined;
      for (let at = from; at < line.length; at += 1) {
        if (anyEnd && end !== undefined) return end;
        if (state.nodes.length === 0) return end;
        state = step(state, fold(line.charCodeAt(at)));
        if (state.isMatch) end = at + 1;
      }
      return state.isMatchAtEnd ? line.length : end;
    },
  };
}
