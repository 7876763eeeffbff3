// Inline JavaScript: finds code that visibly starts programs, by its tokens rather than by its text, so that strings which
// only look like code are data. It cannot find code that hides what it calls; `nacre check` says so.

interface Token {
  readonly kind: 'name' | 'string' | 'template' | 'number' | 'regex' | 'sign';
  readonly text: string;
}

/** Returns true if JavaScript code imports a module that starts programs, evaluates text or calls computed names. */
export function startsPrograms(code: string): boolean {
  const tokens = tokensOf(code);
  return tokens === undefined || tokens.some((token, index) => isSpawning(tokens, index, token));
}

const modules =
  /^(?:node:)?(?:child_process|cluster|worker_threads|vm|module|inspector|repl|execa|shelljs|cross-spawn|node-pty|zx|bun)(?:\/|$)/;
const names =
  /^(?:eval|Function|createRequire|mainModule|binding|_linkedBinding|dlopen|_load|execve|Reflect|getBuiltinModule|__proto__|execSync|execFileSync|spawnSync)$/;
const roots = /^(?:globalThis|global|process|window|self|module|this|require)$/;

function isSpawning(tokens: readonly Token[], index: number, token: Token): boolean {
  const [before, next] = [tokens[index - 1], tokens[index + 1]];
  if (token.kind === 'template')
    return /\$\{/.test(token.text) ? startsPrograms(inner(token.text)) : isTagged(before);
  if (token.kind === 'string')
    return modules.test(token.text) || (isIndex(tokens, index) && isBadName(tokens, index));
  if (token.kind === 'name') return isBadName(tokens, index) || isBadLoad(tokens, index);
  if (token.text !== '[' || !isOperand(before)) return false;
  return isComputed(tokens, index, before, next);
}

/** The code in the substitutions of a template, which is judged like other code. */
function inner(template: string): string {
  return [...template.matchAll(/\$\{([^${}]*)\}/g)].map(([, code = '']) => code).join(';');
}

function isTagged(before: Token | undefined): boolean {
  return before?.kind === 'name' && before.text.endsWith('$');
}

function isIndex(tokens: readonly Token[], index: number): boolean {
  return tokens[index - 1]?.text === '[' && tokens[index + 1]?.text === ']' && isOperand(tokens[index - 2]);
}

function isBadName(tokens: readonly Token[], index: number): boolean {
  const { text } = tokens[index] ?? { text: '' };
  if (names.test(text)) return true;
  const object = tokens[index - 2]?.text ?? '';
  if (object === 'Deno') return /^(?:run|Command|dlopen)$/.test(text);
  if (object === 'Bun') return text.startsWith('spawn') || text === '$';
  const after = tokens[index + 1]?.text === ']' ? tokens[index + 2] : tokens[index + 1];
  return text === 'constructor' && /^[([`]$|^\?\.$/.test(after?.text ?? '')
    ? true
    : text === 'constructor' &&
        after?.text === '.' &&
        !/^(?:name|prototype)$/.test(tokens[index + 2]?.text ?? '');
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

function isOperand(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (token.kind === 'name') return !keywords.test(token.text);
  return token.kind !== 'sign' || /^[)\]}]$/.test(token.text);
}

const token =
  /\s+|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/|("(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*')|(`(?:[^`\\]|\\[\s\S])*`)|([\w$\u0080-\uffff]+)|(=>|\?\.|[!-.:-@[\]^{-~])/y;

/** Returns undefined for code that is not understood, for example a name with escapes. */
function tokensOf(code: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < code.length; ) {
    const slash = code.charAt(at) === '/' && !/^\/[/*]/.test(code.slice(at, at + 2));
    if (slash && isOperand(tokens.at(-1))) {
      tokens.push({ kind: 'sign', text: '/' });
      at++;
      continue;
    }
    const end = slash ? endOfRegex(code, at + 1) : undefined;
    if (slash && end === undefined) return undefined;
    if (end !== undefined) {
      tokens.push({ kind: 'regex', text: '' });
      at = end;
      continue;
    }
    token.lastIndex = at;
    const found = token.exec(code);
    if (found === null) return undefined;
    at = token.lastIndex;
    tokens.push(...toTokens(found));
  }
  return tokens;
}

function toTokens([, string, template, name, sign]: RegExpExecArray): Token[] {
  if (string !== undefined) return [{ kind: 'string', text: decodeString(string.slice(1, -1)) }];
  if (template !== undefined) return [{ kind: 'template', text: template }];
  if (name !== undefined) return [{ kind: /^\d/.test(name) ? 'number' : 'name', text: name }];
  return sign === undefined ? [] : [{ kind: 'sign', text: sign }];
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
