// Reads a sed script as GNU sed does (compile.c), and accepts nothing else: where versions of sed differ, for example in the
// end of a label, the text after the earliest possible end is read as commands.

/** An effect of a sed script: a command that it runs (empty if it runs the edited text) or a file that it writes. */
export interface SedAction {
  readonly kind: 'run' | 'write';
  readonly text: string;
}

/** A pattern or replacement of a sed script and the character that ends it. */
export interface DelimitedText {
  readonly from: number;
  readonly to: number;
  readonly delimiter: string;
}

/** The commands that a sed script runs, the files it writes, and its delimited texts; `undefined` if it does not parse. */
export function readSedScript(
  script: string,
): { readonly actions: readonly SedAction[]; readonly texts: readonly DelimitedText[] } | undefined {
  const reader = new SedReader(script);
  return reader.read() ? reader : undefined;
}

class SedReader {
  readonly actions: SedAction[] = [];
  readonly texts: DelimitedText[] = [];
  private at = 0;
  private blocks = 0;
  private readonly script: string;

  constructor(script: string) {
    this.script = script;
  }

  /** Parses all commands; false for a syntax error. */
  read(): boolean {
    while (true) {
      this.skip(/[\s;]/);
      if (this.at >= this.script.length) return this.blocks === 0;
      if (!this.addresses()) return false;
      this.skip(/[ \t]/);
      if (this.script.charAt(this.at) === '!') this.at++;
      this.skip(/[ \t]/);
      if (!this.command(this.script.charAt(this.at++))) return false;
    }
  }

  private skip(characters: RegExp): void {
    while (this.at < this.script.length && characters.test(this.script.charAt(this.at))) this.at++;
  }

  private addresses(): boolean {
    if (!this.address()) return false;
    const end = this.at;
    this.skip(/[ \t]/);
    if (this.script.charAt(this.at) !== ',') {
      this.at = end;
      return true;
    }
    this.at++;
    this.skip(/[ \t]/);
    if (/[+~]/.test(this.script.charAt(this.at))) this.at++;
    const before = this.at;
    return this.address() && this.at > before;
  }

  private address(): boolean {
    const character = this.script.charAt(this.at);
    if (character === '$') this.at++;
    else if (/\d/.test(character)) this.skip(/[\d~]/);
    else if (character === '/' || character === '\\') {
      this.at += character === '/' ? 1 : 2;
      if (!this.until(this.script.charAt(this.at - 1), true)) return false;
      this.skip(/[IM]/);
    }
    return true;
  }

  /** Skips past the next delimiter that is not escaped and, in a pattern, not inside brackets. */
  private until(delimiter: string, pattern: boolean): boolean {
    if (!/^[ -[\]-~]$/.test(delimiter)) return false;
    const from = this.at;
    for (; this.at < this.script.length; this.at++) {
      const character = this.script.charAt(this.at);
      if (character === '\n') return false;
      if (character === delimiter) {
        this.texts.push({ from, to: this.at, delimiter });
        return ++this.at > 0;
      }
      if (character === '\\') this.at++;
      else if (character === '[' && pattern && !this.brackets()) return false;
    }
    return false;
  }

  /** Moves to the `]` that closes a bracket expression; inside, `[:`, `[.` and `[=` end only with `:]`, `.]` and `=]`. */
  private brackets(): boolean {
    this.at++;
    if (this.script.charAt(this.at) === '^') this.at++;
    if (this.script.charAt(this.at) === ']') this.at++;
    let state: 'outside' | 'opened' | 'inside' | 'closing' = 'outside';
    let kind = '';
    for (; this.at < this.script.length; this.at++) {
      const character = this.script.charAt(this.at);
      if (character === '\n') return false;
      if (character === '[' && state === 'outside') state = 'opened';
      else if (/[.:=]/.test(character) && state === 'opened') {
        kind = character;
        state = 'inside';
      } else if (character === kind && state === 'inside') state = 'closing';
      else if (character === ']' && (state === 'outside' || state === 'opened')) return true;
      else if (character === ']' && state === 'closing') state = 'outside';
      else if (character !== '[')
        state = state === 'opened' ? 'outside' : state === 'closing' ? 'inside' : state;
    }
    return false;
  }

  private line(): string {
    const end = this.script.indexOf('\n', this.at);
    const text = this.script.slice(this.at, end < 0 ? undefined : end);
    this.at += text.length;
    return text.trim();
  }

  private command(letter: string): boolean {
    if (letter === '') return false;
    if (letter === '{') return ++this.blocks > 0;
    if (letter === '}') return --this.blocks >= 0 && this.ends();
    if (/[=dDFgGhHnNpPxz]/.test(letter)) return this.ends();
    if (/[lLqQ]/.test(letter)) return this.number();
    if (letter === '#' || letter === 'r' || letter === 'R') return this.line() !== undefined;
    if (/[aic]/.test(letter)) return this.text() !== undefined;
    if (/[btTv:]/.test(letter)) return this.label();
    if (letter === 'w' || letter === 'W') return this.note('write', this.line());
    if (letter === 'e') return this.execute();
    if (letter === 'y') return this.transliterate();
    return letter === 's' && this.substitute();
  }

  /** Requires the end of a command: the end of the line, `;`, `}` or a comment. */
  private ends(): boolean {
    this.skip(/[ \t\r]/);
    return /^[\n;}#]?$/.test(this.script.charAt(this.at));
  }

  private note(kind: SedAction['kind'], text: string): boolean {
    this.actions.push({ kind, text });
    return true;
  }

  private number(): boolean {
    this.skip(/[ \t]/);
    this.skip(/\d/);
    return this.ends();
  }

  private label(): boolean {
    this.skip(/[ \t]/);
    this.skip(/[^\s;}]/);
    return true;
  }

  /** The text of `e`; a backslash in it could mean several things, so such a command counts as unknown. */
  private execute(): boolean {
    this.skip(/[ \t]/);
    if (/^\n?$/.test(this.script.charAt(this.at))) return this.note('run', '');
    const text = this.text();
    return this.note('run', text === undefined || text.includes('\\') ? '' : text);
  }

  /** The text of `a`, `i` and `c` continues after a line that ends with a backslash. */
  private text(): string | undefined {
    this.skip(/[ \t]/);
    if (/^\n?$/.test(this.script.charAt(this.at))) return undefined;
    const from = this.at;
    for (; this.at < this.script.length && this.script.charAt(this.at) !== '\n'; this.at++)
      if (this.script.charAt(this.at) === '\\') this.at++;
    return this.script.slice(from, this.at);
  }

  private transliterate(): boolean {
    const delimiter = this.script.charAt(this.at++);
    return this.until(delimiter, false) && this.until(delimiter, false) && this.ends();
  }

  private substitute(): boolean {
    const delimiter = this.script.charAt(this.at++);
    if (!this.until(delimiter, true) || !this.until(delimiter, false)) return false;
    const from = this.at;
    // Sed skips blanks between flags.
    this.skip(/[gpiIemM\d \t]/);
    if (this.script.slice(from, this.at).includes('e')) this.note('run', '');
    if (this.script.charAt(this.at) === 'w') {
      this.at++;
      return this.note('write', this.line());
    }
    return this.ends();
  }
}
