import { forEachChild, type SyntaxNode } from 'unbash';
import { limits } from '../words/limits.ts';

/**
 * Returns the end of a command's name after which unbash drops a `(`; undefined if there is none. unbash reads `ls ( x` as `ls x`, but
 * to bash it is a syntax error.
 */
export function lostParenthesis(script: SyntaxNode, text: string): number | undefined {
  const ends: number[] = [];
  for (let at = text.indexOf('('); at >= 0; at = text.indexOf('(', at + 1)) {
    const end = endBefore(text, at);
    if (mayFollowName(text, end, at)) ends.push(end);
  }
  return ends.length === 0 ? undefined : findName(script, ends, 0);
}

/** The end of the text before `at`, without the blanks and line continuations in between. */
function endBefore(text: string, at: number): number {
  let end = at;
  while (end > 0) {
    if (isBlank(text.charCodeAt(end - 1))) end--;
    else if (text.startsWith('\\\n', end - 2)) end -= 2;
    else break;
  }
  return end;
}

const [tab, newline, space] = [9, 10, 32];

function isBlank(code: number): boolean {
  return code === space || code === tab;
}

/** Returns false for `(` after an operator, in an expansion or a pattern, and in `()` of a function. */
function mayFollowName(text: string, end: number, at: number): boolean {
  const before = text.charAt(end - 1);
  if (before === '' || text.charCodeAt(end - 1) === newline || ';&|('.includes(before)) return false;
  if (end === at && '$<>=?*+@!'.includes(before)) return false;
  return !/^\([ \t]*\)/.test(text.slice(at, at + longestPair));
}

const longestPair = 64;

/** Returns the first of the sorted positions at which the name of a simple command ends. */
function findName(node: SyntaxNode, ends: readonly number[], depth: number): number | undefined {
  if (node.type === 'Command' && node.name !== undefined && includes(ends, node.name.end))
    return node.name.end;
  // The walk refuses substitutions that are nested deeper.
  if (node.type === 'Script' && depth > limits.depth) return undefined;
  const below = node.type === 'Script' ? depth + 1 : depth;
  let found: number | undefined;
  forEachChild(node, (child) => {
    if (found !== undefined || (child.type === 'Word' && !/[`(]/.test(child.text))) return;
    const next = ends[firstAfter(ends, child.pos)];
    if (next !== undefined && next <= child.end) found = findName(child, ends, below);
  });
  return found;
}

function includes(ends: readonly number[], end: number): boolean {
  return ends[firstAfter(ends, end - 1)] === end;
}

/** The index of the first of the sorted positions after `pos`. */
function firstAfter(ends: readonly number[], pos: number): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 0) > pos) high = middle;
    else low = middle + 1;
  }
  return low;
}
