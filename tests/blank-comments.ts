const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//;
const quoted = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/;
/** A template may hold code, and that code a template once more. */
const template = /`(?:\\[\s\S]|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*`/;
/** A slash begins a pattern, and does not divide, after an operator, an opening bracket or `return`. */
const pattern =
  /(?<=(?:^|[=(,:;!&|?{}[+>]|\breturn)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/;

const token = new RegExp([comment, quoted, template, pattern].map(({ source }) => source).join('|'), 'g');

/** Replaces comments with blanks; text inside strings and regular expressions stays. */
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
