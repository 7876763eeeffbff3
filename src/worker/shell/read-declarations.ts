/** A variable as `declare -p` prints it. */
export interface Declaration {
  readonly name: string;
  /** Attribute letters such as `x` (exported) and `r` (read-only). */
  readonly attributes: string;
  /** The value of a plain variable; `undefined` for arrays and unset variables. */
  readonly value: string | undefined;
  /** The whole `declare` command, which bash can evaluate. */
  readonly text: string;
}

/** Parses the output of `declare -p`. */
export function readDeclarations(printed: string): readonly Declaration[] {
  const found: Declaration[] = [];
  for (let at = 0; at < printed.length; ) {
    const end = endOfEntry(printed, at);
    const declaration = toDeclaration(printed.slice(at, end));
    if (declaration) found.push(declaration);
    at = end + 1;
  }
  return found;
}

const aliasEntry = /^alias (?:-- )?([^=\n]+)=((?:'[^']*'|\\')*)$/gm;

/** Parses the output of `alias -p`: texts by name. */
export function readAliases(printed: string): ReadonlyMap<string, string> {
  const found = [...printed.matchAll(aliasEntry)];
  return new Map(found.map(([, name = '', text = '']) => [name, text.replace(/'([^']*)'|\\(')/g, '$1$2')]));
}

// An entry ends at a newline outside of quotes: newer versions of bash print a newline in a value as `\n`, older ones as
// it is. The text is scanned mark by mark, because one regular expression for a whole quoted text overflows its stack.
function endOfEntry(text: string, from: number): number {
  const mark = /["'\\\n]/g;
  mark.lastIndex = from;
  let within: '"' | "$'" | "'" | null = null;
  for (let found = mark.exec(text); found; found = mark.exec(text)) {
    const [sign] = found;
    if (sign === '\n' && within === null) return found.index;
    if (sign === '\\' && within !== "'") mark.lastIndex += 1;
    else if (within?.endsWith(sign)) within = null;
    else if (within === null && sign === '"') within = '"';
    else if (within === null && sign === "'") within = text[found.index - 1] === '$' ? "$'" : "'";
  }
  return text.length;
}

function toDeclaration(text: string): Declaration | undefined {
  const [, attributes, name, value] = /^declare -(\S+) ([A-Za-z_]\w*)(?:=([\s\S]*))?$/.exec(text) ?? [];
  if (attributes === undefined || name === undefined) return undefined;
  return { name, attributes, text, value: /[aA]/.test(attributes) ? undefined : toValue(value) };
}

function toValue(written: string | undefined): string | undefined {
  if (written?.startsWith('"')) return written.slice(1, -1).replace(/\\([\\"$`\n])/g, '$1');
  if (written?.startsWith("$'")) return decode(written.slice(2, -1));
  return written;
}

const escapes =
  /\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|([\s\S]))/g;
const letters: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

// bash escapes single bytes in octal (`$'\303\244'`), so that one UTF-8 character may be several escapes.
function decode(written: string): string {
  const bytes: Buffer[] = [];
  let at = 0;
  for (const found of written.matchAll(escapes)) {
    const [whole, octal, hex, four, eight, control, other = ''] = found;
    bytes.push(Buffer.from(written.slice(at, found.index)));
    at = found.index + whole.length;
    const byte = octal ? Number.parseInt(octal, 8) & 0xff : hex ? Number.parseInt(hex, 16) : undefined;
    const point = four ?? eight;
    if (byte !== undefined) bytes.push(Buffer.from([byte]));
    else if (point !== undefined) bytes.push(Buffer.from(String.fromCodePoint(Number.parseInt(point, 16))));
    else if (control !== undefined) bytes.push(Buffer.from([control.charCodeAt(0) & 0x1f]));
    else bytes.push(Buffer.from(letters[other] ?? other));
  }
  bytes.push(Buffer.from(written.slice(at)));
  return Buffer.concat(bytes).toString('utf8');
}
