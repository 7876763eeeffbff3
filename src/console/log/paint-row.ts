// One row of a log as elements. Text only ever becomes text nodes.
import { toClock } from '../words.ts';
import type { MarkedRow } from '../worker/messages.ts';
import type { RingOptions } from './ring.ts';

const painted = new WeakMap<HTMLElement, string>();

/** Fills an element with a row; a number is a line that is not known yet, undefined an unused element. */
export function paintRow(
  element: HTMLElement,
  row: MarkedRow | number | undefined,
  options: RingOptions,
): void {
  const key = toKey(row, options);
  if (painted.get(element) === key) return;
  painted.set(element, key);
  if (row === undefined) {
    element.className = 'ln none';
    element.replaceChildren();
    return;
  }
  const line = typeof row === 'number' ? row : row.line;
  element.className = toClassName(row, line, options);
  element.replaceChildren(
    toNumber(line, typeof row === 'number' ? undefined : row.cursor),
    toTime(row, options),
    toText(row, options),
  );
}

function toKey(
  row: MarkedRow | number | undefined,
  { times, chosen, current, isWrapped, startedAt }: RingOptions,
): string {
  if (row === undefined) return '';
  const look = `${times} ${chosen?.join('-') ?? ''} ${current ?? ''} ${isWrapped} ${startedAt ?? ''}`;
  if (typeof row === 'number') return `${row} ? ${look}`;
  const text = row.pieces.map(({ text: one, classes }) => `${classes}|${one}`).join('\u0000');
  return `${row.line} ${row.isError} ${row.ms} ${row.more} ${row.marks.join(';')} ${look} ${text}`;
}

function toClassName(row: MarkedRow | number, line: number, { chosen }: RingOptions): string {
  const names = ['ln'];
  if (typeof row !== 'number' && row.isError) names.push('err');
  if (typeof row !== 'number' && row.fromStderr) names.push('two');
  if (chosen && line >= chosen[0] && line <= chosen[1]) names.push('sel');
  return names.join(' ');
}

function toNumber(line: number, cursor: number | undefined): HTMLElement {
  const link = document.createElement('a');
  link.className = 'no';
  link.textContent = String(line + 1);
  link.dataset.line = String(line);
  link.tabIndex = -1;
  if (cursor !== undefined) {
    link.href = `?at=${cursor}`;
    link.dataset.cursor = String(cursor);
  }
  link.setAttribute('aria-label', `Link to line ${line + 1}`);
  return link;
}

function toTime(row: MarkedRow | number, { times, startedAt }: RingOptions): HTMLElement {
  const time = document.createElement('time');
  if (typeof row === 'number' || times === 'off' || !row.isNewSecond) return time;
  time.textContent =
    times === 'clock' && startedAt !== undefined
      ? toClock(new Date(startedAt + row.ms).toISOString())
      : toSince(row.ms);
  return time;
}

function toSince(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3_600);
  return `+${hours > 0 ? `${hours}:${two(Math.floor(seconds / 60) % 60)}` : Math.floor(seconds / 60)}:${two(seconds % 60)}`;
}

function toText(row: MarkedRow | number, { current }: RingOptions): HTMLElement {
  const text = document.createElement('span');
  text.className = 'tx';
  if (typeof row === 'number') return text;
  let at = 0;
  for (const { text: words, classes, link } of row.pieces) {
    const nodes = withMarks(words, at, row.marks, row.line === current);
    at += words.length;
    if (link === undefined && classes === '') text.append(...nodes);
    else text.append(wrap(nodes, classes, link));
  }
  if (row.more > 0) text.append(toMore(row.more));
  return text;
}

function wrap(nodes: readonly Node[], classes: string, link: string | undefined): HTMLElement {
  const element = document.createElement(link === undefined ? 'span' : 'a');
  if (classes !== '') element.className = classes;
  if (element instanceof HTMLAnchorElement && link !== undefined) {
    element.href = link;
    element.target = '_blank';
    element.rel = 'noopener noreferrer';
    element.tabIndex = -1;
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
