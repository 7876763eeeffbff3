/** An effect of a sed script: a command that it runs (empty if it runs the edited text) or a file that it writes. */
export interface SedAction {
  readonly kind: 'run' | 'write';
  readonly text: string;
}

/** Returns the commands that a sed script runs and the files it writes; `undefined` if it does not parse. */
export function sedActions(script: string): SedAction[] | undefined {
  const reader = new SedReader(script);
  return reader.read() ? reader.actions : undefined;
}

class SedReader {
  readonly actions: SedAction[] = [];
  private at = 0;
  private readonly script: string;

  constructor(script: string) {
    this.script = script;
  }

  /** Parses all commands; false for a syntax error. */
  read(): boolean {
    while (true) {
      this.skip(/[\s;}]/);
      if (this.at >= this.script.length) return true;
      if (!this.addresses()) return false;
      this.skip(/[\s!]/);
      if (!this.command(this.script.charAt(this.at++))) return false;
    }
  }

  private skip(characters: RegExp): void {
    while (this.at < this.script.length && characters.test(this.script.charAt(this.at))) this.at++;
  }

  private addresses(): boolean {
    if (!this.address()) return false;
    this.skip(/\s/);
    if (this.script.charAt(this.at) !== ',') return true;
    this.at++;
    this.skip(/[\s+~]/);
    return this.address();
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
    for (; this.at < this.script.length; this.at++) {
      const character = this.script.charAt(this.at);
      if (character === '\\') this.at++;
      else if (character === delimiter) return ++this.at > 0;
      else if (character === '[' && pattern) this.brackets();
    }
    return false;
  }

  private brackets(): void {
    const close = /^\[\^?\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]])*\]/.exec(this.script.slice(this.at));
    if (close !== null) this.at += close[0].length - 1;
  }

  private line(): string {
    const end = this.script.indexOf('\n', this.at);
    const text = this.script.slice(this.at, end < 0 ? undefined : end);
    this.at += text.length;
    return text.trim();
  }

  private command(letter: string): boolean {
    if (letter === '{' || /[=dDgGhHnNpPxzF]/.test(letter)) return true;
    if (/[lLqQ]/.test(letter)) return this.number();
    if (letter === '#' || /[rRv]/.test(letter)) return this.line() !== undefined;
    if (/[aic]/.test(letter)) return this.text();
    if (/[btT:]/.test(letter)) return this.label();
    if (letter === 'w' || letter === 'W') return this.note('write', this.line());
    if (letter === 'e') return this.note('run', this.line());
    if (letter === 'y') return this.transliterate();
    return letter === 's' && this.substitute();
  }

  private note(kind: SedAction['kind'], text: string): boolean {
    this.actions.push({ kind, text });
    return true;
  }

  private number(): boolean {
    this.skip(/[ \t\d]/);
    return true;
  }

  private label(): boolean {
    this.skip(/[^\n;}]/);
    return true;
  }

  /** The text of `a`, `i` and `c` continues after a line that ends with a backslash. */
  private text(): boolean {
    this.skip(/[ \t]/);
    let ended = false;
    while (!ended && this.at < this.script.length) {
      const character = this.script.charAt(this.at++);
      if (character === '\\') this.at++;
      ended = character === '\n';
    }
    return true;
  }

  private transliterate(): boolean {
    const delimiter = this.script.charAt(this.at++);
    return this.until(delimiter, false) && this.until(delimiter, false);
  }

  private substitute(): boolean {
    const delimiter = this.script.charAt(this.at++);
    if (delimiter === '' || !this.until(delimiter, true) || !this.until(delimiter, false)) return false;
    const flags = /^[gpiIemM\d]*/.exec(this.script.slice(this.at))?.[0] ?? '';
    this.at += flags.length;
    if (flags.includes('e')) this.note('run', '');
    if (this.script.charAt(this.at) === 'w') {
      this.at++;
      return this.note('write', this.line());
    }
    this.skip(/[ \t]/);
    return /^(?:[;}\n#]|$)/.test(this.script.slice(this.at, this.at + 1));
  }
}
