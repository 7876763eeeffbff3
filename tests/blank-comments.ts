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
  return source.replace(token, (text) => (/^\/[/*]/.test(text) ? toBlanks(text) : text));
}

/** Replaces comments, strings, templates and regular expressions with blanks. */
export function blankLiterals(source: string): string {
  return source.replace(token, toBlanks);
}

function toBlanks(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
