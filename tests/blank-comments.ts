const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//;
const quoted = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/;
/** A template literal; its `${…}` code may contain one more level of templates. */
const template = /`(?:\\[\s\S]|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*`/;
/** A regular expression literal: a slash after an operator, an opening bracket or `return` does not divide. */
const pattern =
  /(?<=(?:^|[=(,:;!&|?{}[+>]|\breturn)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/;

const token = new RegExp([comment, quoted, template, pattern].map(({ source }) => source).join('|'), 'g');

/** Replaces comments with blanks; strings and regular expressions that look like comments stay. */
export function blankComments(source: string): string {
  return source.replace(token, (text) => (isComment(text) ? toBlanks(text) : text));
}

/** Replaces comments, strings, templates and regular expressions with blanks. */
export function blankLiterals(source: string): string {
  return source.replace(token, toBlanks);
}

/** A comment or literal as written, and its offset in the source. */
export interface Token {
  readonly text: string;
  readonly at: number;
}

/** All comments of a source, each `//` line by itself. */
export function findComments(source: string): Token[] {
  return findTokens(source).filter(({ text }) => isComment(text));
}

/** All string and template literals of a source, including their quotes. */
export function findStrings(source: string): Token[] {
  return findTokens(source).filter(({ text }) => /^['"`]/.test(text));
}

function findTokens(source: string): Token[] {
  return [...source.matchAll(token)].map((found) => ({ text: found[0], at: found.index }));
}

function isComment(text: string): boolean {
  return /^\/[/*]/.test(text);
}

function toBlanks(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
