// Texts on which a backtracking matcher is slow if a pattern can match the same text in several ways: for every unbounded
// repetition of the pattern, the text before it once, the repeated text many times, and an end that does not match.

/** Part of a regular expression, as far as its repetitions matter. */
type Node =
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'either'; readonly choices: readonly Node[] }
  | { readonly kind: 'look'; readonly inner: Node }
  | { readonly kind: 'repeat'; readonly inner: Node; readonly min: number; readonly max: number };

/** Returns functions from a number of repetitions to a text that makes this pattern backtrack, if anything does. */
export function pumpedTexts({ source, flags }: RegExp): readonly ((count: number) => string)[] {
  const reader = new PatternReader(source);
  const texts: ((count: number) => string)[] = [];
  visit(reader.alternatives(), [''], flags.replace(/[gy]/g, ''), texts);
  return texts;
}

const ends = ['\0', '\nx'];

function visit(
  node: Node,
  before: readonly string[],
  flags: string,
  texts: ((count: number) => string)[],
): void {
  if (node.kind === 'sequence') {
    let prefixes = before;
    for (const part of node.parts) {
      visit(part, prefixes, flags, texts);
      prefixes = joined(prefixes, samples(part, flags));
    }
  } else if (node.kind === 'either') for (const choice of node.choices) visit(choice, before, flags, texts);
  else if (node.kind === 'look') visit(node.inner, before, flags, texts);
  else if (node.kind === 'repeat') {
    if (node.max > 200) texts.push(...pumped(before, samples(node.inner, flags)));
    visit(node.inner, before, flags, texts);
  }
}

function pumped(before: readonly string[], repeated: readonly string[]): ((count: number) => string)[] {
  const pumps = [...repeated, repeated.join('')].filter((pump) => pump !== '');
  return before.flatMap((prefix) =>
    pumps.flatMap((pump) => [
      ...ends.map((end) => (count: number) => prefix + pump.repeat(count) + end),
      ...(prefix === ''
        ? []
        : [(count: number) => (prefix + pump).repeat(count), (count: number) => prefix.repeat(count)]),
    ]),
  );
}

const maxSamples = 2;

function joined(left: readonly string[], right: readonly string[]): string[] {
  const length = Math.max(left.length, right.length);
  const pairs = Array.from(
    { length },
    (_, at) => (left[at] ?? left[0] ?? '') + (right[at] ?? right[0] ?? ''),
  );
  return [...new Set(pairs)].slice(0, maxSamples);
}

const candidates = [...'a0 A_-./="\'\\$([{)]},;:|&!#%@~^*+?<>`\t\n\r\0éf1x,w'];

/** Returns a few short texts that the node matches. */
function samples(node: Node, flags: string): readonly string[] {
  switch (node.kind) {
    case 'character':
      return charactersIn(node.source, flags);
    case 'sequence':
      return node.parts.reduce<readonly string[]>((texts, part) => joined(texts, samples(part, flags)), ['']);
    case 'either':
      return [...new Set(node.choices.flatMap((choice) => samples(choice, flags).slice(0, 1)))].slice(0, 6);
    case 'repeat': {
      const inner = samples(node.inner, flags);
      return node.min === 0 ? [inner[0] ?? '', ''] : inner.map((text) => text.repeat(Math.min(node.min, 8)));
    }
    default:
      return [''];
  }
}

const known = new Map<string, readonly string[]>();

function charactersIn(source: string, flags: string): readonly string[] {
  const key = `${flags} ${source}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const one = new RegExp(`^(?:${source})$`, flags);
  const literal = source.length === 1 ? [source] : [];
  const found = [...new Set([...literal, ...candidates])].filter((character) => one.test(character));
  const spread = found.length <= maxSamples ? found : [found[0], found.at(-1)];
  const texts = spread.filter((text) => text !== undefined);
  known.set(key, texts);
  return texts;
}

/** A reader for the syntax of regular expressions. */
class PatternReader {
  private at = 0;
  private readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  alternatives(): Node {
    const choices = [this.sequence()];
    while (this.source[this.at] === '|') {
      this.at++;
      choices.push(this.sequence());
    }
    return choices.length === 1 && choices[0] !== undefined ? choices[0] : { kind: 'either', choices };
  }

  private sequence(): Node {
    const parts: Node[] = [];
    while (this.at < this.source.length && !/[|)]/.test(this.source.charAt(this.at)))
      parts.push(this.repeated(this.atom()));
    return { kind: 'sequence', parts };
  }

  private repeated(inner: Node): Node {
    const [whole, sign, min, comma, max] =
      /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(this.source.slice(this.at, this.at + 16)) ?? [];
    if (whole === undefined) return inner;
    this.at += whole.length;
    if (sign !== undefined)
      return {
        kind: 'repeat',
        inner,
        min: sign === '+' ? 1 : 0,
        max: sign === '?' ? 1 : Number.POSITIVE_INFINITY,
      };
    const most = comma === '' ? Number(min) : max === '' ? Number.POSITIVE_INFINITY : Number(max);
    return { kind: 'repeat', inner, min: Number(min), max: most };
  }

  private atom(): Node {
    const character = this.source.charAt(this.at);
    if (character === '(') return this.group();
    if (character === '[') return this.take(this.classLength());
    if (character === '\\') return this.escape();
    if (character === '^' || character === '$') {
      this.at++;
      return { kind: 'empty' };
    }
    return this.take(1);
  }

  private take(length: number): Node {
    const source = this.source.slice(this.at, this.at + length);
    this.at += length;
    return { kind: 'character', source };
  }

  private escape(): Node {
    const [whole = ''] =
      /^\\(?:[bB]|[1-9]\d*|k<[^>]*>|p\{[^}]*\}|P\{[^}]*\}|x[0-9a-fA-F]{2}|u\{[^}]*\}|u[0-9a-fA-F]{4}|[\s\S])/.exec(
        this.source.slice(this.at, this.at + 40),
      ) ?? [];
    if (/^\\(?:[bB]$|[1-9]|k<)/.test(whole)) {
      this.at += whole.length;
      return { kind: 'empty' };
    }
    return this.take(whole.length);
  }

  private classLength(): number {
    let end = this.at + 1;
    while (end < this.source.length && this.source[end] !== ']') end += this.source[end] === '\\' ? 2 : 1;
    return end + 1 - this.at;
  }

  private group(): Node {
    const [whole = '(', kind = ''] =
      /^\((?:\?(<?[=!]|:|<[^>]*>))?/.exec(this.source.slice(this.at, this.at + 60)) ?? [];
    this.at += whole.length;
    const inner = this.alternatives();
    this.at++;
    return /[=!]$/.test(kind) ? { kind: 'look', inner } : inner;
  }
}
