// Inline JavaScript: finds code that visibly starts programs, by its tokens rather than by its text, so that strings which
// only look like code are data. It cannot find code that hides what it calls; `nacre check` says so.

interface Token {
  readonly kind: 'name' | 'string' | 'template' | 'number' | 'regex' | 'sign';
  readonly text: string;
  /** Where the next token begins. */
  readonly end?: number;
}

/** Returns true if JavaScript code imports a module that starts programs, evaluates text or calls computed names. */
export function startsPrograms(code: string): boolean {
  const readings = readingsOf(code);
  return (
    readings === undefined ||
    readings.some((tokens) => tokens.some((token, index) => isSpawning(tokens, index, token)))
  );
}

const modules =
  /^(?:node:)?(?:child_process|cluster|worker_threads|vm|module|inspector|repl|execa|shelljs|cross-spawn|node-pty|zx|bun)(?:\/|$)/;
const names =
  /^(?:eval|Function|createRequire|getOwnPropertyDescriptors?|mainModule|binding|_linkedBinding|dlopen|_load|execve|Reflect|getBuiltinModule|__proto__|execSync|execFileSync|spawnSync)$/;
const roots = /^(?:globalThis|global|process|window|self|module|this|require)$/;

function isSpawning(tokens: readonly Token[], index: number, token: Token): boolean {
  const [before, next] = [tokens[index - 1], tokens[index + 1]];
  if (token.kind === 'template')
    return /\$\{/.test(token.text) ? startsPrograms(inner(token.text)) : isTagged(before);
  if (token.kind === 'string')
    return (
      modules.test(token.text) ||
      (isIndex(tokens, index) && isBadName(tokens, index)) ||
      isBadSum(tokens, index) ||
      isCodeAddress(tokens, index)
    );
  if (token.kind === 'name') return isBadName(tokens, index) || isBadLoad(tokens, index);
  if (token.text !== '[') return false;
  return isOperand(tokens, index - 1)
    ? isComputed(tokens, index, before, next)
    : tokens[closing(tokens, index) + 1]?.text === ':' && takesApart(tokens, index);
}

/** `"const" + "ructor"`: harmless code does not join strings to a name that it could write out. */
function isBadSum(tokens: readonly Token[], index: number): boolean {
  if (tokens[index + 1]?.text !== '+') return false;
  let text = tokens[index]?.text ?? '';
  for (let at = index + 2; tokens[at]?.kind === 'string' && tokens[at - 1]?.text === '+'; at += 2)
    text += tokens[at]?.text;
  return modules.test(text) || names.test(text) || /^(?:constructor|require|process)$/.test(text);
}

/** `import("data:…")` and `import x from "data:…"` contain code. */
function isCodeAddress(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1]?.text ?? '';
  const imported =
    /^(?:from|import)$/.test(before) || (before === '(' && tokens[index - 2]?.text === 'import');
  return imported && /^(?:data|blob|https?):/.test(tokens[index]?.text ?? '');
}

/** `{ [name]: x } = globalThis` looks a name up in a global object. */
function takesApart(tokens: readonly Token[], index: number): boolean {
  const end = tokens.findIndex(({ text }, at) => at > index && text === '=' && tokens[at - 1]?.text === '}');
  return end > 0 && roots.test(tokens[end + 1]?.text ?? '');
}

/** The code in the substitutions of a template, which is judged like other code. */
function inner(template: string): string {
  return [...template.matchAll(/\$\{([^${}]*)\}/g)].map(([, code = '']) => code).join(';');
}

function isTagged(before: Token | undefined): boolean {
  return before?.kind === 'name' && before.text.endsWith('$');
}

function isIndex(tokens: readonly Token[], index: number): boolean {
  return tokens[index - 1]?.text === '[' && tokens[index + 1]?.text === ']' && isOperand(tokens, index - 2);
}

function isBadName(tokens: readonly Token[], index: number): boolean {
  const { text } = tokens[index] ?? { text: '' };
  if (names.test(text)) return true;
  const object = tokens[index - 2]?.text ?? '';
  if (object === 'Deno') return /^(?:run|Command|dlopen)$/.test(text);
  if (object === 'Bun') return text.startsWith('spawn') || text === '$';
  if (text === 'constructor' && isMethod(tokens, index)) return false;
  const after = tokens[index + 1]?.text === ']' ? tokens[index + 2] : tokens[index + 1];
  return text === 'constructor' && /^[([`:]$|^\?\.$/.test(after?.text ?? '')
    ? true
    : text === 'constructor' &&
        after?.text === '.' &&
        !/^(?:name|prototype)$/.test(tokens[index + 2]?.text ?? '');
}

/** `class A { constructor(x) { … } }` */
function isMethod(tokens: readonly Token[], index: number): boolean {
  if (!/^[{};]$/.test(tokens[index - 1]?.text ?? '') || tokens[index + 1]?.text !== '(') return false;
  let depth = 0;
  for (let at = index + 1; at < tokens.length; at++) {
    const { kind, text } = tokens[at] ?? pattern;
    if (kind === 'sign' && text === '(') depth++;
    if (kind === 'sign' && text === ')' && --depth === 0) return tokens[at + 1]?.text === '{';
  }
  return false;
}

/** `require` and `import` may only be called with a string. */
function isBadLoad(tokens: readonly Token[], index: number): boolean {
  const text = tokens[index]?.text;
  if (text !== 'require' && text !== 'import') return false;
  if (/^\??\.$/.test(tokens[index - 1]?.text ?? '') || tokens[index - 1]?.text === 'typeof') return false;
  const next = tokens[index + 1]?.text;
  if (next === '.') return !/^(?:resolve|meta|main)$/.test(tokens[index + 2]?.text ?? '');
  if (next !== '(') return text === 'require';
  const [argument, close] = [tokens[index + 2], tokens[index + 3]];
  return argument?.kind !== 'string' || !/^[),]$/.test(close?.text ?? '');
}

/** `a[i]` and `a["b"]` are data; a name that is put together, or looked up in a global object, may be anything. */
function isComputed(
  tokens: readonly Token[],
  index: number,
  before: Token | undefined,
  next: Token | undefined,
): boolean {
  const end = closing(tokens, index);
  const inside = tokens.slice(index + 1, end);
  const isWord = inside.length === 1 && (next?.kind === 'string' || next?.kind === 'number');
  if (isWord) return false;
  if (roots.test(before?.text ?? '') && tokens[index - 2]?.text !== '.') return true;
  if (inside.some(({ kind }) => kind === 'string' || kind === 'template')) return true;
  return tokens[end + 1]?.text === '(' && inside.some(({ kind }) => kind === 'name');
}

function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at]?.kind !== 'sign') continue;
    if (tokens[at]?.text === '[') depth++;
    else if (tokens[at]?.text === ']' && --depth === 0) return at;
  }
  return tokens.length;
}

const keywords = /^(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield|instanceof)$/;

function isOperand(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index];
  if (token === undefined) return false;
  if (token.kind === 'name')
    return !keywords.test(token.text) || /^\??\.$/.test(tokens[index - 1]?.text ?? '');
  return token.kind !== 'sign' || /^[)\]}]$/.test(token.text);
}

const token =
  /\s+|\/\/[^\n\r\u2028\u2029]*|\/\*(?:[^*]|\*(?!\/))*\*\/|("(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*')|(`(?:[^`\\]|\\[\s\S])*`)|([\w$\u0080-\uffff]+)|(=>|\?\.|[!-.:-@[\]^{-~])/y;

/** The last tokens of the code up to `at`. */
interface Reading {
  readonly tokens: Token[];
  readonly at: number;
}

/** The number of tokens around a place where two readings differ or meet: at least as many as `isSpawning` looks at. */
const around = 12;

/**
 * The ways to read code: after `)`, `}`, `++` and `--`, a slash may divide or begin a regular expression. Another reading has the
 * tokens up to where it meets the first one. Returns undefined for code that is not understood, for example a name with escapes.
 */
function readingsOf(code: string): Token[][] | undefined {
  const found: Token[][] = [];
  const open: Reading[] = [{ tokens: [], at: 0 }];
  const seen = new Set<string>();
  let first: ReadonlyMap<number, number> | undefined;
  let left = 8 * code.length + 2_000;
  for (let reading = open.pop(); reading !== undefined; reading = open.pop()) {
    const meets = (tokens: readonly Token[]): boolean => {
      left--;
      return first !== undefined && isSameEnd(tokens, found[0] ?? [], first);
    };
    const result =
      left < 0
        ? 'unknown'
        : readOn(code, reading, meets, (other) => {
            const key = `${other.at} ${other.tokens.slice(-3).map(({ text }) => text)}`;
            if (!seen.has(key)) open.push(other);
            seen.add(key);
          });
    if (result === 'unknown') return undefined;
    if (result !== 'invalid') found.push(followed(result, found[0], first));
    first ??= open.length === 0 ? undefined : new Map(found[0]?.map(({ end = -1 }, index) => [end, index]));
  }
  return found.length === 0 ? undefined : found;
}

/** Returns true if the last two tokens are also in the first reading, so that the rest is the same. */
function isSameEnd(
  tokens: readonly Token[],
  all: readonly Token[],
  first: ReadonlyMap<number, number>,
): boolean {
  const [before, last] = [tokens.at(-2), tokens.at(-1)];
  const index = first.get(last?.end ?? -1);
  if (index === undefined || index < 1) return false;
  return (
    all[index]?.text === last?.text && all[index]?.kind === last?.kind && all[index - 1]?.end === before?.end
  );
}

/** Adds the next tokens of the first reading, where a reading met it. */
function followed(
  tokens: Token[],
  all: readonly Token[] | undefined,
  first: ReadonlyMap<number, number> | undefined,
): Token[] {
  const index = first?.get(tokens.at(-1)?.end ?? -1);
  return all === undefined || index === undefined
    ? tokens
    : [...tokens, ...all.slice(index + 1, index + 1 + around)];
}

/** Reads the rest of the code, or up to where it meets the first reading, and reports other ways to read it. */
function readOn(
  code: string,
  { tokens, at: from }: Reading,
  meets: (tokens: readonly Token[]) => boolean,
  report: (other: Reading) => void,
): Token[] | 'unknown' | 'invalid' {
  for (let at = from; at < code.length; ) {
    if (code.charAt(at) === '/' && !/^\/[/*]/.test(code.slice(at, at + 2))) {
      const read = readSlash(code, tokens, at, report);
      if (typeof read === 'string') return read;
      at = read;
    } else {
      token.lastIndex = at;
      const found = isComment(code, at) ? null : token.exec(code);
      if (found === null) return /["'`]/.test(code.charAt(at)) ? 'invalid' : 'unknown';
      at = token.lastIndex;
      tokens.push(...toTokens(found, at));
    }
    if (meets(tokens)) return tokens;
  }
  return tokens;
}

function readSlash(
  code: string,
  tokens: Token[],
  at: number,
  report: (other: Reading) => void,
): number | 'unknown' | 'invalid' {
  const end = endOfRegex(code, at + 1);
  const divides = isOperand(tokens, tokens.length - 1);
  const unclear = isUnclear(tokens);
  if (unclear && divides && end !== undefined)
    report({ tokens: [...tokens.slice(-around), { ...pattern, end }], at: end });
  if (unclear && !divides)
    report({ tokens: [...tokens.slice(-around), { ...division, end: at + 1 }], at: at + 1 });
  if (!divides && end === undefined) return unclear ? 'invalid' : 'unknown';
  const next = divides ? at + 1 : (end ?? code.length);
  tokens.push({ ...(divides ? division : pattern), end: next });
  return next;
}

const pattern: Token = { kind: 'regex', text: '' };
const division: Token = { kind: 'sign', text: '/' };

function isUnclear(tokens: readonly Token[]): boolean {
  const [before, last] = [tokens.at(-2), tokens.at(-1)].map((one) => (one?.kind === 'sign' ? one.text : ''));
  return /^[)}]$/.test(last ?? '') || (before === last && /^[+-]$/.test(last ?? ''));
}

/** `<!--`, and `-->` at the beginning of a line, begin a comment. */
function isComment(code: string, at: number): boolean {
  if (code.startsWith('<!--', at)) return true;
  const before = code.slice(Math.max(0, at - 200), at);
  return code.startsWith('-->', at) && /(?:^|[\n\r\u2028\u2029]|\*\/)[ \t]{0,99}$/.test(before);
}

function toTokens([, string, template, name, sign]: RegExpExecArray, end: number): Token[] {
  if (string !== undefined) return [{ kind: 'string', text: decodeString(string.slice(1, -1)), end }];
  if (template !== undefined) return [{ kind: 'template', text: template, end }];
  if (name !== undefined) return [{ kind: /^\d/.test(name) ? 'number' : 'name', text: name, end }];
  return sign === undefined ? [] : [{ kind: 'sign', text: sign, end }];
}

function endOfRegex(code: string, from: number): number | undefined {
  let inClass = false;
  for (let at = from; at < code.length; at++) {
    const character = code.charAt(at);
    if (character === '\n') return undefined;
    if (character === '\\') at++;
    else if (character === '[') inClass = true;
    else if (character === ']') inClass = false;
    else if (character === '/' && !inClass) return at + 1;
  }
  return undefined;
}

function decodeString(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u\{?([0-9a-fA-F]{1,6})\}?|([\s\S]))/g,
    (_, hex, unicode, letter) => {
      const code = Number.parseInt(hex ?? unicode ?? '', 16);
      if (letter !== undefined) return letter === '\n' ? '' : letter;
      return code > 0x10ffff ? '' : String.fromCodePoint(code);
    },
  );
}
