// Regular expressions that a reader types, matched in linear time: a pattern such as (a+)+$ cannot stop the page.
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
        // A long line is given up rather than searched from every position.
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
  readonly patch: (to: number) => void;
}

function parse(source: string): Compiled {
  const nodes: Node[] = [];
  let at = 0;
  const add = <Kind extends Node>(node: Kind): { readonly index: number; readonly node: Kind } => {
    if (nodes.length >= maxNodes) throw new Error('The pattern is too long.');
    nodes.push(node);
    return { index: nodes.length - 1, node };
  };
  const single = (test: Test): Part => {
    const { index, node } = add({ kind: 'test', test, next: -1 });
    return {
      start: index,
      patch(to) {
        node.next = to;
      },
    };
  };
  const empty = (kind: 'begin' | 'end'): Part => {
    const { index, node } = add({ kind, next: -1 });
    return {
      start: index,
      patch(to) {
        node.next = to;
      },
    };
  };
  const nothing = (): Part => {
    const { index, node } = add({ kind: 'split', next: -1, other: -1 });
    return {
      start: index,
      patch(to) {
        node.next = to;
        node.other = to;
      },
    };
  };
  const optional = (part: Part, loops: boolean, atLeastOnce: boolean): Part => {
    const { index, node } = add({ kind: 'split', next: part.start, other: -1 });
    if (loops) part.patch(index);
    return {
      start: atLeastOnce ? part.start : index,
      patch(to) {
        node.other = to;
        if (!loops) part.patch(to);
      },
    };
  };
  const alternatives = (): Part => {
    let part = sequence();
    while (source[at] === '|') {
      at += 1;
      const [one, other] = [part, sequence()];
      const { index } = add({ kind: 'split', next: one.start, other: other.start });
      part = {
        start: index,
        patch(to) {
          one.patch(to);
          other.patch(to);
        },
      };
    }
    return part;
  };
  const sequence = (): Part => {
    let part: Part | undefined;
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const next = repeated();
      part?.patch(next.start);
      const first: number = part?.start ?? next.start;
      part = { start: first, patch: next.patch };
    }
    return part ?? nothing();
  };
  const repeated = (): Part => {
    const begin = at;
    let part = atom();
    for (;;) {
      const sign = source[at];
      if (sign === '*' || sign === '+' || sign === '?') {
        at += 1;
        part = optional(part, sign !== '?', sign === '+');
      } else if (sign === '{') part = counted(part, source.slice(begin, at));
      else return part;
      // A lazy sign changes nothing here.
      if (source[at] === '?') at += 1;
    }
  };
  const counted = (part: Part, text: string): Part => {
    const found = /^\{(\d{1,3})(?:(,)(\d{1,3})?)?\}/.exec(source.slice(at));
    if (!found) throw new Error('A { needs a count, such as {2} or {1,3}.');
    const [all, low = '0', comma, high] = found;
    const [least, most] = [
      Number(low),
      comma === undefined ? Number(low) : high === undefined ? undefined : Number(high),
    ];
    if (most !== undefined && most < least)
      throw new Error('The second count in { } is less than the first.');
    const after = at + all.length;
    const again = () => {
      const [keptAt] = [at];
      at = after - all.length - text.length;
      const copy = atom();
      at = keptAt;
      return copy;
    };
    let whole: Part | undefined = least === 0 ? undefined : part;
    const join = (next: Part) => {
      whole?.patch(next.start);
      whole = { start: whole?.start ?? next.start, patch: next.patch };
    };
    for (let count = 1; count < least; count += 1) join(again());
    if (most === undefined) join(optional(again(), true, false));
    else
      for (let count = least; count < most; count += 1)
        join(optional(count === 0 ? part : again(), false, false));
    at = after;
    return whole ?? nothing();
  };
  const atom = (): Part => {
    const sign = source[at] ?? '';
    at += 1;
    if (sign === '(') return group();
    if (sign === '[') return single(characterClass());
    if (sign === '.') return single(() => true);
    if (sign === '^') return empty('begin');
    if (sign === '$') return empty('end');
    if (sign === '\\') return single(escaped());
    if (sign === '*' || sign === '+' || sign === '?')
      throw new Error(`There is nothing before ${sign} to repeat.`);
    return single(exactly(sign));
  };
  const group = (): Part => {
    if (source[at] === '?') {
      if (source[at + 1] !== ':') throw new Error('Look-around and named groups are not supported.');
      at += 2;
    }
    const part = alternatives();
    if (source[at] !== ')') throw new Error('A ( has no ).');
    at += 1;
    return part;
  };
  const escaped = (): Test => {
    const sign = source[at] ?? '';
    at += 1;
    if (sign === '') throw new Error('The pattern ends with a backslash.');
    const known = classes[sign];
    if (known) return known;
    if (/[1-9bBk]/.test(sign)) throw new Error(`\\${sign} is not supported.`);
    return exactly(controls[sign] ?? sign);
  };
  const characterClass = (): Test => {
    const isNegated = source[at] === '^';
    if (isNegated) at += 1;
    const tests: Test[] = [];
    for (let isFirst = true; source[at] !== ']' || isFirst; isFirst = false) {
      if (at >= source.length) throw new Error('A [ has no ].');
      tests.push(classMember());
    }
    at += 1;
    const isIn: Test = (code) => tests.some((test) => test(code));
    return isNegated ? (code) => !isIn(code) : isIn;
  };
  const classMember = (): Test => {
    const sign = source[at] ?? '';
    at += 1;
    if (sign === '\\') return escaped();
    if (source[at] !== '-' || source[at + 1] === ']' || source[at + 1] === undefined) return exactly(sign);
    const [low, high] = [fold(sign.charCodeAt(0)), fold((source[at + 1] ?? '').charCodeAt(0))];
    at += 2;
    return (code) => code >= low && code <= high;
  };
  const whole = alternatives();
  if (at < source.length) throw new Error('A ) has no (.');
  whole.patch(add({ kind: 'match' }).index);
  return { nodes, start: whole.start };
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

// Case is ignored for ASCII, and for others by the language's own rule where it keeps the length.
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
