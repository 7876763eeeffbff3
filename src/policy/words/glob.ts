/** Returns true if a glob matches the whole text; `*` and `?` match any character, including `/` and leading dots. */
export function globMatches(pattern: string, text: string): boolean {
  const tokens = tokensOf(pattern);
  let token = 0;
  let star = -1;
  let resume = 0;
  let at = 0;
  while (at < text.length) {
    const current = tokens[token];
    if (current === '*') {
      star = token++;
      resume = at;
    } else if (current !== undefined && matchesOne(current, text.charAt(at))) {
      token++;
      at++;
    } else if (star >= 0) {
      token = star + 1;
      at = ++resume;
    } else return false;
  }
  while (tokens[token] === '*') token++;
  return token === tokens.length;
}

/** Returns true for a path component such as `*`, `.*` or `?*` that contains no literal name. */
export function globMatchesAnything(component: string): boolean {
  return (
    /[*?[]/.test(component.replace(/\\./g, 'x')) &&
    !/[\p{L}\p{N}_]/u.test(component.replace(/\[[^\][]*\]/g, ''))
  );
}

/** Escapes a text so that it matches itself in a pattern. */
export function escapeGlob(text: string): string {
  return text.replace(/[*?[\]\\]/g, '\\$&');
}

type Token = '*' | ((character: string) => boolean);

function matchesOne(token: Token, character: string): boolean {
  return token !== '*' && token(character);
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    const set = character === '[' ? bracketAt(pattern, at) : undefined;
    if (character === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*');
    } else if (character === '?') tokens.push(() => true);
    else if (set !== undefined) {
      tokens.push(bracket(set.slice(1, -1)));
      at += set.length - 1;
    } else {
      const literal = character === '\\' ? pattern.charAt(++at) : character;
      tokens.push((other) => other === literal);
    }
  }
  return tokens;
}

function bracketAt(pattern: string, at: number): string | undefined {
  // Without a closing bracket the pattern would scan the rest of the text at every opening one.
  if (pattern.indexOf(']', at + 1) < 0) return undefined;
  const match = /\[[!^]?\]?(?:\[[:.=][^\][]{0,40}[:.=]\]|[^\]])*\]/y;
  match.lastIndex = at;
  return match.exec(pattern)?.[0];
}

function bracket(body: string): (character: string) => boolean {
  const negated = body.startsWith('!') || body.startsWith('^');
  const set = negated ? body.slice(1) : body;
  // Classes such as `[:alpha:]` match every character: matching too much is safe here, matching too little is not.
  if (set.includes('[:')) return () => true;
  return (character) => inSet(set, character) !== negated;
}

function inSet(set: string, character: string): boolean {
  for (let at = 0; at < set.length; at++) {
    const from = set.charAt(at);
    if (set.charAt(at + 1) === '-' && at + 2 < set.length) {
      if (character >= from && character <= set.charAt(at + 2)) return true;
      at += 2;
    } else if (from === character) return true;
  }
  return false;
}
