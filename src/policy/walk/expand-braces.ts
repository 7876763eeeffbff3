import { limits, PolicyLimitError } from '../words/limits.ts';

/** Expands braces as bash does, on source text: `a{b,c}` becomes `ab` and `ac`. */
export function expandBraces(source: string): string[] {
  if (source.split('{').length > limits.braces) throw new PolicyLimitError('a word has too many braces');
  const open = findBrace(source);
  if (open === undefined) return [source];
  const before = source.slice(0, open.start);
  const middles = open.items.flatMap((item) => (open.sequence ? [item] : expandBraces(item)));
  const afters = expandBraces(source.slice(open.end));
  if (middles.length * afters.length > limits.braceWords)
    throw new PolicyLimitError('a brace expansion has too many words');
  return middles.flatMap((middle) => afters.map((after) => before + middle + after));
}

interface Brace {
  readonly start: number;
  readonly end: number;
  readonly items: readonly string[];
  readonly sequence: boolean;
}

function findBrace(source: string): Brace | undefined {
  for (let at = 0; at < source.length; at = skip(source, at)) {
    if (source.charAt(at) !== '{') continue;
    const brace = readBrace(source, at);
    if (brace !== undefined) return brace;
  }
  return undefined;
}

function readBrace(source: string, start: number): Brace | undefined {
  const items: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = from; at < source.length; at = skip(source, at)) {
    const character = source.charAt(at);
    if (character === '{') depth++;
    else if (character === ',' && depth === 0) {
      items.push(source.slice(from, at));
      from = at + 1;
    } else if (character === '}' && depth-- === 0) return closeBrace(source, start, at, from, items);
  }
  return undefined;
}

function closeBrace(
  source: string,
  start: number,
  at: number,
  from: number,
  items: string[],
): Brace | undefined {
  const last = source.slice(from, at);
  if (items.length > 0) return { start, end: at + 1, items: [...items, last], sequence: false };
  const range = sequence(last);
  return range && { start, end: at + 1, items: range, sequence: true };
}

/** Returns the position after the character at `at`, or after the quoted text or substitution that begins there. */
function skip(source: string, at: number): number {
  const character = source.charAt(at);
  const next = source.charAt(at + 1);
  if (character === '\\') return at + 2;
  if (character === "'") return after(source, "'", at + 1);
  if (character === '"') return skipDouble(source, at + 1);
  if (character === '`') return after(source, '`', at + 1);
  if (character === '$' && next === "'") return skipAnsi(source, at + 2);
  if ((character === '$' || character === '<' || character === '>') && next === '(')
    return skipNested(source, at + 2, ')');
  if (character === '$' && next === '{') return skipNested(source, at + 2, '}');
  return at + 1;
}

function after(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found < 0 ? source.length : found + 1;
}

function skipAnsi(source: string, from: number): number {
  let at = from;
  while (at < source.length && source.charAt(at) !== "'") at += source.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}

function skipDouble(source: string, from: number): number {
  let at = from;
  while (at < source.length && source.charAt(at) !== '"') {
    const nested = source.charAt(at) === '$' && '({'.includes(source.charAt(at + 1) || ' ');
    at = nested || source.charAt(at) === '\\' || source.charAt(at) === '`' ? skip(source, at) : at + 1;
  }
  return at + 1;
}

function skipNested(source: string, from: number, close: ')' | '}'): number {
  const open = close === ')' ? '(' : '{';
  let at = from;
  let depth = 0;
  while (at < source.length) {
    const character = source.charAt(at);
    if (character === close && depth-- === 0) return at + 1;
    if (character === open) depth++;
    at = character === open ? at + 1 : skip(source, at);
  }
  return at;
}

const range = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?$/;

/** Returns the items of `1..5` or `a..e`; a sequence of more than 64 items is represented by its first and last. */
function sequence(text: string): string[] | undefined {
  const [, from, to, by] = range.exec(text) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const letters = /^[A-Za-z]$/.test(from);
  if (letters !== /^[A-Za-z]$/.test(to)) return undefined;
  const first = letters ? from.charCodeAt(0) : Number(from);
  const last = letters ? to.charCodeAt(0) : Number(to);
  const step = Math.abs(Number(by ?? 1)) || 1;
  const width = letters ? 0 : paddedWidth(from, to);
  const show = (value: number): string => (letters ? String.fromCharCode(value) : padded(value, width));
  const count = Math.floor(Math.abs(last - first) / step) + 1;
  if (count > 64) return [show(first), show(last)];
  return Array.from({ length: count }, (_, index) => show(first + index * step * (last < first ? -1 : 1)));
}

function paddedWidth(from: string, to: string): number {
  return [from, to].some((text) => /^-?0\d/.test(text)) ? Math.max(from.length, to.length) : 0;
}

function padded(value: number, width: number): string {
  const sign = value < 0 ? '-' : '';
  return sign + String(Math.abs(value)).padStart(width - sign.length, '0');
}
