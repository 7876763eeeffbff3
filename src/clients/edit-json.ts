// Edits a JSON text without changing anything else: comments, order, whitespace and line endings stay.
import { isDeepStrictEqual } from 'node:util';
import { type JsonMember, type JsonNode, readJsonTree } from './json-tree.ts';
import { lineStart, newlineOf, splice, TextFault } from './text-edits.ts';

/** Sets the value at `path` and creates missing objects on the way. An equal value keeps its formatting. */
export function setJson(text: string, path: readonly string[], value: unknown): string {
  const root = readJsonTree(text);
  if (root === undefined) return addDocument(text, nest(path, value));
  const { node, rest } = descend(root, path);
  const style = styleOf(text, root);
  if (rest.length > 0) return addMember(text, node, rest, value, style);
  if (isDeepStrictEqual(plain(node.value), plain(value))) return text;
  return splice(text, node.start, node.end, toText(value, indentAt(text, node.start), style));
}

/** Removes the value at `path`, if there is one. */
export function removeJson(text: string, path: readonly string[]): string {
  const root = readJsonTree(text);
  if (root === undefined || path.length === 0) return text;
  const above = path.slice(0, -1);
  const { node: parent, rest } = descend(root, above);
  const at = rest.length > 0 ? -1 : (findMember(parent, path.at(-1) ?? '', above)?.index ?? -1);
  return at < 0 ? text : dropMember(text, parent.members ?? [], at);
}

/** The value at `path`; undefined if there is none. */
export function getJson(text: string, path: readonly string[]): unknown {
  const root = readJsonTree(text);
  if (root === undefined) return undefined;
  const { node, rest } = descend(root, path);
  return rest.length > 0 ? undefined : plain(node.value);
}

function descend(root: JsonNode, path: readonly string[]): { node: JsonNode; rest: readonly string[] } {
  let node = root;
  for (const [depth, key] of path.entries()) {
    const found = findMember(node, key, path.slice(0, depth));
    if (found === undefined) return { node, rest: path.slice(depth) };
    node = found.member.node;
  }
  return { node, rest: [] };
}

function findMember(
  node: JsonNode,
  key: string,
  path: readonly string[],
): { member: JsonMember; index: number } | undefined {
  if (node.members === undefined)
    throw new TextFault(node.start, `${path.join('.') || 'the file'} is not an object`);
  const index = node.members.findIndex((member) => member.key === key);
  const lastIndex = node.members.findLastIndex((member) => member.key === key);
  // JSON parsers disagree on which of two equal keys counts, so neither is edited.
  if (lastIndex !== index)
    throw new TextFault(node.members[lastIndex]?.start ?? 0, `the key ${key} occurs twice`);
  const member = node.members[index];
  return member && { member, index };
}

interface Style {
  readonly unit: string;
  readonly newline: string;
}

function styleOf(text: string, root?: JsonNode): Style {
  const [first] = root?.members ?? [];
  const unit = first === undefined ? '' : indentAt(text, first.start);
  return { unit: unit || '  ', newline: newlineOf(text) };
}

function addDocument(text: string, value: unknown): string {
  const style = styleOf(text);
  const gap = text === '' || text.endsWith('\n') ? '' : style.newline;
  return `${text}${gap}${toText(value, '', style)}${style.newline}`;
}

function addMember(
  text: string,
  { start, end, members = [] }: JsonNode,
  [key = '', ...rest]: readonly string[],
  value: unknown,
  style: Style,
): string {
  const last = members.at(-1);
  const content = nest(rest, value);
  const isMultiLine = text.slice(start, end).includes('\n');
  const member = (indent: string) => `${JSON.stringify(key)}: ${toText(content, indent, style)}`;
  if (last === undefined) {
    const outer = indentAt(text, start);
    const inner = `${outer}${style.unit}`;
    const inside = text.slice(start + 1, end - 1).trimEnd();
    return splice(
      text,
      start + 1,
      end - 1,
      `${inside}${style.newline}${inner}${member(inner)}${style.newline}${outer}`,
    );
  }
  const isOwnLine = text.slice(0, last.start).trimEnd().length < lineStart(text, last.start);
  if (!isMultiLine || !isOwnLine) {
    const inline = `${JSON.stringify(key)}: ${JSON.stringify(content)}`;
    return splice(text, last.node.end, last.node.end, `, ${inline}`);
  }
  const indent = indentAt(text, last.start);
  const added = `${style.newline}${indent}${member(indent)}${last.commaEnd === undefined ? '' : ','}`;
  const at = endOfComments(text, last.commaEnd ?? last.node.end);
  const withMember = splice(text, at, at, added);
  return last.commaEnd === undefined ? splice(withMember, last.node.end, last.node.end, ',') : withMember;
}

function dropMember(text: string, members: readonly JsonMember[], index: number): string {
  const member = members[index] as JsonMember;
  const { commaEnd, node } = member;
  // A comment between the value and its comma stays; the comma is removed with the member.
  if (commaEnd !== undefined && text.slice(node.end, commaEnd - 1).trim() !== '') {
    const without = splice(text, commaEnd - 1, commaEnd, '');
    return splice(without, member.start, node.end, '');
  }
  const before = members[index - 1];
  const isLast = index === members.length - 1;
  let to = member.commaEnd ?? member.node.end;
  let from = startOfBlanks(text, member.start);
  if (!/^[ \t]*(?:\r?\n|$)/.test(text.slice(to))) {
    // More text follows on this line. Keep the line break before it, or a `//` comment there would comment it out.
    from = member.start;
    to += /^[ \t]*/.exec(text.slice(to))?.[0].length ?? 0;
  }
  const without = splice(text, from, to, '');
  if (!isLast || member.commaEnd !== undefined || before?.commaEnd === undefined) return without;
  return splice(without, before.commaEnd - 1, before.commaEnd, '');
}

/** The start of the whitespace before `at`, including at most one line break. */
function startOfBlanks(text: string, at: number): number {
  const skip = (from: number) => {
    let place = from;
    while (/[ \t]/.test(text.charAt(place - 1))) place -= 1;
    return place;
  };
  const start = skip(at);
  if (text.charAt(start - 1) !== '\n') return start;
  return skip(text.charAt(start - 2) === '\r' ? start - 2 : start - 1);
}

/** The end of comments that follow on the same line; they belong to the member before them. */
function endOfComments(text: string, at: number): number {
  const [found = ''] =
    /^(?:[ \t]*\/\*(?:(?!\*\/)[^\n])*\*\/)*[ \t]*(?:\/\/[^\r\n]*)?/.exec(text.slice(at)) ?? [];
  const isWholeRest = /^(?:\r?\n|$)/.test(text.slice(at + found.length));
  return isWholeRest ? at + found.trimEnd().length : at;
}

function toText(value: unknown, indent: string, { unit, newline }: Style): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `${newline}${indent}`);
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

function indentAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, at)))?.[0] ?? '';
}

// Parsed objects have no prototype, which `isDeepStrictEqual` would report as a difference.
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
