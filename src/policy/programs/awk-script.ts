/** An effect of an awk program beyond printing. `whole` is false if only the beginning of a command is known. */
export interface AwkAction {
  readonly kind: 'run' | 'write' | 'refuse';
  readonly text: string;
  readonly whole: boolean;
}

/** Returns the commands that an awk program starts, the files it writes and the code it loads. */
export function awkActions(program: string): AwkAction[] {
  // Without one of these no awk program starts a command, writes a file or loads code, however it is read.
  if (!/system|getline|[|>@]/.test(program)) return [];
  const { tokens, understood } = tokensOf(program);
  if (!understood) return [{ kind: 'refuse', text: 'run a program that is not understood', whole: true }];
  return tokens.flatMap((token, index) => actionsAt(tokens, index, token));
}

interface Token {
  readonly kind: 'name' | 'string' | 'regex' | 'number' | 'sign' | 'line';
  readonly text: string;
  /** The number of open parentheses. */
  readonly depth: number;
  /** The parenthesis depth at which the current `print` statement began. */
  readonly printing: number | undefined;
}

function actionsAt(tokens: readonly Token[], index: number, token: Token): AwkAction[] {
  const next = tokens[index + 1];
  if (token.kind === 'name' && token.text === 'system') return [commandAt(tokens, index + 2, ')')];
  if (token.kind !== 'sign') return [];
  if (token.text === '@')
    return [{ kind: 'refuse', text: 'load code or call functions by name', whole: true }];
  if (token.text === '|' || token.text === '|&') {
    return [next?.text === 'getline' ? commandBefore(tokens, index) : commandAt(tokens, index + 1, '')];
  }
  const redirects =
    token.text === '>>' ||
    (token.text === '>' && token.printing !== undefined && token.depth <= token.printing);
  return redirects ? writesAt(tokens, index + 1) : [];
}

function commandAt(tokens: readonly Token[], from: number, close: string): AwkAction {
  const first = tokens[from];
  const after = tokens[from + 1];
  const text = first?.kind === 'string' ? first.text : '';
  const ends =
    after === undefined || after.text === close || after.kind === 'line' || /^[;}]$/.test(after.text);
  return { kind: 'run', text, whole: first?.kind === 'string' && ends };
}

function commandBefore(tokens: readonly Token[], index: number): AwkAction {
  const token = tokens[index - 1];
  const before = tokens[index - 2];
  const alone =
    before === undefined ||
    before.kind === 'line' ||
    /^[;{(!]$/.test(before.text) ||
    before.text === 'while' ||
    before.text === 'if';
  return {
    kind: 'run',
    text: token?.kind === 'string' ? token.text : '',
    whole: token?.kind === 'string' && alone,
  };
}

/** The file after `>`; if a variable or an expression names it, every path among the strings may be meant. */
function writesAt(tokens: readonly Token[], from: number): AwkAction[] {
  const target = tokens[from];
  if (target?.kind === 'string') return isStandard(target.text) ? [] : [written(target.text)];
  const paths = tokens.filter(
    ({ kind, text }, index) =>
      kind === 'string' && /^\/\w/.test(text) && !isStandard(text) && tokens[index - 1]?.text !== '<',
  );
  return [{ kind: 'write', text: '', whole: false }, ...paths.map(({ text }) => written(text))];
}

function written(text: string): AwkAction {
  return { kind: 'write', text, whole: true };
}

function isStandard(path: string): boolean {
  return /^\/dev\/(?:stderr|stdout|tty|null)$/.test(path);
}

/** Returns true for a loop without end that starts programs in the background. */
export function startsForever(program: string): boolean {
  return (
    endlessLoop.test(program) &&
    awkActions(program).some(({ kind, text }) => kind === 'run' && /&\s*$/.test(text))
  );
}

const endlessLoop =
  /\bwhile\s{0,9}\(\s{0,9}(?:[1-9]\d{0,9}|"[^"]{1,9}")\s{0,9}\)|\bfor\s{0,9}\([^;]{0,99};\s{0,9};/;

const pattern =
  /[ \t\r\f\v]*(?:(\n)|#[^\n]*|\\\r?\n|("(?:[^"\\\n]|\\[\s\S])*")|([A-Za-z_]\w*)|(\d[\w.]*|\.\d\w*)|(\|&|\|\||&&|>>|>=|<=|==|!=|!~|\+\+|--|[-+*%^]=|[!-.:-@[-^`{-~]|\/=?))/y;

function tokensOf(program: string): { tokens: Token[]; understood: boolean } {
  const tokens: Token[] = [];
  let depth = 0;
  let printing: number | undefined;
  let at = 0;
  while (at < program.length) {
    const before = tokens.at(-1);
    const found = regexAt(program, at, before) ?? read(program, at);
    if (found === undefined) return { tokens, understood: program.slice(at).trim() === '' };
    if (found.end > program.length) return { tokens, understood: false };
    at = found.end;
    if (found.kind === undefined) continue;
    if (found.text === ')' && found.kind === 'sign') depth--;
    if (endsStatement(found, before)) printing = undefined;
    tokens.push({ kind: found.kind, text: found.text, depth, printing });
    if (found.text === '(' && found.kind === 'sign') depth++;
    if (found.kind === 'name' && /^printf?$/.test(found.text)) printing = depth;
  }
  return { tokens, understood: true };
}

/** A statement ends with its line, unless the line ends with an operator that continues it. */
function endsStatement(found: Found, before: Token | undefined): boolean {
  if (found.kind === 'line') return before?.kind !== 'sign' || !/^(?:,|&&|\|\||\{)$/.test(before.text);
  return found.kind === 'sign' && /^[;}]$/.test(found.text);
}

interface Found {
  readonly kind: Token['kind'] | undefined;
  readonly text: string;
  readonly end: number;
}

function read(program: string, at: number): Found | undefined {
  pattern.lastIndex = at;
  const match = pattern.exec(program);
  if (match === null) return undefined;
  const end = pattern.lastIndex;
  const [, line, string, name, number, sign] = match;
  if (line !== undefined) return { kind: 'line', text: '', end };
  if (string !== undefined) return { kind: 'string', text: unquote(string), end };
  if (name !== undefined) return { kind: 'name', text: name, end };
  if (number !== undefined) return { kind: 'number', text: number, end };
  return { kind: sign === undefined ? undefined : 'sign', text: sign ?? '', end };
}

/**
 * A slash divides after a value, and starts a regular expression after an operator or a keyword. After `)`, `++`, `getline`
 * and a regular expression it may do both; then the rest of the program must be the same in both readings, so it is
 * understood only if no such slash follows.
 */
function regexAt(program: string, at: number, before: Token | undefined): Found | undefined {
  const start = /^[ \t]*\//.exec(program.slice(at, at + 64))?.[0].length;
  if (start === undefined || dividesAfter(before)) return undefined;
  const end = endOfRegex(program, at + start);
  if (end === undefined || isUnclear(before))
    return { kind: undefined, text: '', end: Number.POSITIVE_INFINITY };
  return { kind: 'regex', text: '', end };
}

function dividesAfter(before: Token | undefined): boolean {
  if (before === undefined) return false;
  if (before.kind === 'name') return !keyword.test(before.text) && before.text !== 'getline';
  return before.kind === 'number' || before.kind === 'string' || /^[\]$]$/.test(before.text);
}

const keyword = /^(?:print|printf|return|in|case|else|do|BEGIN|END)$/;

function isUnclear(before: Token | undefined): boolean {
  return (
    before?.kind === 'regex' || before?.text === 'getline' || /^(?:\)|\+\+|--)$/.test(before?.text ?? '')
  );
}

/** The end of a regular expression; in some awks a slash in brackets ends it, so such an expression is not understood. */
function endOfRegex(program: string, from: number): number | undefined {
  let inBrackets = false;
  for (let at = from; at < program.length; at++) {
    const character = program.charAt(at);
    if (character === '\n') return undefined;
    if (character === '\\') at++;
    else if (character === '/') return inBrackets ? undefined : at + 1;
    else if (character === '[' && !inBrackets) {
      inBrackets = true;
      if (program.charAt(at + 1) === '^') at++;
      if (program.charAt(at + 1) === ']') at++;
    } else if (character === '[' && /[:.=]/.test(program.charAt(at + 1))) {
      const close = program.indexOf(`${program.charAt(at + 1)}]`, at + 2);
      if (close > 0 && !program.slice(at, close).includes('/')) at = close + 1;
    } else if (character === ']') inBrackets = false;
  }
  return undefined;
}

function unquote(string: string): string {
  return string
    .slice(1, -1)
    .replace(/\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|([\s\S]))/g, (_, octal, hex, letter) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      return escapes[letter] ?? letter;
    });
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\n': '' };
