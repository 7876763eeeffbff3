/** A value without structure, written on one line or as a block literal. */
export type YamlScalar = string | number | boolean | null;

/** A value in a reply; lists and maps may be nested. */
export type YamlValue = YamlScalar | readonly YamlValue[] | { readonly [key: string]: YamlValue | undefined };

/**
 * Writes one YAML document with the keys in the given order, leaving out undefined values.
 *
 * Strings are block literals or double-quoted, never plain or folded: YAML 1.1 parsers read `yes`, `12:30:45` and
 * `1_000` as other types, and long lines must not be wrapped.
 */
export function toYamlReply(entries: Readonly<Record<string, YamlValue | undefined>>): string {
  const lines = Object.entries(entries).flatMap(([key, value]) =>
    value === undefined ? [] : [`${toKey(key)}:${toBlockValue(value)}\n`],
  );
  return lines.length === 0 ? '{}\n' : lines.join('');
}

function toBlockValue(value: YamlValue): string {
  if (typeof value === 'string') return toText(wellFormed(value));
  if (isList(value))
    return value.length === 0 ? ' []' : value.map((item) => `\n  - ${toFlow(item)}`).join('');
  if (typeof value !== 'object' || value === null) return ` ${toFlow(value)}`;
  const pairs = flowPairs(value);
  return pairs.length === 0 ? ' {}' : pairs.map((pair) => `\n  ${pair}`).join('');
}

function toFlow(value: YamlValue): string {
  if (typeof value === 'string') return toQuoted(wellFormed(value));
  if (typeof value === 'number') return toNumber(value);
  if (isList(value)) return `[${value.map(toFlow).join(', ')}]`;
  return typeof value === 'object' && value !== null ? `{${flowPairs(value).join(', ')}}` : String(value);
}

function flowPairs(map: { readonly [key: string]: YamlValue | undefined }): string[] {
  return Object.entries(map).flatMap(([key, value]) =>
    value === undefined ? [] : [`${toKey(key)}: ${toFlow(value)}`],
  );
}

function isList(value: YamlValue): value is readonly YamlValue[] {
  return Array.isArray(value);
}

function toText(text: string): string {
  return fitsBlock(text) ? toBlock(text) : ` ${toQuoted(text)}`;
}

// Block literals are easiest to read, but cannot contain `notForBlocks` (line ends other than LF, invisible characters),
// and parsers disagree on a last line of blanks.
function fitsBlock(text: string): boolean {
  return text.includes('\n') && !notForBlocks.test(text) && lastLine(text).trim() !== '';
}

// A loop, because a regular expression for trailing line ends takes quadratic time on a long run of them.
function lastLine(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x0a) end -= 1;
  return text.slice(end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1, end);
}

function toBlock(text: string): string {
  const indentation = /^[ \t\n]/.test(text) ? '2' : '';
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  return ` |${indentation}${chomping(text)}\n${body.replace(/^(?=[^\n])/gm, '  ')}`;
}

function chomping(text: string): '' | '-' | '+' {
  if (text.endsWith('\n\n')) return '+';
  return text.endsWith('\n') ? '' : '-';
}

const notForBlocks = /[^\t\n -~\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]/;

// YAML has all escapes of `JSON.stringify`. Some parsers alter raw line separators, controls and byte order marks.
function toQuoted(text: string): string {
  return JSON.stringify(text).replace(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, toEscape);
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function toNumber(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  // YAML 1.1 requires a decimal point before an exponent: `1.0e+21`.
  return String(value).replace(/^(-?\d+)e/, '$1.0e');
}

function toKey(key: string): string {
  return /^[a-z][a-z\d_]+$/i.test(key) && !yamlWords.has(key.toLowerCase()) ? key : toQuoted(wellFormed(key));
}

const yamlWords = new Set(['yes', 'no', 'on', 'off', 'true', 'false', 'null']);

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
