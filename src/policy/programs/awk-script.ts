/** An effect of an awk program beyond printing. `whole` is false if only the beginning of a command is known. */
export interface AwkAction {
  readonly kind: 'run' | 'write' | 'refuse';
  readonly text: string;
  readonly whole: boolean;
}

/** Returns the commands that an awk program starts, the files it writes and the code it loads. */
export function awkActions(program: string): AwkAction[] {
  const tokens = tokensOf(program);
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
  if (token.kind === 'name' && token.text === 'system' && next?.text === '(')
    return [commandAt(tokens, index + 2, ')')];
  if (token.kind !== 'sign') return [];
  if (token.text === '@')
    return [{ kind: 'refuse', text: 'load code or call functions by name', whole: true }];
  if (token.text === '|' || token.text === '|&') {
    return [next?.text === 'getline' ? commandBefore(tokens, index) : commandAt(tokens, index + 1, '')];
  }
  const redirects =
    token.text === '>>' ||
    (token.text === '>' && token.printing !== undefined && token.depth <= token.printing);
  return redirects ? writeAt(tokens, index + 1) : [];
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

function writeAt(tokens: readonly Token[], from: number): AwkAction[] {
  const target = tokens[from];
  const text = target?.kind === 'string' ? target.text : '';
  return /^\/dev\/(?:stderr|stdout|tty|null)$/.test(text)
    ? []
    : [{ kind: 'write', text, whole: target?.kind === 'string' }];
}

const pattern =
  /\s*(?:(\n)|(#[^\n]*)|\\\n|("(?:[^"\\]|\\[\s\S])*"?)|([A-Za-z_]\w*)|(\d[\w.]*|\.\d+)|(\|&|\|\||&&|>>|>=|<=|==|!=|!~|\+\+|--|[-+*/%^]=|[\s\S]))/y;

function tokensOf(program: string): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  let printing: number | undefined;
  let at = 0;
  while (at < program.length) {
    const regex = regexAt(program, at, tokens.at(-1));
    const found = regex ?? read(program, at);
    at = found.end;
    if (found.kind === undefined) continue;
    if (found.text === ')' && found.kind === 'sign') depth--;
    if (found.kind === 'line' || (found.kind === 'sign' && /^[;}]$/.test(found.text))) printing = undefined;
    tokens.push({ kind: found.kind, text: found.text, depth, printing });
    if (found.text === '(' && found.kind === 'sign') depth++;
    if (found.kind === 'name' && /^printf?$/.test(found.text)) printing = depth;
  }
  return tokens;
}

interface Found {
  readonly kind: Token['kind'] | undefined;
  readonly text: string;
  readonly end: number;
}

function read(program: string, at: number): Found {
  pattern.lastIndex = at;
  const match = pattern.exec(program);
  const end = match === null ? program.length : pattern.lastIndex;
  const [, line, , string, name, number, sign] = match ?? [];
  if (line !== undefined) return { kind: 'line', text: '', end };
  if (string !== undefined) return { kind: 'string', text: unquote(string), end };
  if (name !== undefined) return { kind: 'name', text: name, end };
  if (number !== undefined) return { kind: 'number', text: number, end };
  return { kind: sign === undefined ? undefined : 'sign', text: sign ?? '', end };
}

/** A slash starts a regular expression unless a value precedes it; then it divides. */
function regexAt(program: string, at: number, before: Token | undefined): Found | undefined {
  const start = /^[ \t]*\//.exec(program.slice(at, at + 64))?.[0].length;
  const value =
    before !== undefined &&
    (['name', 'number', 'string', 'regex'].includes(before.kind) || /^[)\]$]$/.test(before.text));
  const keyword =
    before?.kind === 'name' && /^(?:print|printf|return|in|getline|case|else|do)$/.test(before.text);
  if (start === undefined || (value && !keyword)) return undefined;
  const match = /(?:[^/\\[\n]|\\.|\[\^?\]?(?:[^\]\\\n]|\\.)*\])*\//y;
  match.lastIndex = at + start;
  return match.exec(program) === null ? undefined : { kind: 'regex', text: '', end: match.lastIndex };
}

function unquote(string: string): string {
  const inner = string.replace(/^"|"$/g, '');
  return inner.replace(/\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|([\s\S]))/g, (_, octal, hex, letter) => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return letter === 'n' ? '\n' : letter === 't' ? '\t' : letter === '\n' ? '' : letter;
  });
}
