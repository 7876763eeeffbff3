// Checks that comments, texts, titles and pages are plain English: `forbiddenWords` and `opensWithRiddle` find phrases to avoid,
// `namesIdentifier` tells whether a comment says what it is about.
import { findComments, findStrings, type Token } from './blank-comments.ts';

/** A comment without its marks, and the line where it starts. */
export interface Comment {
  readonly text: string;
  readonly line: number;
}

/** A violation in one file. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  /** The forbidden word or the offending comment. */
  readonly text: string;
}

const forbidden = /\b(?:whoever|whomever|whatever|somebody|nobody|anew|mend|mends|mended)\b/gi;
const riddle = /^(?:What|Who|Whom|Whose|Whoever)\b/;
const directive = /^(?:biome-ignore|@ts-|v8 ignore|\/ <reference)/;

/** The comments of a TypeScript or JavaScript source; consecutive `//` lines are one comment. */
export function readComments(source: string): Comment[] {
  const joined: (Token & { end: number })[] = [];
  for (const { text, at } of findComments(source)) {
    const last = joined.at(-1);
    const isNextLine = last !== undefined && /^\n[ \t]*$/.test(source.slice(last.end, at));
    const joins = isNextLine && isLine(text) && isLine(last.text) && startsLine(source, last.at);
    if (joins) joined.splice(-1, 1, { text: `${last.text}\n${text}`, at: last.at, end: at + text.length });
    else joined.push({ text, at, end: at + text.length });
  }
  return joined
    .map(({ text, at }) => ({ text: withoutMarks(text), line: lineAt(source, at) }))
    .filter(({ text }) => text !== '' && !directive.test(text));
}

function isLine(text: string): boolean {
  return text.startsWith('//');
}

function startsLine(source: string, at: number): boolean {
  return /^[ \t]*$/.test(source.slice(source.lastIndexOf('\n', at - 1) + 1, at));
}

function withoutMarks(text: string): string {
  return text
    .replace(/^\/\*\*?|\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\/\/|\*(?!\*))?\s?/, '').trimEnd())
    .join('\n')
    .trim();
}

function lineAt(source: string, at: number): number {
  return source.slice(0, at).split('\n').length;
}

/** Whether a comment begins with a relative clause that hides its subject, such as "What …" or "Who …". */
export function opensWithRiddle(comment: string): boolean {
  return riddle.test(comment);
}

/** Whether a comment names what it is about: an identifier, signal, errno, system call, file, path or flag. */
export function namesIdentifier(comment: string): boolean {
  return identifiers.some((pattern) => pattern.test(comment));
}

const identifiers = [
  /`[^`]+`/,
  // camelCase, PascalCase, snake_case and UPPER_CASE.
  /\b[a-z][a-z0-9]*[A-Z]\w*/,
  /\b[A-Z][a-z0-9]+[A-Z]\w*/,
  /\b[A-Za-z0-9]+_[A-Za-z0-9_]+/,
  // Signals and errno values.
  /\bSIG[A-Z]{2,}\b/,
  /\bE[A-Z]{4,}\b/,
  // System calls and functions: `read()`, `realpath(3)`.
  /\b\w+\(\d?\)/,
  // File names and absolute paths.
  /\b[\w-]+\.(?:ts|mjs|js|cjs|json|jsonl|ya?ml|toml|md|py|sh|css|html|sock|pem|index)\b/,
  /(?:^|[\s(])~?\/[a-z][\w.-]*/,
  /(?:^|[\s(])--[a-z][\w-]*/,
];

/** The forbidden words in a text, except in backticks. */
export function forbiddenWords(text: string): string[] {
  return withoutCode(text).match(forbidden) ?? [];
}

/** The forbidden words in a Markdown page, except in code. */
export function findInPage(file: string, page: string): Finding[] {
  const prose = page.replaceAll(/^```[\s\S]*?^```/gm, toEmptyLines);
  return prose
    .split('\n')
    .flatMap((line, index) => forbiddenWords(line).map((text) => ({ file, line: index + 1, text })));
}

/** The forbidden words in the comments of a source. */
export function findInComments(file: string, source: string): Finding[] {
  return findIn(file, readComments(source));
}

/** The forbidden words in strings that are sentences; a string without a blank is an identifier or data. */
export function findInTexts(file: string, source: string): Finding[] {
  const sentences = findStrings(source)
    .filter(({ text }) => /\w \w/.test(text))
    .map(({ text, at }) => ({ text: text.slice(1, -1), line: lineAt(source, at) }));
  return findIn(file, sentences);
}

/** The forbidden words in texts with their lines, such as the result of `findTitles`. */
export function findIn(file: string, texts: readonly Comment[]): Finding[] {
  return texts.flatMap(({ text, line }) => forbiddenWords(text).map((word) => ({ file, line, text: word })));
}

function withoutCode(text: string): string {
  return text.replaceAll(/`[^`\n]*`/g, '');
}

function toEmptyLines(block: string): string {
  return block.replaceAll(/[^\n]/g, '');
}
