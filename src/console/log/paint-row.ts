// Renders one row of a log as elements. Text is only ever inserted as text nodes.
import { toClock } from '../words.ts';
import type { MarkedRow } from '../worker/messages.ts';
import type { RingOptions } from './ring.ts';

interface Painted {
  readonly row: MarkedRow | number | undefined;
  readonly look: string;
}

/** The elements of a row; they are reused for every line that the row shows. */
interface Parts {
  readonly number: HTMLAnchorElement;
  readonly time: HTMLElement;
  readonly text: HTMLElement;
}

const painted = new WeakMap<HTMLElement, Painted>();
const partsOf = new WeakMap<HTMLElement, Parts>();

/** Fills an element with a row; a number is a line that has not been loaded yet, undefined an unused element. */
export function paintRow(
  element: HTMLElement,
  row: MarkedRow | number | undefined,
  options: RingOptions,
): void {
  const look = toLook(options);
  const before = painted.get(element);
  if (before && before.row === row && before.look === look) return;
  painted.set(element, { row, look });
  if (row === undefined) {
    setClass(element, 'ln none');
    element.replaceChildren();
    partsOf.delete(element);
    return;
  }
  const parts = partsOf.get(element) ?? createParts(element);
  const line = typeof row === 'number' ? row : row.line;
  setClass(element, toClassName(row, line, options));
  paintNumber(parts.number, line, typeof row === 'number' ? undefined : row);
  setText(parts.time, toTime(row, options));
  paintText(parts.text, row, options);
}

function toLook({ times, chosen, current, isWrapped, startedAt }: RingOptions): string {
  return `${times} ${chosen?.join('-') ?? ''} ${current ?? ''} ${isWrapped} ${startedAt ?? ''}`;
}

function createParts(element: HTMLElement): Parts {
  const number = document.createElement('a');
  number.className = 'no';
  number.tabIndex = -1;
  const time = document.createElement('time');
  const text = document.createElement('span');
  text.className = 'tx';
  element.replaceChildren(number, time, text);
  const parts = { number, time, text };
  partsOf.set(element, parts);
  return parts;
}

function setClass(element: HTMLElement, name: string): void {
  if (element.className !== name) element.className = name;
}

// Changing the text of a node is cheaper than making one.
function setText(element: HTMLElement, words: string): void {
  const { firstChild } = element;
  if (firstChild instanceof Text && element.childNodes.length === 1) {
    if (firstChild.data !== words) firstChild.data = words;
  } else element.textContent = words;
}

function isChosen(line: number, { chosen }: RingOptions): boolean {
  return chosen !== undefined && line >= chosen[0] && line <= chosen[1];
}

function toClassName(row: MarkedRow | number, line: number, options: RingOptions): string {
  const names = ['ln'];
  if (typeof row !== 'number' && row.isError) names.push('err');
  if (typeof row !== 'number' && row.fromStderr) names.push('two');
  if (isChosen(line, options)) names.push('sel');
  return names.join(' ');
}

// In a part of a long output the number of a line may be unknown; its link always uses the byte position.
function paintNumber(link: HTMLAnchorElement, line: number, row: MarkedRow | undefined): void {
  setText(link, row === undefined ? '' : String(row.number ?? '·'));
  link.dataset.line = String(line);
  if (row === undefined) link.removeAttribute('href');
  else link.href = `?at=${row.cursor}`;
}

function toTime(row: MarkedRow | number, { times, startedAt }: RingOptions): string {
  if (typeof row === 'number' || times === 'off' || !row.isNewSecond) return '';
  return times === 'clock' && startedAt !== undefined
    ? toClock(new Date(startedAt + row.ms).toISOString())
    : toSince(row.ms);
}

function toSince(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3_600);
  return `+${hours > 0 ? `${hours}:${two(Math.floor(seconds / 60) % 60)}` : Math.floor(seconds / 60)}:${two(seconds % 60)}`;
}

// The text of a row without colours, links, marks or a cut.
function toPlainText(row: MarkedRow | number): string | undefined {
  if (typeof row === 'number') return '';
  const [first] = row.pieces;
  const isPlain = row.pieces.length <= 1 && !first?.classes && first?.link === undefined;
  return isPlain && row.marks.length === 0 && row.more === 0 ? (first?.text ?? '') : undefined;
}

function paintText(text: HTMLElement, row: MarkedRow | number, options: RingOptions): void {
  const { current } = options;
  const plain = toPlainText(row);
  if (typeof row === 'number' || plain !== undefined) {
    setText(text, plain ?? '');
    return;
  }
  const nodes: Node[] = [];
  let at = 0;
  for (const { text: words, classes, link } of row.pieces) {
    const marked = withMarks(words, at, row.marks, row.line === current);
    at += words.length;
    if (link === undefined && classes === '') nodes.push(...marked);
    else nodes.push(wrap(marked, classes, link, isChosen(row.line, options)));
  }
  if (row.more > 0) nodes.push(toMore(row.more));
  text.replaceChildren(...nodes);
}

// Tab reaches the links of the chosen lines only; an output may have thousands.
function wrap(
  nodes: readonly Node[],
  classes: string,
  link: string | undefined,
  isReached: boolean,
): HTMLElement {
  const element = document.createElement(link === undefined ? 'span' : 'a');
  if (classes !== '') element.className = classes;
  if (element instanceof HTMLAnchorElement && link !== undefined) {
    element.href = link;
    element.target = '_blank';
    element.rel = 'noopener noreferrer';
    element.tabIndex = isReached ? 0 : -1;
  }
  element.append(...nodes);
  return element;
}

function toMore(bytes: number): HTMLElement {
  const more = document.createElement('span');
  more.className = 'cut';
  more.textContent = ` ${bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`} more`;
  return more;
}

function withMarks(
  words: string,
  from: number,
  marks: readonly (readonly [number, number])[],
  isCurrent: boolean,
): readonly Node[] {
  const here = marks.filter(([begin, end]) => end > from && begin < from + words.length);
  if (here.length === 0) return [document.createTextNode(words)];
  const nodes: Node[] = [];
  let at = 0;
  for (const [begin, end] of here) {
    const [left, right] = [Math.max(0, begin - from), Math.min(words.length, end - from)];
    if (left > at) nodes.push(document.createTextNode(words.slice(at, left)));
    const mark = document.createElement('mark');
    if (isCurrent) mark.className = 'on';
    mark.textContent = words.slice(left, right);
    nodes.push(mark);
    at = right;
  }
  if (at < words.length) nodes.push(document.createTextNode(words.slice(at)));
  return nodes;
}
