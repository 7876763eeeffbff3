const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//;
const quoted = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/;
/** A template may hold code, and that code a template once more. */
const template = /`(?:\\[\s\S]|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*`/;
/** A slash begins a pattern, and does not divide, after an operator, an opening bracket or `return`. */
const pattern =
  /(?<=(?:^|[=(,:;!&|?{}[+>]|\breturn)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/;

/** The source with its comments made blank; what looks like a comment inside a string or a pattern stays. */
export function blankComments(source: string): string {
  const token = new RegExp(
    [comment, quoted, template, pattern].map(({ source: text }) => text).join('|'),
    'g',
  );
  return source.replace(token, (text) => (/^\/[/*]/.test(text) ? text.replace(/[^\n]/g, ' ') : text));
}
